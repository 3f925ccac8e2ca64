// Package golden runs golden files of the semantics: programs with all outcomes
// that a serial order of their events allows, or the errors that the checker
// reports. Each is run by the reference interpreter, in every order, and as a
// compiled program, with many seeds.
//
// A file is an archive in the format of txtar. Its comment says what it shows, with
// the names of the rules in brackets; its .aeon files form a package with a main
// or one test, and those in folders the packages that it imports; and it has either
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
	refused bool  // the file says that the program is to be refused: it has errors, which may be empty, and no outcomes
	bad     error // what is wrong with the file; nil if it can be run
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

// Load reads a golden file. A file that cannot be run is reported when it is to be run.
func Load(path string) *Case {
	c := &Case{Path: path}
	c.bad = c.read()
	return c
}

func (c *Case) read() error {
	archive, err := txtar.ParseFile(c.Path)
	if err != nil {
		return err
	}
	c.archive = archive
	for _, m := range ruleName.FindAllStringSubmatch(string(archive.Comment), -1) {
		c.Rules = append(c.Rules, m[1])
	}
	sources := 0
	seen := map[string]bool{}
	for _, f := range archive.Files {
		if seen[f.Name] {
			return fmt.Errorf("there are two files %s", f.Name)
		}
		seen[f.Name] = true
		switch {
		case filepath.Ext(f.Name) == ".aeon" && filepath.IsLocal(filepath.FromSlash(f.Name)):
			if !strings.Contains(f.Name, "/") {
				sources++
			}
		case f.Name == outcomesFile:
			c.Outcomes = split(string(f.Data))
		case f.Name == errorsFile:
			c.Errors, c.refused = string(f.Data), true
		default:
			return fmt.Errorf("%s is no part of a golden file: it has .aeon files, and %s or %s", f.Name, outcomesFile, errorsFile)
		}
	}
	c.refused = c.refused && c.Outcomes == nil
	switch {
	case sources == 0:
		return errors.New("there is no .aeon file outside of a folder, which is where main or a test is")
	case c.Outcomes != nil && refuses(c.Errors):
		return fmt.Errorf("there are both %s and %s; a program that is refused has no outcome", outcomesFile, errorsFile)
	}
	return nil
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

// split returns the outcomes of a file.
func split(text string) []string {
	list := []string{""}
	for line := range strings.Lines(text) {
		if line == between {
			list = append(list, "")
			continue
		}
		list[len(list)-1] += line
	}
	return list
}

// divider returns the first line of an outcome by which a file would have another one, or another part, "" if there is none.
func divider(outcome string) string {
	for line := range strings.Lines(outcome) {
		if line == between || len(txtar.Parse([]byte(line)).Files) > 0 {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
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
