package gobuild

import (
	"context"
	"path/filepath"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/ast"
)

// Options say what is made.
type Options struct {
	Kind  Kind
	Name  string // base name of the executable
	Debug bool   // keep what a debugger needs
	Store bool   // with the store, so that the program can keep its state on disk
	GRPC  bool   // with gRPC, too

	Cluster bool // so that it can be a node of a cluster
	Nodes   bool // so that it can run on several stores in its process; without Store
	// Say, if set, is told what takes time, in words for users.
	Say func(format string, args ...any)
}

// ProgramError is what is wrong with a program beyond its diagnostics, such as a
// construct that this version does not compile.
type ProgramError struct{ Err error }

func (e *ProgramError) Error() string { return e.Err.Error() }

func (e *ProgramError) Unwrap() error { return e.Err }

// Compile makes one executable of the packages in named, which have no errors, and
// of what they import: a program, or the tests of all of them. The errors are
// *ProgramError and those of Builder.
func Compile(ctx context.Context, named []*load.Package, o Options) (Result, error) {
	req := Request{Kind: o.Kind, Name: o.Name, Debug: o.Debug, Store: o.Store, GRPC: o.GRPC, Cluster: o.Cluster, Nodes: o.Nodes}
	done, imported := map[*load.Package]bool{}, map[*load.Package]bool{}
	for _, root := range named {
		for _, p := range root.Closure() {
			imported[p] = imported[p] || p != root
		}
	}
	for _, root := range named {
		done[root] = true
		p, err := Generate(root, !imported[root])
		if err != nil {
			return Result{}, err
		}
		req.Packages = append(req.Packages, p)
	}
	for _, root := range named {
		for _, p := range root.Closure() {
			if done[p] {
				continue
			}
			done[p] = true
			q, err := Generate(p, false)
			if err != nil {
				return Result{}, err
			}
			req.Imported = append(req.Imported, q)
		}
	}
	cache, err := DefaultCache()
	if err != nil {
		return Result{}, err
	}
	b := Builder{Cache: cache, Runtime: aeon.RuntimeSource()}
	if o.Say != nil {
		b.Progress = func(first First) { sayFirst(o.Say, o.Name, first) }
	}
	return b.Build(ctx, req)
}

func sayFirst(say func(string, ...any), name string, first First) {
	switch {
	case first.Store:
		say("compiling %s and, once on this machine, the store: that takes about a minute", name)
	case first.Runtime:
		say("compiling %s and, this once, the runtime", name)
	default:
		say("compiling %s", name)
	}
}

// Generate turns a package into Go that says where in the .aeon files it comes from; no other imports an entry.
func Generate(p *load.Package, entry bool) (Package, error) {
	out, err := placed(p)
	if err != nil {
		return Package{}, err
	}
	opts := codegen.Options{SourceName: absoluteName, Entry: entry}
	for _, im := range p.Closure() {
		if im != p {
			q, err := placed(im)
			if err != nil {
				return Package{}, err
			}
			opts.Imports = append(opts.Imports, codegen.Import{Info: im.Info, Path: q.ImportPath()})
		}
	}
	files, err := codegen.Generate(p.Info, opts)
	if err != nil {
		return Package{}, &ProgramError{err}
	}
	for _, f := range files {
		out.Files = append(out.Files, File{Name: f.Name, Data: f.Content})
	}
	return out, nil
}

// placed returns the Go package of p, without files.
func placed(p *load.Package) (Package, error) {
	place, err := PlaceOf(p)
	return Package{Name: codegen.GoPackageName(p.Name()), Dir: p.Dir, Place: place}, err
}

func absoluteName(src *ast.Source) string {
	abs, err := filepath.Abs(src.Name)
	if err != nil {
		return src.Name
	}
	return abs
}
