package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/aeon-lang/aeon/compiler"
	"github.com/aeon-lang/aeon/process"
	"github.com/aeon-lang/aeon/program"
	"github.com/aeon-lang/aeon/runtime/settings"
)

func runCommand() *command {
	return &command{
		name:     "run",
		args:     "[-q] [--data DIR] [--trace FILE] [PROGRAM] [arguments]",
		short:    "compile and run a program",
		trailing: true,
		long: `
Run compiles a program and runs it: the package in a directory, or the named .aeon
files. Without PROGRAM it runs the package in the current directory. What follows
belongs to the program. An executable made by "aeonc build" can be run, too.

The program ends when its main function has returned and no event, sub-event or
one-shot timer is left. Its exit code is passed on: 1 if main failed. Ctrl-C ends it
at once, with exit code 130: events that still run are undone. A second Ctrl-C kills it.

Compiled programs are cached; nothing is written beside the sources, and neither a
go.mod nor the network is needed.

With --data the program keeps its state in a directory. When it is run again, killed or
not, its actors, sub-events and timers go on from there; main runs again, too. Such a
program is compiled with the store, which takes a minute the first time on a machine and
Go modules that "go install" of aeonc has fetched.

	aeonc run
	aeonc run examples/steakhouse
	aeonc run -q bank.aeon > balances.txt
	aeonc run --data ./data bank.aeon
	aeonc run --data ./data --durability relaxed=10ms bank.aeon
	aeonc run --trace bank.jsonl bank.aeon   records every event, for aeonc trace`,
		setup: func(fs *flag.FlagSet) action {
			quiet := fs.Bool("q", false, "say nothing but what the program says")
			var trace traceFlags
			trace.flags(fs)
			var state settings.State
			state.Flags(fs)
			return func(env *environment, args []string) error {
				if err := trace.check(); err != nil {
					return err
				}
				if err := state.Check(); err != nil {
					return usageError{err.Error()}
				}
				return runProgram(env, args, *quiet, append(trace.arguments(), state.Arguments()...))
			}
		},
	}
}

func runProgram(env *environment, args []string, quiet bool, flags []string) error {
	sources, rest := splitProgram(args)
	rest = append(flags, rest...)
	exe := ""
	if len(sources) == 1 && isExecutable(sources[0]) {
		exe, _ = filepath.Abs(sources[0])
	} else {
		start := time.Now()
		p, err := loadProgram(env, sources)
		if err != nil {
			return err
		}
		made, err := compile(env, []*program.Package{p}, compiler.Options{Name: p.Name(), Store: settings.Among(rest)}, quiet)
		if err != nil {
			return err
		}
		if !quiet {
			how := "compiled in"
			if made.Cached {
				how = "unchanged, ready after"
			}
			env.say("running %s (%s %.2f s)", p.Name(), how, time.Since(start).Seconds())
		}
		exe = made.Path
	}
	if !quiet {
		rest = append([]string{"-summary"}, rest...)
	}
	cmd := exec.Command(exe, rest...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.stdin, env.stdout.to, env.stderr
	code, err := process.Run(cmd)
	if err != nil {
		return err
	}
	if code != 0 {
		return codeError(code)
	}
	return nil
}

// splitProgram separates what names the program from what belongs to it: one
// argument, or as many as are .aeon files.
func splitProgram(args []string) (sources, rest []string) {
	n := 0
	for n < len(args) && filepath.Ext(args[n]) == program.Extension {
		n++
	}
	if n == 0 && len(args) > 0 {
		n = 1
	}
	return args[:n], args[n:]
}

// isExecutable reports whether name is a program already.
func isExecutable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.Ext(name) != program.Extension
}
