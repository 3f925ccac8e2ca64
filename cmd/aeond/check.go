package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Args:  "--data DIR",
		Short: "read every row of a data directory and say what is damaged",
		Long: `
Check reads all rows in a data directory, compares each with its checksum and ownership with itself,
and says how many actors of each class, sub-events and timers there are, and which methods they wait to call: a new
version of the program must have these with the same types. It changes nothing; the program
must have ended, or been killed. The exit code is 1 if something is damaged.

	aeond check --data /var/lib/shop`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			return cli.NoArguments(func(env *cli.Env) error { return check(env, *dir) })
		},
	}
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Args:  "--data DIR | --at HOST:PORT [--json] [--watch]",
		Short: "say what is in a data directory, which process uses it, and how a cluster is",
		Long: `
Of a cluster status says how it is: its first line tells how many more nodes it survives; the
lines below why not more, and what to do. If it has several stores, a second table has their leaders, and how many
events are in doubt in each: prepared there, and not carried out. Any node can be asked, by the directory of one on this
machine, or at the address at which it listens. With --json it is written as JSON, and with
--watch again each second. The exit code is 0 if all is well, 1 if the cluster works and
something is missing, and 2 if it does not work.

Of a directory of one node status says whose it is, and either which process uses it, or how many actors of
each class, sub-events and timers are in it. It changes nothing, and does not read the fields of
actors: "aeond check" does.

	aeond status --data /var/lib/shop
	aeond status --at 127.0.0.1:8080 --watch`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			at := fs.String("at", "", "ask the node of a cluster that listens at `HOST:PORT`")
			asJSON := fs.Bool("json", false, "of a cluster: write JSON")
			watch := fs.Bool("watch", false, "of a cluster: write it again each second, until Ctrl-C")
			return cli.NoArguments(func(env *cli.Env) error {
				if *at != "" || *dir != "" && isNode(*dir) {
					return clusterStatus(env, *dir, *at, *asJSON, *watch)
				}
				if *asJSON || *watch {
					return cli.Usagef("--json and --watch are for a cluster; name a node with --at, or its directory with --data")
				}
				if first := filepath.Join(*dir, "node0"); isNode(first) {
					return fmt.Errorf("%s has the nodes of aeond dev; name the directory of one, as in --data %s", *dir, first)
				}
				return directoryStatus(env, *dir)
			})
		},
	}
}

// damageMax bounds how many damaged rows are shown.
const damageMax = 20

func check(env *cli.Env, dir string) error {
	db, err := openToLook(dir)
	if errors.Is(err, store.ErrCorrupt) {
		fmt.Fprintf(env.Stdout, "DAMAGED    %v\n", err)
		return cli.Code(cli.ExitProblem)
	}
	if err != nil {
		return err
	}
	s := newSurvey(env, db)
	err = store.Verify(db, s.row, s.damaged)
	if err == nil {
		err = s.schema()
	}
	if err == nil && len(s.damage) == 0 {
		err = s.ownership(db.Part())
	}
	if closed := db.Close(); err == nil {
		err = closed
	}
	id, rows := db.Identity(), fmt.Sprintf("rows       %d, %s\n", s.rows+len(s.damage), s.condition(err))
	if err == nil && len(s.damage) == 0 {
		s.write(env.Stdout, id)
		fmt.Fprint(env.Stdout, rows)
		return nil
	}
	// Damage comes first: it may explain what is odd in the rest.
	writeIdentity(env.Stdout, id)
	fmt.Fprint(env.Stdout, rows)
	s.writeDamage(env.Stdout, err)
	s.writeContent(env.Stdout)
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	return cli.Code(cli.ExitProblem)
}

// writeDamage says what is damaged, rows and then what an error says of all.
func (s *survey) writeDamage(w io.Writer, err error) {
	for _, d := range s.damage[:min(len(s.damage), damageMax)] {
		fmt.Fprintf(w, "DAMAGED    %s: %s\n", store.DescribeKey(d.Key), d.Reason)
	}
	if n := len(s.damage) - damageMax; n > 0 {
		fmt.Fprintf(w, "DAMAGED    %d more rows\n", n)
	}
	if errors.Is(err, store.ErrCorrupt) {
		fmt.Fprintf(w, "DAMAGED    %v\n", err)
	}
}

// condition says in words how the rows are.
func (s *survey) condition(err error) string {
	switch {
	case errors.Is(err, dominator.ErrRestore):
		return "which contradict each other"
	case err != nil:
		return "and then the engine could not read on"
	case len(s.damage) > 0:
		return fmt.Sprintf("%d of them damaged", len(s.damage))
	}
	return "all of them whole"
}

