package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/program"
	"github.com/aeon-lang/aeon/typecheck"
)

func checkCommand() *command {
	return &command{
		name:  "check",
		args:  "[--format F] [--effects] [PACKAGES]",
		short: "report errors without compiling",
		long: `
Check reports what is wrong with packages: syntax, types, calls that the
ownership order forbids, and cycles in it. All independent errors are reported at
once. "aeonc explain CODE" tells more about one.

	aeonc check                         the package in this directory
	aeonc check ./...                   everything below it
	aeonc check --format=short | …      one line each: file:line:col: AE0101: message
	aeonc check --format=sarif > out    for code scanning
	aeonc check --effects               what every method may touch

Effects name for each method the classes it may read (R) or write (W), its footprint, which
is the paths to the actors it may touch, and how it enters as an event: in which mode it
holds its target, and whether the footprint tells exactly which actors it wants below.

The formats human and short go to standard error; json and sarif, and the effects,
go to standard output. The exit code is 1 if there are errors.`,
		setup: func(fs *flag.FlagSet) action {
			format := formatFlag(fs)
			effects := fs.Bool("effects", false, "print which actors every method may touch, and how")
			return func(env *environment, args []string) error {
				return check(env, args, *format, *effects)
			}
		},
	}
}

// check loads packages and reports on them.
func check(env *environment, args []string, format string, effects bool) error {
	loader, named, err := load(args)
	if err != nil {
		return err
	}
	failed := env.diagnose(loader.Packages(), format)
	if failed != nil {
		return failed
	}
	if effects {
		for _, p := range named {
			if err := typecheck.PrintEffects(env.stdout, p.Info); err != nil {
				return err
			}
		}
	}
	return nil
}

// load loads the packages that arguments name.
func load(args []string) (*program.Loader, []*program.Package, error) {
	found, err := program.Find(args)
	if err != nil {
		return nil, nil, err
	}
	loader := program.NewLoader()
	var named []*program.Package
	for _, u := range found {
		p, err := loader.Load(u)
		if err != nil {
			return nil, nil, err
		}
		named = append(named, p)
	}
	return loader, named, nil
}

// formatFlag declares --format of diagnostics.
func formatFlag(fs *flag.FlagSet) *string {
	format := "human"
	fs.Func("format", "the `format` of diagnostics: human, short, json or sarif (default human)", func(s string) error {
		for _, known := range diagnosticFormats {
			if s == known {
				format = s
				return nil
			}
		}
		return fmt.Errorf("there is no such format%s; the formats are %s", didYouMean(s, diagnosticFormats, ""), strings.Join(diagnosticFormats, ", "))
	})
	return &format
}
