package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/program"
)

// compile makes an executable of checked packages: of one program, or of the
// tests of all of them. Ctrl-C ends it.
func compile(env *environment, kind build.Kind, named []*program.Package, name string, debug, quiet bool) (build.Result, error) {
	req := build.Request{Kind: kind, Name: name, Debug: debug}
	done, imported := map[*program.Package]bool{}, map[*program.Package]bool{}
	for _, root := range named {
		for _, p := range root.Closure() {
			imported[p] = imported[p] || p != root
		}
	}
	for _, root := range named {
		done[root] = true
		p, err := generate(root, !imported[root])
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
			q, err := generate(p, false)
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
	if !quiet {
		b.Progress = func(first bool) {
			if first {
				env.say("compiling %s and, this once, the runtime", name)
			} else {
				env.say("compiling %s", name)
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return b.Build(ctx, req)
}

// generate turns a package into Go that says where in the .aeon files it comes from; no other imports an entry.
func generate(p *program.Package, entry bool) (build.Package, error) {
	opts := codegen.Options{SourceName: absoluteName, Entry: entry}
	for _, im := range p.Closure() {
		if im != p {
			opts.Imports = append(opts.Imports, codegen.Import{Info: im.Info, Path: build.ImportPath(im.Dir, codegen.GoPackageName(im.Name()))})
		}
	}
	files, err := codegen.Generate(p.Info, opts)
	if err != nil {
		return build.Package{}, programError{err}
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

// loadProgram loads the one package that has a main function and reports what is
// wrong with it.
func loadProgram(env *environment, args []string) (*program.Package, error) {
	loader, named, err := load(args)
	if err != nil {
		return nil, err
	}
	if err := env.diagnose(loader.Packages(), "human"); err != nil {
		return nil, err
	}
	if len(named) != 1 {
		return nil, usagef("one program at a time, not %d", len(named))
	}
	if named[0].Info.Package.Main == nil {
		hint := ""
		if named[0].Info.Package.Lookup("Main") != nil {
			hint = "\n\tMain is a function like any other: main has a small letter"
		}
		env.say("package %s has no main function, so there is nothing to run\n\twrite one: void main() { … }; `aeonc test` runs the tests of a package without main%s", named[0].Name(), hint)
		return nil, codeError(exitDiagnostics)
	}
	return named[0], nil
}
