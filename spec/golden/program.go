package golden

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

// check loads the program; said is what the checker says of it. There is no program if it is refused.
func (c *Case) check() (p *load.Package, said string, err error) {
	if c.bad != nil {
		return nil, "", c.bad
	}
	dir, err := os.MkdirTemp("", "aeon-golden-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, "", err
	}
	top, err := c.unpack(dir)
	if err != nil {
		return nil, "", err
	}
	loader := gobuild.NewLoader()
	if p, err = loader.Load(load.Unit{Dir: dir, Files: top}); err != nil {
		return nil, "", err
	}
	if said, err = c.said(loader.Packages(), dir); err != nil || refuses(said) {
		return nil, said, err
	}
	if entries(p.Info) != 1 {
		return nil, "", errors.New("a golden program has a main, or one test, so that its outcomes are those of one run")
	}
	return p, said, nil
}

// unpack writes the sources into a folder and returns the names of those at its top.
func (c *Case) unpack(dir string) (top []string, err error) {
	for _, f := range c.archive.Files {
		if filepath.Ext(f.Name) != load.Extension {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			return nil, err
		}
		if filepath.Dir(name) == dir {
			top = append(top, name)
		}
	}
	return top, nil
}

// said returns what the checker says of the packages, in which files get the names that they have in the archive.
func (c *Case) said(packages []*load.Package, dir string) (string, error) {
	var all []diag.Diagnostic
	unused := map[string]bool{}
	for _, f := range c.archive.Files {
		unused[f.Name] = filepath.Ext(f.Name) == load.Extension
	}
	for _, p := range packages {
		for _, f := range p.Files {
			folder, err := filepath.Rel(dir, p.Dir)
			if err != nil {
				return "", err
			}
			f.Src.Name = filepath.ToSlash(filepath.Join(folder, filepath.Base(f.Src.Name)))
			delete(unused, f.Src.Name)
		}
		all = append(all, p.Diagnostics...)
	}
	var text strings.Builder
	if err := diag.WriteShort(&text, all); err != nil {
		return "", err
	}
	said := text.String()
	for _, name := range []string{dir, load.Relative(dir)} { // in messages about folders
		said = strings.ReplaceAll(said, name+string(filepath.Separator), "")
	}
	for name, left := range unused {
		if left && !refuses(said) {
			return "", fmt.Errorf("the program does not import the package of %s; an import names the folder, as import \"./%s\"", name, filepath.ToSlash(filepath.Dir(name)))
		}
	}
	return said, nil
}

func entries(info *typecheck.Info) int {
	n := len(info.Package.Tests)
	if info.Package.Main != nil {
		n++
	}
	return n
}
