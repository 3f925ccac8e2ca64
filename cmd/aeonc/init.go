package main

import (
	_ "embed"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang"
)

// firstProgram is what init writes; PACKAGE stands for the package's name.
//
//go:embed template/shop.aeon
var firstProgram string

func initCommand() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Args:  "[DIR]",
		Short: "write a first program into a directory",
		Long: `
Init writes a small program with a test into DIR, which is made if it does not
exist; without DIR, into the current directory. Other files may be there, but no
.aeon files: init never overwrites anything.

	mkdir shop && cd shop && aeonc init
	aeonc init shop && aeonc run shop`,
		Setup: func(*flag.FlagSet) cli.Action {
			return func(env *cli.Env, args []string) error {
				switch len(args) {
				case 0:
					return initialise(env, ".")
				case 1:
					return initialise(env, args[0])
				}
				return cli.Usagef("one directory at a time, not %d", len(args))
			}
		},
	}
}

func initialise(env *cli.Env, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == load.Extension {
			return cli.Usagef("there is a program already: %s", filepath.Join(dir, e.Name()))
		}
	}
	name := packageName(filepath.Base(abs))
	file := filepath.Join(dir, name+load.Extension)
	if err := writeNew(file, strings.ReplaceAll(firstProgram, "PACKAGE", name)); err != nil {
		return err
	}
	where := ""
	if filepath.Clean(dir) != "." {
		where = " " + cli.Path(dir)
	}
	env.Say("wrote %s; now try:\n\taeonc run%[2]s\n\taeonc test%[2]s\n\taeonc help", file, where)
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// packageName makes a package name of the name of a directory.
func packageName(dir string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(dir) {
		switch {
		case 'a' <= r && r <= 'z', b.Len() > 0 && '0' <= r && r <= '9':
			b.WriteRune(r)
		}
	}
	name := b.String()
	if name == "" {
		return "shop"
	}
	if _, diags := lang.Parse("", []byte("package "+name+"\n")); len(diags) > 0 {
		return name + "app" // a keyword
	}
	return name
}
