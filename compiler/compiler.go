// Package compiler turns checked packages into executables: it generates their
// Go and has it built. What is wrong with a program has been reported before, by
// program and typecheck.
package compiler

import (
	"context"
	"path/filepath"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/program"
)

// Options say what is made.
type Options struct {
	Kind  build.Kind
	Name  string // base name of the executable
	Debug bool   // keep what a debugger needs
	Store bool   // with the store, so that the program can keep its state on disk
	// Say, if set, is told what takes time, in words for people.
	Say func(format string, args ...any)
}

// ProgramError is what is wrong with a program beyond its diagnostics, such as a
// construct that this version does not compile.
type ProgramError struct{ Err error }

func (e *ProgramError) Error() string { return e.Err.Error() }

func (e *ProgramError) Unwrap() error { return e.Err }

// Compile makes one executable of the packages in named, which have no errors, and
// of what they import: a program, or the tests of all of them. The errors are
// *ProgramError and those of build.Builder.
func Compile(ctx context.Context, named []*program.Package, o Options) (build.Result, error) {
	req := build.Request{Kind: o.Kind, Name: o.Name, Debug: o.Debug, Store: o.Store}
	done, imported := map[*program.Package]bool{}, map[*program.Package]bool{}
	for _, root := range named {
		for _, p := range root.Closure() {
			imported[p] = imported[p] || p != root
		}
	}
	for _, root := range named {
		done[root] = true
		p, err := Generate(root, !imported[root])
		if err != nil {
			return build.Result{}, err
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
				return build.Result{}, err
			}
			req.Imported = append(req.Imported, q)
		}
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return build.Result{}, err
	}
	b := build.Builder{Cache: cache, Runtime: aeon.RuntimeSource()}
	if o.Say != nil {
		b.Progress = func(first build.First) { sayFirst(o.Say, o.Name, first) }
	}
	return b.Build(ctx, req)
}

func sayFirst(say func(string, ...any), name string, first build.First) {
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
func Generate(p *program.Package, entry bool) (build.Package, error) {
	opts := codegen.Options{SourceName: absoluteName, Entry: entry}
	for _, im := range p.Closure() {
		if im != p {
			opts.Imports = append(opts.Imports, codegen.Import{Info: im.Info, Path: build.ImportPath(im.Dir, codegen.GoPackageName(im.Name()))})
		}
	}
	files, err := codegen.Generate(p.Info, opts)
	if err != nil {
		return build.Package{}, &ProgramError{err}
	}
	out := build.Package{Name: codegen.GoPackageName(p.Name()), Dir: p.Dir}
	for _, f := range files {
		out.Files = append(out.Files, build.File{Name: f.Name, Data: f.Content})
	}
	return out, nil
}

func absoluteName(src *ast.Source) string {
	abs, err := filepath.Abs(src.Name)
	if err != nil {
		return src.Name
	}
	return abs
}