func directoryStatus(env *cli.Env, dir string) error {
	db, err := openToLook(dir)
	if inUse := new(pebbledb.InUseError); errors.As(err, &inUse) {
		return statusInUse(env, inUse)
	}
	if err != nil {
		return err
	}
	s := newSurvey(env, db)
	err = s.sections()
	if err == nil {
		err = s.schema()
	}
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err == nil && len(s.damage) > 0 {
		err = s.damage[0]
	}
	if err != nil {
		return store.In(dir, err)
	}
	s.write(env.Stdout, db.Identity())
	return nil
}

// statusInUse says what can be said of a directory that a process uses.
func statusInUse(env *cli.Env, inUse *pebbledb.InUseError) error {
	id, err := pebbledb.Identify(inUse.Dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "program    %s\nstore      %s\nin use     by process %d\n", id.Program, id.Store, inUse.PID)
	return nil
}

func openToLook(dir string) (*pebbledb.DB, error) {
	if dir == "" {
		return nil, cli.Usagef("name the directory with --data")
	}
	if isNode(dir) {
		return nil, fmt.Errorf("%s is the directory of a node of a cluster, which the node alone can read: start it to ask for `aeond status` or `aeond actors`, and with --snapshots to have it take snapshots", dir)
	}
	if err := notStores(dir); err != nil {
		return nil, err
	}
	db, err := pebbledb.OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		return nil, err
	}
	if err := store.RequireFormat(db, dir); err != nil && !errors.Is(err, store.ErrCorrupt) { // check looks for damage
		return nil, errors.Join(err, db.Close())
	}
	if err := store.RequireIdentity(db, db.Identity()); err != nil {
		return nil, errors.Join(store.In(dir, err), db.Close())
	}
	return db, nil
}

// notStores refuses a directory with the stores of a cluster. If one goes on with them, that is what is to be said.
func notStores(dir string) error {
	n, err := archive.Stores(dir)
	if err == nil && n > 0 {
		err = cmp.Or[error](archive.NotAdopted(dir), &archive.StoresError{Dir: dir, Stores: n})
	}
	return err
}

// notAdopted is archive.NotAdopted of a store, which may be one of several: they are adopted together.
func notAdopted(dir string) error {
	err := archive.NotAdopted(dir)
	if abs, bad := filepath.Abs(dir); err == nil && bad == nil && archive.IsStoreDir(filepath.Base(abs)) {
		err = archive.NotAdopted(filepath.Dir(abs))
	}
	return err
}

// write writes the identity, and says what is in the store.
func (s *survey) write(w io.Writer, id store.Identity) {
	writeIdentity(w, id)
	s.writeContent(w)
}

// writeIdentity names the store and its program. A cluster that has begun with what is there has the actors as they are now.
func writeIdentity(w io.Writer, id store.Identity) {
	fmt.Fprintf(w, "program    %s\nstore      %s\n", id.Program, id.Store)
	was := new(archive.AdoptedError)
	switch err := notAdopted(id.Place); {
	case errors.As(err, &was):
		fmt.Fprintf(w, "adopted    by the node in %s: the actors go on there, in cluster %.8s, and are here as they were then\n", was.Node, was.Cluster)
	case err != nil:
		fmt.Fprintf(w, "adopted    %v\n", err)
	}
}

func (s *survey) writeContent(w io.Writer) {
	for _, c := range s.classes() {
		fmt.Fprintf(w, "actors     %d %s\n", c.actors, c.name)
	}
	for _, section := range []struct {
		name string
		of   store.Section
	}{{"sub-events", store.Outbox}, {"tail calls", store.Continuations}, {"timers", store.Timers}, {"in doubt", store.InDoubt}} {
		if n := s.counts[section.of]; n > 0 {
			fmt.Fprintf(w, "%-10s %d\n", section.name, n)
		}
	}
	if n := s.counts[store.DeadLetters]; n > 0 {
		fmt.Fprintf(w, "dead       %s\n", cli.Count(n, "letter"))
	}
	for _, m := range s.methods {
		if of := s.waiting[m.Number]; of != nil {
			fmt.Fprintf(w, "waiting    %d %v\n", of.n, m)
		}
	}
	for _, field := range s.kept {
		fmt.Fprintf(w, "kept       %v, a field that the last version did not have\n", field)
	}
}
