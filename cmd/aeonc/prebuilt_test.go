package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
)

// prebuilt is the programs with the store that scripts ask for by the command
//
//	prebuilt [--cluster] NAME SOURCES…
//
// where what a script shows is what its program does, and not how aeonc builds it. A link with the store takes some
// seconds, so all of them are one executable, which is linked once, and those that can be nodes of a cluster are another: it
// runs the program whose name it is started by.
// It lies in the user's cache, as other programs do, and a run of the tests that changes nothing finds it there.
type prebuilt struct {
	dir      string // of the sources, by the name of the program
	programs []program
	alone    func() (exe string, err error)
	nodes    func() (exe string, err error)
}

// program is what one line of a script asks for.
type program struct {
	name    string
	sources []string // in dir/name
	cluster bool     // it can be a node of a cluster
}

// findPrebuilt reads what the scripts ask for. The sources go to dir, an empty directory.
func findPrebuilt(scripts []string, dir string) (*prebuilt, error) {
	all := &prebuilt{dir: dir}
	all.alone = sync.OnceValues(func() (string, error) { return all.build(false) })
	all.nodes = sync.OnceValues(func() (string, error) { return all.build(true) })
	by := map[string]string{}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(archive.Comment) {
			words := strings.Fields(string(line))
			if len(words) == 0 || words[0] != "prebuilt" {
				continue
			}
			words, cluster := asked(words[1:])
			if len(words) < 2 {
				continue // the script will say so
			}
			p := program{name: words[0], cluster: cluster}
			if by[p.name] != "" {
				return nil, fmt.Errorf("%s and %s both ask for a program %s: one executable has all of them, so rename one", by[p.name], script, p.name)
			}
			by[p.name] = script
			for _, source := range words[1:] {
				p.sources = append(p.sources, filepath.Join(dir, p.name, filepath.FromSlash(source)))
			}
			if err := txtar.Write(archive, filepath.Join(dir, p.name)); err != nil {
				return nil, err
			}
			if filepath.Base(script) == surviving+".txtar" {
				if err := fromReadme(filepath.Join(dir, p.name)); err != nil {
					return nil, err
				}
			}
			all.programs = append(all.programs, p)
		}
	}
	if len(all.programs) == 0 {
		return nil, errors.New("no script asks for a program: does the command still have its name?")
	}
	return all, nil
}

// root is where the executable believes that its sources lie: the same place in each run, or no run would find the executable of another.
var root = filepath.FromSlash("/aeon.invalid/prebuilt")

// settle moves the sources of a package below root, by name.
func (all *prebuilt) settle(p *load.Package) error {
	dir, err := filepath.EvalSymlinks(all.dir)
	if err != nil {
		return err
	}
	below, err := filepath.Rel(dir, p.Dir)
	if err != nil {
		return err
	}
	p.Dir = filepath.Join(root, below)
	for _, f := range p.Files {
		f.Src.Name = filepath.Join(p.Dir, filepath.Base(f.Src.Name))
	}
	return nil
}

// asked returns the arguments of a command without its flag, and whether that was there.
func asked(args []string) (words []string, cluster bool) {
	if len(args) > 0 && args[0] == "--cluster" {
		return args[1:], true
	}
	return args, false
}

// build makes the executable of all programs that can be nodes of a cluster, or of all others.
func (all *prebuilt) build(cluster bool) (exe string, err error) {
	req, linked := gobuild.Request{Name: "prebuilt", Store: true, Cluster: cluster, Quick: true}, aeon.StorePackage
	if cluster {
		linked = aeon.ClusterPackage
	}
	var imports, cases strings.Builder
	for i, p := range all.programs {
		if p.cluster != cluster {
			continue
		}
		units, err := load.Find(p.sources)
		if err == nil && len(units) != 1 {
			err = fmt.Errorf("its sources are %d packages", len(units))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
		pkg, err := gobuild.NewLoader().Load(units[0])
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
		for _, q := range pkg.Closure() {
			if err := all.settle(q); err != nil {
				return "", fmt.Errorf("%s: %w", p.name, err)
			}
		}
		for _, q := range pkg.Closure() {
			made, err := gobuild.Generate(q, q == pkg)
			if err != nil {
				return "", fmt.Errorf("%s: %w", p.name, err)
			}
			if q != pkg {
				req.Imported = append(req.Imported, made)
				continue
			}
			req.Packages = append(req.Packages, made)
			fmt.Fprintf(&imports, "\tp%d %q\n", i, gobuild.ImportPath(made.Dir, made.Name))
			fmt.Fprintf(&cases, "\tcase %q:\n\t\taeonrt.MainOf(p%d.AeonEntry(), linked.Entry())\n", p.name, i)
		}
	}
	req.Main = fmt.Appendf(nil, `package main

import (
	"os"
	"path/filepath"

	aeonrt %q
	linked %q

%s)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
%s	default:
		panic("there is no program " + name)
	}
}
`, aeon.ModulePath+"/runtime", linked, &imports, &cases)
	cache, err := gobuild.DefaultCache()
	if err != nil {
		return "", err
	}
	b := gobuild.Builder{Cache: cache, Runtime: aeon.RuntimeSource()}
	made, err := b.Build(context.Background(), req)
	if err != nil {
		return "", err
	}
	exe = filepath.Join(all.dir, filepath.Base(linked)+".prebuilt") // the cache may be on another file system than the scripts, which link to this
	return exe, made.CopyTo(exe)
}

// command puts a program into the directory of a script.
func (all *prebuilt) command(ts *testscript.TestScript, neg bool, args []string) {
	words, cluster := asked(args)
	if neg || len(words) < 2 {
		ts.Fatalf("usage: prebuilt [--cluster] NAME SOURCES…")
	}
	made := all.alone
	if cluster {
		made = all.nodes
	}
	exe, err := made()
	ts.Check(err)
	ts.Check(os.Link(exe, ts.MkAbs(words[0])))
}
