package main

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// needsNoProgram returns an error if a class has a snapshot block: only the program can run its code.
func needsNoProgram(from store.Reader) error {
	schema, err := store.ReadSchema(from)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range schema.Classes() {
		if c.Overrides {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("what snapshots contain of %s is said by the program, in a snapshot block; name the program with --app, an executable or sources", strings.Join(names, ", "))
}

// snapshotByProgram has the program take a snapshot of its directory, of everything if root is null.
func snapshotByProgram(env *cli.Env, app, dir, to string, root event.ActorID) error {
	path, err := executable(env, app, cli.Making{})
	if err != nil {
		return err
	}
	what := "all"
	if !root.IsNull() {
		what = root.String()
	}
	return env.Start(path, "--data", dir, "--snapshots", to, "--snapshot-once", what)
}
