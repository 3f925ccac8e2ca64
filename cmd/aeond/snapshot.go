package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/fault"
	"github.com/aeon-lang/aeon/runtime/node"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

func snapshotCommand() *cli.Command {
	return &cli.Command{
		Name:  "snapshot",
		Args:  "--data DIR --to PLACE [--actor ACTOR] [--app PROGRAM]",
		Short: "copy what is in a data directory to a directory or a bucket",
		Long: `
Snapshot copies everything in a data directory, or an actor with all that it owns, to a
directory or to a bucket: s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION, with
credentials from the environment as the tools of AWS have them. What is there already is not
sent again. The program must have ended; one that runs takes its snapshots itself, with
--snapshots and --snapshot-actor, while events go on, and so does a cluster.

ACTOR is CLASS/NAME, or CLASS:ID as a trace shows an actor without a name.

	aeond snapshot --data /var/lib/shop --to /backup/shop
	aeond snapshot --data /var/lib/shop --to s3://backups/shop --actor Shop/main
	aeond snapshot --app ./shop --data /var/lib/shop --to /backup/shop

The program has to be named if one of its classes says itself what snapshots contain of its actors, with a
snapshot block. Only the blocks are run.

"aeond snapshots" lists them, "aeond restore" brings them back.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			to := fs.String("to", "", "where the snapshot goes, a `PLACE`")
			actor := fs.String("actor", "", "only this `ACTOR` and what it owns")
			app := fs.String("app", "", "the `PROGRAM` whose data it is, an executable or sources")
			return cli.NoArguments(func(env *cli.Env) error {
				if err := cmdline.NotEmpty(fs, "actor", "app"); err != nil {
					return cli.Usagef("%v", err)
				}
				return takeSnapshot(env, *dir, *to, *actor, *app)
			})
		},
	}
}

func snapshotsCommand() *cli.Command {
	return &cli.Command{
		Name:  "snapshots",
		Args:  "--from PLACE [--verify]",
		Short: "list the snapshots in a directory or a bucket",
		Long: `
Snapshots lists what is in a place that snapshots have gone to, the oldest first: of a cluster those of all
its nodes, and the parts of several stores together. With --verify all
of it is read and checked. The exit code is 1 if something is damaged, or cannot be read, which is in the way of nothing else
there, or if all snapshots of a cluster are INCOMPLETE: none of these can be restored.

	aeond snapshots --from /backup/shop --verify`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			from := fs.String("from", "", "where the snapshots are, a `PLACE`")
			verify := fs.Bool("verify", false, "read and check them")
			return cli.NoArguments(func(env *cli.Env) error { return listSnapshots(env, *from, *verify) })
		},
	}
}

func restoreCommand() *cli.Command {
	return &cli.Command{
		Name:  "restore",
		Args:  "--from PLACE --data DIR [--actor ACTOR] [--snapshot NAME]",
		Short: "bring a snapshot back",
		Long: `
Restore makes a data directory of a snapshot: of the newest of everything, or, with --actor, of
the newest of that actor, or of the one that is named. DIR must be new or empty; it may be a mount point,
or a link. PLACE may be that of all nodes of a cluster. If it has snapshots of several directories, the one that is meant is to be named.
Of a cluster of several stores DIR gets a directory for each; a new cluster begins with them, by
"aeond start --adopt DIR".

A snapshot of an actor can also be brought back into the directory that it was taken of, where the actor
is replaced, with all that it owns, and everything else stays; the program must have ended. It is
refused if something that would be replaced has got other owners.

ACTOR is what "aeond snapshot --actor" takes and "aeond snapshots" lists.

	aeond restore --from /backup/shop --data /var/lib/shop2
	aeond restore --from /backup/shop --data /var/lib/shop --actor Shop/main`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			from := fs.String("from", "", "where the snapshots are, a `PLACE`")
			dir := fs.String("data", "", "the data directory `DIR`")
			var w snapshot.Wanted
			fs.StringVar(&w.Name, "snapshot", "", "its `NAME`, as \"aeond snapshots\" lists it")
			fs.StringVar(&w.Actor, "actor", "", "the newest snapshot of this `ACTOR`")
			return cli.NoArguments(func(env *cli.Env) error {
				if err := cmdline.NotEmpty(fs, "snapshot", "actor"); err != nil {
					return cli.Usagef("%v", err)
				}
				return restore(env, *from, *dir, w)
			})
		},
	}
}

func openPlace(flagName, address string) (snapshot.Target, error) {
	if address == "" {
		return nil, cli.Usagef("name the place with --%s: a directory, or s3://BUCKET/PREFIX", flagName)
	}
	return node.OpenTarget(context.Background(), address)
}

func takeSnapshot(env *cli.Env, dir, to, actor, app string) error {
	place, err := openPlace("to", to)
	if err != nil {
		return err
	}
	db, err := openToLook(dir)
	if inUse := new(pebbledb.InUseError); errors.As(err, &inUse) {
		return fmt.Errorf("%w\n\ta program that runs takes snapshots itself: start it with --snapshots %s", err, to)
	}
	if err != nil {
		return err
	}
	if db.Part() { // nothing could be made of it alone
		return errors.Join(&pebbledb.PartError{Dir: dir}, db.Close())
	}
	if settings.Within(to, dir) {
		return errors.Join(cli.Usagef("--to: %s is in the data directory %s, and would be lost with it; name another place", to, dir), db.Close())
	}
	root, err := rootOf(db, actor)
	if err == nil && app == "" {
		err = copyStopped(env, db, place, root)
	}
	if err = errors.Join(store.In(dir, err), db.Close()); err != nil || app == "" {
		return err
	}
	return snapshotByProgram(env, app, dir, to, root)
}

// copyStopped takes a snapshot without the program.
func copyStopped(env *cli.Env, db *pebbledb.DB, place snapshot.Target, root event.ActorID) error {
	if err := needsNoProgram(db); err != nil {
		return err
	}
	s := archive.Stopped{View: db, Identity: db.Identity()}
	saved, err := s.Snapshot(context.Background(), place, root)
	if err != nil {
		return fmt.Errorf("no snapshot was taken: %w", err)
	}
	_, bytes := saved.Size()
	fmt.Fprintf(env.Stdout, "%s: %d bytes, %d of them new\n", saved.Name, bytes, saved.NewBytes)
	return nil
}

// rootOf finds the actor that is named; none is that of everything.
func rootOf(db *pebbledb.DB, actor string) (id event.ActorID, err error) {
	if actor == "" {
		return id, nil
	}
	name, err := archive.ParseActorName(db.Identity().Program, actor)
	if err != nil {
		return id, cli.Usagef("--actor: %v", err)
	}
	id, err = name.Find(db)
	other, none := new(archive.OtherActorError), new(archive.NoClassError)
	if errors.As(err, &other) || errors.As(err, &none) {
		err = cli.Usagef("--actor: %v", err)
	}
	return id, err
}

func listSnapshots(env *cli.Env, from string, verify bool) error {
	place, err := openPlace("from", from)
	if err != nil {
		return err
	}
	list, bad, err := snapshot.All(context.Background(), place)
	if err != nil {
		return err
	}
	if len(list)+len(bad) == 0 {
		return &snapshot.NotFoundError{Target: place.String()}
	}
	wrong, good := len(bad) > 0, []*snapshot.Found{}
	for _, f := range list {
		rows, bytes := f.Size()
		what := f.Of()
		if m := &f.Parts[0]; m.Kind == snapshot.Actor {
			what += ", " + cli.Count(m.Actors, "actor")
		}
		fmt.Fprintf(env.Stdout, "%s  %s  %d rows  %d bytes  %s", f.Name, f.Parts[0].Program, rows, bytes, what)
		is := isWhole
		if verify {
			if is, err = verifySnapshot(env, f); err != nil {
				return err
			}
		}
		wrong = wrong || is == isDamaged
		if is == isWhole && len(f.Missing) == 0 {
			good = append(good, f)
		}
		fmt.Fprintln(env.Stdout)
	}
	for _, b := range bad {
		writeDamage(env, b)
	}
	for _, f := range slices.Backward(list) {
		if len(f.Missing) > 0 && !slices.ContainsFunc(good, f.SameCluster) {
			fmt.Fprintf(env.Stdout, "no snapshot of the cluster of %s is whole, and none can be restored: the logs of its nodes say why the parts are missing\n", f.Name)
			good, wrong = append(good, f), true // of a cluster it is said once
		}
	}
	if wrong {
		return cli.Code(cli.ExitProblem)
	}
	return nil
}

// writeDamage says what is wrong with a manifest, or that a directory cannot be read.
func writeDamage(env *cli.Env, b *snapshot.DamageError) {
	switch {
	case b.Snapshot() == "":
		fmt.Fprintf(env.Stdout, "UNREAD %s: %s; the snapshots there are not listed: give this process the right to read it\n", b.Name, b.Reason)
	case b.Trouble == snapshot.Unread:
		fmt.Fprintf(env.Stdout, "%s  UNREAD %s: %s; the others can be restored, and new ones taken: make this file readable, or delete it\n", b.Snapshot(), b.Name, b.Reason)
	default:
		fmt.Fprintf(env.Stdout, "%s  DAMAGED %s: %s; the others can be restored, and new ones taken: bring this file back, or delete it\n", b.Snapshot(), b.Name, b.Reason)
	}
}

// condition is how a snapshot is.
type condition uint8

const (
	isWhole condition = iota
	isDamaged
	wasDeleted // while it was read
)

// verifySnapshot reads all that is there of a snapshot, and writes how it is.
func verifySnapshot(env *cli.Env, f *snapshot.Found) (condition, error) {
	for i := range f.Parts {
		p := &f.Parts[i]
		env.Doing("reading %s", p.Name)
		err := snapshot.Verify(context.Background(), p.Place, &p.Manifest)
		bad, dir := new(snapshot.DamageError), new(snapshot.DirError)
		switch {
		case errors.As(err, &bad) && bad.Trouble == snapshot.Deleted:
			fmt.Fprint(env.Stdout, "  was deleted meanwhile")
			return wasDeleted, nil
		case errors.As(err, &bad):
			fmt.Fprintf(env.Stdout, "  DAMAGED %s: %s", bad.Name, bad.Reason)
			return isDamaged, nil
		case errors.As(err, &dir) && dir.Kind == fault.Disk:
			fmt.Fprintf(env.Stdout, "  DAMAGED %v", dir.Cause)
			return isDamaged, nil
		case errors.As(err, &dir) && dir.Kind == fault.Access:
			fmt.Fprintf(env.Stdout, "  UNREAD %v", dir.Cause)
			return isDamaged, nil
		case err != nil:
			return isDamaged, err
		}
	}
	if len(f.Missing) == 0 {
		fmt.Fprint(env.Stdout, "  whole")
	}
	return isWhole, nil
}

func restore(env *cli.Env, from, dir string, w snapshot.Wanted) error {
	place, err := openPlace("from", from)
	if err != nil {
		return err
	}
	if dir == "" {
		return cli.Usagef("name the directory with --data")
	}
	if id, err := pebbledb.Identify(dir); err == nil { // an actor goes back where it was taken
		w.Store = id.Store
	}
	found, err := snapshot.Find(context.Background(), place, w)
	if several := new(snapshot.AmbiguousError); errors.As(err, &several) {
		return fmt.Errorf("%w\n\tname one with --snapshot", err)
	}
	if bad := new(snapshot.DamageError); errors.As(err, &bad) {
		return fmt.Errorf("%w\n\tname another one with --snapshot: %s", err, sayWhole(from))
	}
	if none := new(snapshot.NotFoundError); errors.As(err, &none) && len(none.Have) > 0 {
		return fmt.Errorf("%w\n\t`aeond snapshots --from %s` lists them", err, cli.Word(from))
	}
	if err != nil {
		return err
	}
	err = restoreFound(env, found, dir)
	if bad := new(snapshot.DamageError); errors.As(err, &bad) {
		return fmt.Errorf("%s is not restored: %w\n\tname another one with --snapshot: %s", found.Name, err, sayWhole(from))
	}
	return err
}

// sayWhole says how to find the snapshots that are whole in a place, as the user has named it.
func sayWhole(from string) string {
	return fmt.Sprintf("`aeond snapshots --from %s --verify` says which are whole", cli.Word(from))
}

// restoreFound brings a snapshot back.
func restoreFound(env *cli.Env, found *snapshot.Found, dir string) error {
	empty, err := vacate(env, dir)
	switch m := &found.Parts[0]; {
	case err != nil:
		return err
	case empty && found.Set() != nil:
		return restoreStores(env, found, dir)
	case empty:
		return restoreNew(env, &m.Manifest, dir, rowsOf(env, m))
	case m.Kind == snapshot.Actor:
		return full(dir, restoreActor(env, &m.Manifest, dir, rowsOf(env, m)))
	}
	return fmt.Errorf("%s is not empty; a snapshot of everything is restored to a new directory", dir)
}

// rowsOf returns the rows of a snapshot, and tells how many of them were read.
func rowsOf(env *cli.Env, m *snapshot.Part) archive.RowSource {
	all, _ := m.Size()
	return archive.RowSource(func(f func(key, row []byte) error) error {
		read := 0
		return snapshot.Read(context.Background(), m.Place, &m.Manifest, func(key, row []byte) error {
			if read++; read%rowsTold == 0 {
				env.Doing("%d of %d rows of %s restored", read, all, m.Of())
			}
			return f(key, row)
		})
	}).Upgraded()
}

// vacate removes what a command that was killed has left of a directory, and reports whether the directory is empty, or not there.
func vacate(env *cli.Env, dir string) (empty bool, err error) {
	removed, err := pebbledb.Vacate(dir)
	if err == nil && !removed {
		removed, err = pebbledb.VacateParts(dir, archive.IsStoreDir)
	}
	if removed {
		env.Say("removed what a restore or an upgrade that was killed has left in %s", dir)
	}
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != pebbledb.LostAndFound }), err
}

// full says what to do if err is that the disk of a directory is full.
func full(dir string, err error) error {
	if none := new(pebbledb.NoSpaceError); errors.As(err, &none) {
		return fmt.Errorf("the disk of %s is full: %w; free space on it, or name another directory, and try again", dir, none.Cause)
	}
	return err
}

// makeOf makes the directory of a store of rows, and returns its path. The store has a number in its cluster if it is part of one.
func makeOf(rows archive.RowSource, dir, program string, part bool, number event.StoreID) (path string, id store.Identity, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", id, err
	}
	err = pebbledb.Make(path, store.EngineOptions{Program: program, Part: part}, func(e *pebbledb.DB) error {
		id = e.Identity()
		return archive.Restore(e, id, number, rows)
	})
	return path, id, full(dir, err)
}

// restoreNew makes a directory of a snapshot.
func restoreNew(env *cli.Env, m *snapshot.Manifest, dir string, rows archive.RowSource) error {
	dir, id, err := makeOf(rows, dir, m.Program, false, 0)
	if err != nil {
		return err
	}
	n, _ := m.Size()
	fmt.Fprintf(env.Stdout, "%s: %d rows of %s, a new store %s\n", dir, n, m.Name, id.Store)
	return nil
}

// restoreStores makes a directory with one for each store of a cluster. Its lock is held, as one that is restored is in no use yet, and looks as if it
// was left by a process that was killed.
func restoreStores(env *cli.Env, f *snapshot.Found, dir string) (err error) {
	lock, err := pebbledb.Lock(dir)
	if err != nil {
		return full(dir, err)
	}
	defer func() {
		err = errors.Join(err, lock.Close())
		if err != nil {
			_, _ = pebbledb.VacateParts(dir, archive.IsStoreDir) // the error that counts is the first
		}
	}()
	for i := range f.Parts {
		m := &f.Parts[i]
		if _, _, err := makeOf(rowsOf(env, m), archive.StoreDir(dir, i), m.Program, true, event.StoreID(i)); err != nil {
			return err
		}
	}
	name, text := archive.StoresFile(len(f.Parts), f.Name)
	if err := pebbledb.FinishParts(dir, name, text); err != nil {
		return full(dir, err)
	}
	n, _ := f.Size()
	fmt.Fprintf(env.Stdout, "%s: %d rows of %s, in %d stores: a new cluster begins with them by --adopt %[1]s\n", dir, n, f.Name, len(f.Parts))
	return nil
}

// restoreActor brings an actor back where its snapshot was taken.
func restoreActor(env *cli.Env, m *snapshot.Manifest, dir string, rows archive.RowSource) (err error) {
	root, err := event.ParseActorID(m.Root)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	e, err := openToChange(dir, m.Program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if id := e.(store.Identified).Identity().Store; id != m.Store {
		return fmt.Errorf("%s is of store %s, and %s holds store %s; restore it to a new directory", m.Name, m.Store, dir, id)
	}
	n, err := archive.RestoreActor(e, root, rows)
	if err != nil {
		return err
	}
	if err := e.Sync(); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s: %s is as it was in %s, %s\n", dir, m.Actor, m.Name, cli.Count(n, "actor"))
	return nil
}
