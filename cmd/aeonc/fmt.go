package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/aeon-lang/aeon/internal/atomicfile"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/diag"
)

func fmtCommand() *cli.Command {
	return &cli.Command{
		Name:  "fmt",
		Args:  "[-l] [-d] [-w] [--check] [PACKAGES | -]",
		Short: "format sources",
		Long: `
Fmt prints sources in the one canonical layout. Without flags the formatted text
goes to standard output and the files stay as they are. A file with syntax errors is
left alone.

	aeonc fmt -w ./...        formats everything below this directory
	aeonc fmt -l ./...        lists the files that are not formatted
	aeonc fmt -d shop.aeon    shows what would change
	aeonc fmt --check ./...   for continuous integration: exit code 1 if a file is not formatted
	aeonc fmt - < shop.aeon   formats standard input, for editors`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			var f formatter
			fs.BoolVar(&f.list, "l", false, "list files whose layout differs")
			fs.BoolVar(&f.diff, "d", false, "show what differs")
			fs.BoolVar(&f.write, "w", false, "write the result to the files")
			fs.BoolVar(&f.check, "check", false, "list files whose layout differs and exit with 1 if there are any")
			return func(env *cli.Env, args []string) error {
				f.env = env
				return f.format(args)
			}
		},
	}
}

// formatter is one run of fmt.
type formatter struct {
	list, diff, write, check bool
	env                      *cli.Env

	differing int
	wrong     []diag.Diagnostic // of the files that cannot be formatted
}

func (f *formatter) format(args []string) error {
	if slices.Contains(args, "-") {
		if len(args) > 1 || f.write {
			return cli.Usagef("standard input is formatted alone, and not with -w")
		}
		src, err := io.ReadAll(f.env.Stdin)
		if err != nil {
			return err
		}
		if err := f.source("<standard input>", "", src); err != nil {
			return err
		}
		return f.verdict()
	}
	units, err := load.Find(args)
	if err != nil {
		return err
	}
	for _, u := range units {
		for _, name := range u.Files {
			src, err := load.ReadSource(name)
			if err == nil {
				err = f.source(name, name, src)
			}
			if err != nil {
				return err
			}
		}
	}
	return f.verdict()
}

func (f *formatter) verdict() error {
	if err := f.env.ShowDiagnostics(f.wrong, "human"); err != nil {
		return err
	}
	if f.check && f.differing > 0 {
		f.env.Say("%s not formatted; `aeonc fmt -w` formats", cli.Count(f.differing, "file"))
		return cli.Code(cli.ExitProblem)
	}
	return nil
}

// source formats one text; file is where -w writes.
func (f *formatter) source(name, file string, src []byte) error {
	f.env.Doing("formatting %s", name)
	out, diags := lang.Format(name, src)
	if out == nil {
		f.wrong = append(f.wrong, diags...)
		return nil
	}
	changed := string(out) != string(src)
	if changed {
		f.differing++
	}
	if changed && (f.list || f.check) {
		fmt.Fprintln(f.env.Stdout, name)
	}
	if changed && f.diff {
		f.env.Stdout.Write(diff.Diff(name+" (as it is)", src, name+" (formatted)", out))
	}
	if changed && f.write {
		return replaceFile(file, out)
	}
	if !f.list && !f.check && !f.diff && !f.write {
		_, err := f.env.Stdout.Write(out)
		return err
	}
	return nil
}

// replaceFile replaces the contents of a file and keeps its permissions, or makes the file.
func replaceFile(name string, text []byte) error {
	mode := fs.FileMode(0o644)
	switch info, err := os.Stat(name); {
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.Write(name, bytes.NewReader(text), mode)
}
