package gobuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"go/version"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/typecheck"
)

// A program that binds packages of a Go module of the user's is compiled in a workspace, whose go.work lies in the cache: it uses
// that module, or those of the user's own workspace, and the module that programs are compiled in. The user's go.mod and go.sum are
// read as they are. The code that calls the bound functions is shown to Go, by the overlay, in a directory of the user's module that
// does not exist, so that it may import what the module has under internal.

// Place is where in a module of the user's the generated code of a package lies.
type Place struct {
	path, dir string // the import path, and the directory, that the code is put below
	module    string // the path of the module
	uses      []string
	replaces  []string // lines of the user's go.work
	sums      []byte   // of the user's go.work.sum
	goVersion string   // the newest that a module, or the workspace, wants: "1.26"
	tags      string   // of GOFLAGS, with commas
	aeon      bool     // one of the modules is that of the runtime
}

// PlaceOf returns where the generated code of a package without errors lies: nil if it binds no functions but those of the standard
// library. It is a *ProgramError if the package binds one that it cannot be compiled with.
func PlaceOf(p *load.Package) (*Place, error) {
	var place *Place
	var err error
	find := func(name, path string) {
		if place == nil && err == nil {
			if place, err = findPlace(p.Dir); err != nil {
				err = fmt.Errorf("%s is of the Go package %s: %w", name, path, err)
			}
		}
	}
	check := func(what, path string) {
		if err == nil && !place.mayImport(path) {
			err = fmt.Errorf("%s is of the Go package %s, which Go code in %s may not import\n\tmove the .aeon sources below the directory that has `internal`, or move the Go package",
				what, path, place.path)
		}
	}
	for _, t := range p.Info.Package.GoTypes {
		if t.Package.Standard {
			continue
		}
		find(t.Name(), t.Path)
		check(t.Name(), t.Path)
		check("the type "+t.Name(), t.Named.Obj().Pkg().Path())
		if err != nil {
			return nil, &ProgramError{fmt.Errorf("%v: %w", t.Span().Pos(), err)}
		}
	}
	for _, f := range p.Info.Package.Bound() {
		if f.Go.Package.Standard { // and so are its types
			continue
		}
		find(f.Name(), f.Go.Path)
		check(f.Name(), f.Go.Path)
		f.Crossings(func(_ typecheck.Type, g types.Type) {
			if n, ok := g.(*types.Named); ok {
				check("the type "+n.Obj().Name()+" of "+f.Name(), n.Obj().Pkg().Path())
			}
		})
		if err != nil {
			return nil, &ProgramError{fmt.Errorf("%v: %w", f.Span().Pos(), err)}
		}
	}
	return place, nil
}

// findPlace asks Go about the module that dir lies in, by the environment of the user.
func findPlace(dir string) (*Place, error) {
	golang, err := findGo(aeon.RuntimeSource().GoVersion)
	if err != nil {
		return nil, err
	}
	ask := func(args ...string) ([]byte, error) {
		out, err := golang.asUser(dir, args...).Output()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			err = fmt.Errorf("`go %s` failed: %s", strings.Join(args, " "), strings.TrimSpace(string(exit.Stderr)))
		}
		return out, err
	}
	var env struct{ GOMOD, GOWORK, GOFLAGS string }
	if out, err := ask("env", "-json", "GOMOD", "GOWORK", "GOFLAGS"); err != nil {
		return nil, err
	} else if err := json.Unmarshal(out, &env); err != nil {
		return nil, err
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return nil, fmt.Errorf("the sources in %s lie in no Go module\n\ta file go.mod above them makes one: `go mod init`", load.Relative(dir))
	}
	p := &Place{}
	for _, word := range strings.Fields(env.GOFLAGS) {
		if name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); name == "tags" {
			p.tags = value
		}
	}
	root := filepath.Dir(env.GOMOD)
	if err := p.use(ask, root); err != nil {
		return nil, err
	}
	if env.GOWORK != "" && env.GOWORK != "off" {
		if err := p.workspace(ask, env.GOWORK); err != nil {
			return nil, err
		}
	}
	p.settle(root, dir)
	return p, nil
}

// modFile is what `go mod edit -json` and `go work edit -json` say, as far as it matters here.
type modFile struct {
	Module  struct{ Path string }
	Go      string
	Use     []struct{ DiskPath string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// use adds the module in the directory root, the first of which is that of the place.
func (p *Place) use(ask func(...string) ([]byte, error), root string) error {
	var mod modFile
	out, err := ask("mod", "edit", "-json", filepath.Join(root, "go.mod"))
	if err == nil {
		err = json.Unmarshal(out, &mod)
	}
	if err != nil {
		return err
	}
	if p.module == "" {
		p.module = mod.Module.Path
	}
	p.aeon = p.aeon || mod.Module.Path == aeon.ModulePath
	p.wants(mod.Go)
	p.uses = append(p.uses, root)
	return nil
}

// workspace adds what the user's own go.work says.
func (p *Place) workspace(ask func(...string) ([]byte, error), file string) error {
	var work modFile
	out, err := ask("work", "edit", "-json", file)
	if err == nil {
		err = json.Unmarshal(out, &work)
	}
	if err != nil {
		return err
	}
	p.wants(work.Go)
	absolute := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
	}
	for _, u := range work.Use {
		if root := absolute(u.DiskPath); !slices.Contains(p.uses, root) {
			if err := p.use(ask, root); err != nil {
				return err
			}
		}
	}
	for _, r := range work.Replace {
		to := fmt.Sprintf("%q", r.New.Path) + " " + r.New.Version
		if r.New.Version == "" {
			to = fmt.Sprintf("%q", absolute(r.New.Path))
		}
		if r.Old.Path != aeon.ModulePath {
			p.replaces = append(p.replaces, fmt.Sprintf("%q %s => %s", r.Old.Path, r.Old.Version, to))
		}
	}
	if p.sums, err = os.ReadFile(file + ".sum"); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
}

// wants notes that a module wants a version of Go.
func (p *Place) wants(goVersion string) {
	if version.Compare("go"+goVersion, "go"+p.goVersion) > 0 {
		p.goVersion = goVersion
	}
}

// element matches the parts of a path that are parts of an import path, too.
var element = regexp.MustCompile(`^[A-Za-z0-9_+-]([A-Za-z0-9._+-]*[A-Za-z0-9_+-])?$`)

// settle chooses the directory: the one of the sources, unless its name is none in an import path, or packages elsewhere, such as the
// main package, could not import what is in it.
func (p *Place) settle(root, dir string) {
	p.path, p.dir = p.module, root
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if !element.MatchString(part) || part == "internal" || part == "vendor" {
			return
		}
		p.path, p.dir = path.Join(p.path, part), filepath.Join(p.dir, part)
	}
}

// mayImport reports whether code in the place may import a package, by Go's rule for directories that are called internal.
func (p *Place) mayImport(pkg string) bool {
	parts := strings.Split(pkg, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == "internal" {
			above := strings.Join(parts[:i], "/")
			return p.path == above || strings.HasPrefix(p.path, above+"/")
		}
	}
	return true
}

// below returns the import path of what is put at a path below the place.
func (p *Place) below(name string) string { return path.Join(p.path, programModule, name) }
