// Package golden runs golden files of the semantics: programs with all outcomes
// that a serial order of their events allows, or the errors that the checker
// reports. Each is run by the reference interpreter, in every order, and as a
// compiled program, with many seeds.
//
// A file is an archive in the format of txtar. Its comment says what it shows, with
// the names of the rules in brackets; its .aeon files form one package with a main
// or one test; and it has either
//
//	-- outcomes --    every allowed outcome, with a line of --- between two
//	-- errors --      what the checker says, as of `aeonc check --format=short`
//
// or both, if all that the checker says are warnings.
package golden

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

// Extension is that of golden files.
const Extension = ".txtar"

const (
	outcomesFile = "outcomes"
	errorsFile   = "errors"
	// between stands between two outcomes.
	between = "---\n"
)

// Case is one golden file.
type Case struct {
	Path  string
	Rules []string // the names in brackets of the comment, without these
	// Outcomes are the allowed outcomes in the order of the file, nil if errors are expected.
	Outcomes []string
	// Errors are the expected diagnostics, one a line; empty if outcomes are.
	Errors string

	archive *txtar.Archive
}

// Name is the name of the file without folders and extension.
func (c *Case) Name() string { return strings.TrimSuffix(filepath.Base(c.Path), Extension) }

// Find lists the golden files that the arguments name: files, folders (those in them),
// and DIR/... for those below.
func Find(args []string) (paths []string, err error) {
	for _, arg := range args {
		root, below := strings.CutSuffix(filepath.ToSlash(arg), "/...")
		info, err := os.Stat(root)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			paths = append(paths, root)
			continue
		}
		err = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && p != root && !below:
				return filepath.SkipDir
			case !d.IsDir() && filepath.Ext(p) == Extension:
				paths = append(paths, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Load reads a golden file.
func Load(path string) (*Case, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	c := &Case{Path: path, archive: archive}
	for _, m := range ruleName.FindAllStringSubmatch(string(archive.Comment), -1) {
		c.Rules = append(c.Rules, m[1])
	}
	sources := 0
	for _, f := range archive.Files {
		switch {
		case filepath.Ext(f.Name) == ".aeon" && !strings.Contains(f.Name, "/"):
			sources++
		case f.Name == outcomesFile:
			c.Outcomes = strings.Split(string(f.Data), between)
		case f.Name == errorsFile:
			c.Errors = string(f.Data)
		default:
			return nil, fmt.Errorf("%s: %s is no part of a golden file: it has .aeon files, and %s or %s", path, f.Name, outcomesFile, errorsFile)
		}
	}
	switch {
	case sources == 0:
		return nil, fmt.Errorf("%s has no .aeon file", path)
	case c.Outcomes != nil && refuses(c.Errors):
		return nil, fmt.Errorf("%s has both %s and %s; a program that is refused has no outcome", path, outcomesFile, errorsFile)
	}
	return c, nil
}

// refuses reports whether something that the checker says is no warning.
func refuses(said string) bool {
	for line := range strings.Lines(said) {
		if !strings.Contains(line, ": warning: ") {
			return true
		}
	}
	return false
}

// ruleName is a rule, an error (E1) or an ambiguity (A12) of spec/semantics.md.
var ruleName = regexp.MustCompile(`\[([A-Z][A-Z0-9]*(?:-[A-Z]+)*)\]`)

// check parses and checks the program; the text is what the checker says of it.
func (c *Case) check() (*typecheck.Info, string, error) {
	var files []*ast.File
	var all []diag.Diagnostic
	for _, f := range c.archive.Files {
		if filepath.Ext(f.Name) != ".aeon" {
			continue
		}
		parsed, diags := lang.Parse(f.Name, f.Data)
		files, all = append(files, parsed), append(all, diags...)
	}
	info, diags := typecheck.Check(files, typecheck.Options{})
	all = append(all, diag.Outside(diags, all)...)
	var text strings.Builder
	if err := diag.WriteShort(&text, diag.Sort(all)); err != nil {
		return nil, "", err
	}
	if diag.HasErrors(all) {
		return nil, text.String(), nil
	}
	if entries(info) != 1 {
		return nil, "", errors.New(c.Path + ": a golden program has a main, or one test, so that its outcomes are those of one run")
	}
	return info, text.String(), nil
}

func entries(info *typecheck.Info) int {
	n := len(info.Package.Tests)
	if info.Package.Main != nil {
		n++
	}
	return n
}

// write replaces what the file expects.
func (c *Case) write() error {
	kept := c.archive.Files[:0:0]
	for _, f := range c.archive.Files {
		if f.Name != outcomesFile && f.Name != errorsFile {
			kept = append(kept, f)
		}
	}
	if c.Outcomes != nil {
		kept = append(kept, txtar.File{Name: outcomesFile, Data: []byte(strings.Join(c.Outcomes, between))})
	}
	if c.Errors != "" {
		kept = append(kept, txtar.File{Name: errorsFile, Data: []byte(c.Errors)})
	}
	c.archive.Files = kept
	return os.WriteFile(c.Path, txtar.Format(c.archive), 0o666)
}
