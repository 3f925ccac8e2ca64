package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/runtime/settings"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:     "run",
		Args:     "[-q] [--data DIR] [--listen ADDRESS [--grpc]] [--spans PLACE] [--trace FILE] [PROGRAM] [arguments]",
		Short:    "compile and run a program",
		Trailing: true,
		Long: `
Run compiles a program and runs it: the package in a directory, or the named .aeon
files. Without PROGRAM it runs the package in the current directory. What follows
belongs to the program. An executable made by "aeonc build" can be run, too.

The program ends when its main function has returned and no event, sub-event or
one-shot timer is left. Its exit code is passed on: 1 if main failed. Ctrl-C ends it
at once, with exit code 130: events that still run are undone. A second Ctrl-C kills it.
The program takes the place of aeonc: a signal that ends the process ends the program.

Compiled programs are cached; nothing is written beside the sources, and neither a
go.mod nor the network is needed.

With --data the program keeps its state in a directory. When it is run again, killed or
not, its actors, sub-events and timers go on from there; main runs again, too. Such a
program is compiled with the store, which takes a minute the first time on a machine and
Go modules that "go install" of aeonc has fetched.

With --listen the methods of its actors can be called by HTTP (docs/http.md); when main has
returned the program goes on listening. With --static DIR it also serves the files in DIR, for
a page that calls these methods. With --grpc it takes calls by gRPC there, too (docs/grpc.md).

With --spans what events do and wait for goes to a collector of OpenTelemetry, or to a file
(docs/spans.md).

	aeonc run
	aeonc run examples/steakhouse
	aeonc run -q bank.aeon > balances.txt
	aeonc run --data ./data bank.aeon
	aeonc run --data ./data --durability relaxed=10ms bank.aeon
	aeonc run --listen :8080 bank.aeon
	aeonc run --listen :8080 --grpc bank.aeon
	aeonc run --spans http://localhost:4318 bank.aeon
	aeonc run --trace bank.jsonl bank.aeon   records every event, for aeonc trace`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			quiet := fs.Bool("q", false, "say nothing but what the program says")
			var trace traceFlags
			trace.flags(fs)
			var state settings.State
			state.Flags(fs)
			var listen settings.Listen
			listen.Flags(fs)
			grpc := fs.Bool("grpc", false, "with --listen, take calls by gRPC, too")
			var spans settings.Spans
			spans.Flags(fs)
			return func(env *cli.Env, args []string) error {
				if err := trace.check(); err != nil {
					return err
				}
				if err := state.Check(); err != nil {
					return cli.Usagef("%v", err)
				}
				if err := listen.Check(); err != nil {
					return cli.Usagef("%v", err)
				}
				if err := spans.Check(); err != nil {
					return cli.Usagef("%v", err)
				}
				return runProgram(env, args, *quiet, *grpc, slices.Concat(trace.arguments(), state.Arguments(), listen.Arguments(), spans.Arguments()))
			}
		},
	}
}

func runProgram(env *cli.Env, args []string, quiet, grpc bool, flags []string) error {
	if quiet {
		env.Quiet()
	}
	sources, rest := splitProgram(args)
	rest = append(flags, rest...)
	if grpc && !slices.ContainsFunc(rest, isListen) {
		return cli.Usagef("--grpc needs --listen, which says where calls are taken")
	}
	path, err := env.Executable(sources, cli.Making{Load: env.LoadProgram, Store: grpc || settings.Among(rest), GRPC: grpc})
	if err != nil {
		return err
	}
	if !quiet {
		rest = append([]string{"--summary"}, rest...)
	}
	return env.Start(path, rest...)
}

// isListen reports whether an argument is the flag by which a program listens.
func isListen(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "--listen" || name == "-listen"
}

// splitProgram separates what names the program from what belongs to it: one
// argument, or as many as are .aeon files.
func splitProgram(args []string) (sources, rest []string) {
	n := 0
	for n < len(args) && filepath.Ext(args[n]) == load.Extension {
		n++
	}
	if n == 0 && len(args) > 0 {
		n = 1
	}
	return args[:n], args[n:]
}
