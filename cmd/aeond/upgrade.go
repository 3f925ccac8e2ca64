package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

func upgradeCommand() *cli.Command {
	return &cli.Command{
		Name:  "upgrade",
		Args:  "--data DIR --to NEW",
		Short: "copy the data directory of the version before into one of this version",
		Long: `
Upgrade copies what is in the data directory of a program that was built by the version of aeon before,
whose rows have another format, into the directory NEW, which must be new or empty: actors, sub-events,
timers, sessions, and the outcomes of requests. DIR stays as it is, so that the program as it was can go on
with it. The program must have ended. NEW is a store of its own: snapshots of it begin anew.

Snapshots need no upgrade: "aeond restore" brings back those of the version before, too.

	aeond upgrade --data /var/lib/shop --to /var/lib/shop2`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			to := fs.String("to", "", "the directory `NEW` that is made")
			return cli.NoArguments(func(env *cli.Env) error { return upgrade(env, *dir, *to) })
		},
	}
}

func upgrade(env *cli.Env, dir, to string) (err error) {
	switch {
	case dir == "":
		return cli.Usagef("name the directory with --data")
	case to == "":
		return cli.Usagef("name the new directory with --to")
	case settings.Within(to, dir):
		return cli.Usagef("--to: %s is in the data directory %s; name another place", to, dir)
	}
	if isNode(dir) {
		return fmt.Errorf("%s is the directory of a node of a cluster, which cannot be upgraded: run the nodes as built by the version before", dir)
	}
	old, err := pebbledb.OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	err = store.RequireFormat(old, dir)
	if err == nil {
		return fmt.Errorf("%s has the format of this version: it needs no upgrade", dir)
	}
	if older := new(store.OlderFormatError); !errors.As(err, &older) || older.Found != store.UpgradableFormat {
		return err
	}
	switch empty, err := vacate(env, to); {
	case err != nil:
		return err
	case !empty:
		return fmt.Errorf("%s is not empty; name a new directory with --to", to)
	}
	copied := 0
	rows := archive.RowsOf(old, func(rows int) {
		if copied = rows; copied%rowsTold == 0 {
			env.Doing("%d rows copied", copied)
		}
	})
	to, id, err := makeOf(rows.Upgraded(), to, old.Identity().Program, false, 0)
	if err != nil {
		return store.In(dir, err)
	}
	fmt.Fprintf(env.Stdout, "%s: %d rows of %s, a new store %s\n", to, copied, dir, id.Store)
	return nil
}
