package main

import (
	"flag"
	"fmt"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/typecheck"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Args:  "[--format F] [--effects] [PACKAGES]",
		Short: "report errors without compiling",
		Long: `
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
go to standard output, one of them at a time. The exit code is 1 if there are errors.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			format := formatFlag(fs)
			effects := fs.Bool("effects", false, "print which actors every method may touch, and how")
			return func(env *cli.Env, args []string) error {
				return check(env, args, *format, *effects)
			}
		},
	}
}

// check loads packages and reports on them.
func check(env *cli.Env, args []string, format string, effects bool) error {
	if format != "human" {
		env.Quiet()
	}
	if effects && (format == "json" || format == "sarif") {
		return cli.Usagef("--effects writes text where --format=%s writes its own; leave out one of them", format)
	}
	loader, named, err := env.Load(args)
	if err != nil {
		return err
	}
	failed := env.Diagnose(loader.Packages(), format)
	if failed != nil {
		return failed
	}
	if effects {
		for _, p := range named {
			if err := typecheck.PrintEffects(env.Stdout, p.Info); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatFlag declares --format of diagnostics.
func formatFlag(fs *flag.FlagSet) *string {
	format := "human"
	fs.Func("format", "the `format` of diagnostics: human, short, json or sarif (default human)", func(s string) error {
		for _, known := range cli.DiagnosticFormats {
			if s == known {
				format = s
				return nil
			}
		}
		return fmt.Errorf("there is no such format%s", cmdline.Choices(s, cli.DiagnosticFormats, "the formats are"))
	})
	return &format
}
