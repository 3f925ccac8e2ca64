// Package batch compiles many programs into one executable and runs them there, each on a fresh system, with any
// number of seeds, in parallel, and whatever they do. A link takes a third of a second, and a process some
// milliseconds to start: this is how suites of thousands of programs run in minutes.
package batch

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

// driverSource is the package that runs the programs in the executable.
//
//go:embed driver/driver.go
var driverSource []byte

// storedSource is the part of it that uses a store.
//
//go:embed driver/stored.go
var storedSource []byte

// Program is a checked program. Its name is unique in a batch; a program that keeps its name from one
// batch to the next is compiled again only if its code has changed.
type Program struct {
	Name string
	// Units are its packages, each after what it imports: the last one is the entry.
	Units []*typecheck.Info
}

// Loaded returns the program of a loaded package.
func Loaded(name string, p *load.Package) Program {
	out := Program{Name: name}
	for _, q := range p.Closure() {
		out.Units = append(out.Units, q.Info)
	}
	return out
}

// Parse checks a program of one file. The diagnostics include warnings; if one is an error there is no program.
func Parse(name, file string, text []byte) (Program, []diag.Diagnostic) {
	return ParseAll(name, []Source{{File: file, Text: text}})
}

// Source is a package of a program, of one file. Package is the last part of the path by which other packages
// import it.
type Source struct {
	Package, File string
	Text          []byte
}

// ParseAll checks a program of several packages, each after what it imports: the last one is the entry.
func ParseAll(name string, sources []Source) (Program, []diag.Diagnostic) {
	p := Program{Name: name}
	var all []diag.Diagnostic
	for _, s := range sources {
		parsed, diags := lang.Parse(s.File, s.Text)
		all = append(all, diags...)
		if diag.HasErrors(diags) {
			return Program{}, all
		}
		info, diags := typecheck.Check([]*ast.File{parsed}, typecheck.Options{Path: s.Package, Import: func(name string) (*typecheck.Package, error) {
			for i, unit := range p.Units {
				if sources[i].Package == path.Base(name) {
					return unit.Package, nil
				}
			}
			return nil, fmt.Errorf("there is no package %s before this one", name)
		}})
		all = append(all, diags...)
		if diag.HasErrors(diags) {
			return Program{}, all
		}
		p.Units = append(p.Units, info)
	}
	return p, all
}

// Compiler makes executables of programs. Its fields are set before use and not changed.
type Compiler struct {
	Cache      *gobuild.Cache // gobuild.DefaultCache if nil
	Runtime    aeon.Runtime   // the zero Runtime: aeon.RuntimeSource(). Tests may hand in one with a bug in it.
	Vet        bool           // go vet must accept the generated code
	Stored     bool           // jobs may be Stored
	Stores     bool           // jobs may have several Stores
	Replicated bool           // for tests: the stores are kept on three replicas
	Once       bool           // nothing is kept of what is made once Executable.Remove was called
	Apart      bool           // every program is compiled as it would be alone, which takes three times as long
	// Generate, if set, stands in for codegen.Generate.
	Generate func(*typecheck.Info, codegen.Options) ([]codegen.File, error)
}

// GoError says that Go has refused generated code, which is always a bug of the compiler.
type GoError struct {
	Programs []int // the programs whose packages the output names
	Output   string
}

// Error returns what the Go compiler has said.
func (e *GoError) Error() string { return "go refuses generated code: " + e.Output }

// Executable runs the programs it was compiled from.
type Executable struct {
	Path     string
	Programs []Program
	// Progress, if set, is told by Run how many jobs have begun.
	Progress func(begun int)
	built    gobuild.Result
}

// Remove deletes the executable, which is not used again.
func (x *Executable) Remove() error { return x.built.Remove() }

// Compile returns an executable of the programs, from the cache if it was made before. If Go refuses some, the error is a *GoError.
func (c *Compiler) Compile(ctx context.Context, programs []Program) (*Executable, error) {
	if len(programs) == 0 {
		return nil, errors.New("batch: there are no programs to compile")
	}
	b, err := c.builder()
	if err != nil {
		return nil, err
	}
	l := &linked{owners: map[string][]int{}, shared: map[int]*shared{}}
	for i, p := range programs {
		pkgs, err := c.generate(p)
		if err != nil {
			return nil, &GoError{Programs: []int{i}, Output: err.Error()}
		}
		if err := l.add(i, p.Name, pkgs, !c.Apart); err != nil {
			return nil, err
		}
	}
	req := l.request(c.Replicated)
	req.Once = c.Once
	if c.Vet {
		err = b.Vet(ctx, req)
	}
	var result gobuild.Result
	if err == nil {
		result, err = b.Build(ctx, req)
	}
	if bad := new(gobuild.GeneratedCodeError); errors.As(err, &bad) {
		return nil, c.refused(ctx, bad, l.owners, programs)
	}
	if err != nil {
		return nil, err
	}
	return &Executable{Path: result.Path, Programs: programs, built: result}, nil
}

func (c *Compiler) builder() (*gobuild.Builder, error) {
	b := &gobuild.Builder{Cache: c.Cache, Runtime: c.Runtime}
	if b.Runtime.Hash == "" {
		b.Runtime = aeon.RuntimeSource()
	}
	if b.Cache == nil {
		var err error
		if b.Cache, err = gobuild.DefaultCache(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// generate returns the Go packages of a program, in the order of its units.
func (c *Compiler) generate(p Program) (pkgs []gobuild.Package, err error) {
	generate := codegen.Generate
	if c.Generate != nil {
		generate = c.Generate
	}
	opts := codegen.Options{SourceName: func(src *ast.Source) string { return "/aeon/" + path.Base(src.Name) }}
	for i, info := range p.Units {
		files, err := generate(info, opts)
		if err != nil {
			return nil, fmt.Errorf("batch: %s: %w", p.Name, err)
		}
		pkg := gobuild.Package{Name: codegen.GoPackageName(info.Package.Name), Dir: fmt.Sprintf("%s%s/%d", sourceRoot, p.Name, i)}
		for _, f := range files {
			pkg.Files = append(pkg.Files, gobuild.File{Name: f.Name, Data: f.Content})
		}
		pkgs = append(pkgs, pkg)
		opts.Imports = append(opts.Imports, codegen.Import{Info: info, Path: gobuild.ImportPath(pkg.Dir, pkg.Name)})
	}
	if !c.Apart && !c.Vet {
		if err := prune(pkgs, c.Stored || c.Stores, c.Stores); err != nil {
			return nil, fmt.Errorf("batch: %s: %w", p.Name, err)
		}
	}
	return pkgs, nil
}

// refused finds the programs that a compile error is about: Go names packages, and one that programs share is
// compiled again apart.
func (c *Compiler) refused(ctx context.Context, bad *gobuild.GeneratedCodeError, owners map[string][]int, programs []Program) error {
	e := &GoError{Output: bad.Output}
	for line := range strings.Lines(bad.Output) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			e.Programs = append(e.Programs, owners[strings.TrimSpace(name)]...)
		}
	}
	if c.Apart || len(e.Programs) == 0 {
		return e
	}
	apart := *c
	apart.Apart = true
	var list []Program
	for _, i := range e.Programs {
		list = append(list, programs[i])
	}
	_, err := apart.Compile(ctx, list)
	var named *GoError
	switch {
	case errors.As(err, &named):
		for n, i := range named.Programs {
			named.Programs[n] = e.Programs[i]
		}
		return named
	case err != nil:
		return err
	}
	return fmt.Errorf("batch: Go refuses programs together that it takes one by one: %w", bad)
}
