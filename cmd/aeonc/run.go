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
		Args:     "[-q] [--nodes N [--faults N]] [--seed N] [--data DIR] [--listen ADDRESS [--grpc]] [--spans PLACE] [--trace FILE] [PROGRAM] [arguments]",
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

With --nodes N the program runs on a cluster of N nodes that is simulated in its process: each
new actor is on a node that the seed draws, what nodes tell each other arrives in an order that
it draws, and one step runs at a time. What the program prints is what it prints on one node,
wherever its code fixes that. --seed with the seed that is told at the beginning repeats a run
exactly. Time is simulated: a sleep takes none, and time begins with 2026. Nothing is kept, no
calls are taken, and Go functions that have an effect are not called: the seed draws how they end.
With --faults N up to N times a node crashes, loses what was not durable and starts again, or the
connection between two breaks, at moments that the seed draws, until main and all that it has issued
has ended. Events that have committed are there afterwards, and no event happens twice. What actors of
that node had printed and was not out yet is lost, as in a real cluster. The node of main does not crash.
If main awaits a chain of tail calls, and a connection of its node is lost meanwhile, main fails, as the outcome
of the chain is unknown to it; try does not catch that, and the chain goes on (docs/cluster.md).

Without --nodes, --seed is a number that goes into every random().

	aeonc run
	aeonc run examples/steakhouse
	aeonc run --nodes 3 examples/bank
	aeonc run --nodes 3 --seed 7 examples/bank    again, as it ran with seed 7
	aeonc run --nodes 3 --faults 5 examples/bank
	aeonc run -q bank.aeon > balances.txt
	aeonc run --data ./data bank.aeon
	aeonc run --data ./data --durability relaxed=10ms bank.aeon
	aeonc run --listen :8080 bank.aeon
	aeonc run --listen :8080 --grpc bank.aeon
	aeonc run --spans http://localhost:4318 bank.aeon
	aeonc run --trace bank.jsonl bank.aeon   records every event, for aeonc trace`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			quiet := fs.Bool("q", false, "say nothing but what the program says")
			var nodes settings.Nodes
			nodes.Flags(fs)
			nodes.FaultFlag(fs)
			seed := fs.String("seed", "", "a `number` that goes into every random(), and chooses the order of a run with --nodes (default there: random)")
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
				flags := slices.Concat(trace.arguments(), state.Arguments(), listen.Arguments(), spans.Arguments())
				if *seed != "" {
					if err := checkSeed(*seed); err != nil {
						return err
					}
					flags = append(flags, "--seed", *seed)
				}
				return runProgram(env, args, running{quiet: *quiet, grpc: *grpc, nodes: nodes, flags: flags})
			}
		},
	}
}

// running says how a program is run.
type running struct {
	quiet bool
	grpc  bool
	nodes settings.Nodes
	flags []string // that are passed on to the program
}

func runProgram(env *cli.Env, args []string, r running) error {
	if r.quiet {
		env.Quiet()
	}
	sources, rest := splitProgram(args)
	rest = append(r.flags, rest...)
	if r.nodes.Several() && r.grpc {
		rest = append(rest, "--grpc") // to be refused
	}
	if err := r.nodes.Check(rest); err != nil {
		return cli.Usagef("%v", err)
	}
	if r.grpc && !slices.ContainsFunc(rest, isListen) {
		return cli.Usagef("--grpc needs --listen, which says where calls are taken")
	}
	path, err := env.Executable(sources, cli.Making{Load: env.LoadProgram, Store: r.grpc || settings.Among(rest), GRPC: r.grpc, Nodes: r.nodes.Several()})
	if err != nil {
		return err
	}
	rest = append(r.nodes.Arguments(), rest...)
	if !r.quiet {
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
