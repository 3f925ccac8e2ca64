package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/compiler"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/process"
	"github.com/aeon-lang/aeon/program"
	"github.com/aeon-lang/aeon/runtime/settings"
)

func startCommand() *command {
	return &command{
		name:  "start",
		args:  "--app PROGRAM --data DIR [--durability MODE] [--memory SIZE]",
		short: "serve what a data directory holds",
		long: `
Start goes on with the actors, sub-events and timers in a data directory, and runs until it is
told to end, by Ctrl-C or SIGTERM. It does not run main.

PROGRAM is an executable made by "aeonc build", or sources: a directory, or an .aeon file.

	aeond start --app ./shop --data /var/lib/shop
	aeond start --app bin/shop --data /var/lib/shop --durability relaxed=10ms`,
		setup: func(fs *flag.FlagSet) func(*environment) error {
			app := fs.String("app", "", "the `PROGRAM`, an executable or sources")
			var state settings.State
			state.Flags(fs)
			return func(env *environment) error { return start(env, *app, state) }
		},
	}
}

func start(env *environment, app string, state settings.State) error {
	switch err := state.Check(); {
	case app == "":
		return usagef("name the program with --app")
	case err != nil:
		return usageError{err.Error()}
	case state.Dir == "":
		return usagef("name the directory with --data")
	}
	exe, err := executable(env, app)
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, append([]string{"--serve"}, state.Arguments()...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.stdin, env.stdout, env.stderr
	code, err := process.Run(cmd)
	if err != nil {
		return err
	}
	if code != 0 {
		return codeError(code)
	}
	return nil
}

// executable returns the path of a program, which is compiled if sources are named.
func executable(env *environment, app string) (string, error) {
	if !isExecutable(app) {
		made, err := compile(env, app)
		if err != nil {
			return "", err
		}
		app = made.Path
	}
	return filepath.Abs(app)
}

// isExecutable reports whether name is a program already.
func isExecutable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.Ext(name) != program.Extension
}

// diagnosticsMax bounds how many are shown.
const diagnosticsMax = 100

// compile makes an executable of sources.
func compile(env *environment, name string) (build.Result, error) {
	found, err := program.Find([]string{name})
	if err != nil {
		return build.Result{}, err
	}
	if len(found) != 1 {
		return build.Result{}, usagef("one program at a time, not %d", len(found))
	}
	loader := program.NewLoader()
	p, err := loader.Load(found[0])
	if err != nil {
		return build.Result{}, err
	}
	var all []diag.Diagnostic
	wrong := false
	for _, q := range loader.Packages() {
		for _, d := range q.Diagnostics {
			all = append(all, d)
			wrong = wrong || d.Severity == diag.Error
		}
	}
	if err := diag.WriteHuman(env.stderr, all, diag.HumanOptions{Max: diagnosticsMax}); err != nil {
		return build.Result{}, err
	}
	if wrong {
		return build.Result{}, codeError(exitProblem)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return compiler.Compile(ctx, []*program.Package{p}, compiler.Options{Name: p.Name(), Store: true, Say: env.say})
}
