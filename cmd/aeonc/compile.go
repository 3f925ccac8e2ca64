package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/compiler"
	"github.com/aeon-lang/aeon/program"
)

// compile makes an executable of checked packages: of one program, or of the
// tests of all of them. Ctrl-C ends it.
func compile(env *environment, named []*program.Package, o compiler.Options, quiet bool) (build.Result, error) {
	if !quiet {
		o.Say = env.say
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return compiler.Compile(ctx, named, o)
}

// loadProgram loads the one package that has a main function and reports what is
// wrong with it.
func loadProgram(env *environment, args []string) (*program.Package, error) {
	loader, named, err := load(args)
	if err != nil {
		return nil, err
	}
	if err := env.diagnose(loader.Packages(), "human"); err != nil {
		return nil, err
	}
	if len(named) != 1 {
		return nil, usagef("one program at a time, not %d", len(named))
	}
	if named[0].Info.Package.Main == nil {
		hint := ""
		if named[0].Info.Package.Lookup("Main") != nil {
			hint = "\n\tMain is a function like any other: main has a small letter"
		}
		env.say("package %s has no main function, so there is nothing to run\n\twrite one: void main() { … }; `aeonc test` runs the tests of a package without main%s", named[0].Name(), hint)
		return nil, codeError(exitDiagnostics)
	}
	return named[0], nil
}
