package main

import (
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/runtime/protocodec"
	"github.com/aeon-lang/aeon/typecheck"
)

// protoFiles returns the .proto files of a program, to be written into a directory. Package protocodec makes them of what the
// compiler tells the runtime, as it does in a program that is called.
func protoFiles(root *load.Package, dir string) ([]codegen.File, error) {
	var p protocodec.Program
	for _, info := range infos(root) {
		for _, c := range info.Package.Classes {
			switch c.Kind {
			case ast.ActorClass:
				p.Classes = append(p.Classes, protoClass(c))
			case ast.ClientClass:
				p.Clients = append(p.Clients, protoClass(c))
			}
		}
	}
	schema, err := protocodec.Compile(p)
	if err != nil {
		return nil, &gobuild.ProgramError{Err: err}
	}
	var files []codegen.File
	for _, f := range schema.Files {
		text := f.Source(strings.TrimPrefix(generatedMark, "// "))
		files = append(files, codegen.File{Name: filepath.Join(dir, f.Name()), Content: []byte(text)})
	}
	return files, nil
}

func protoClass(c *typecheck.Class) protocodec.Class {
	of := protocodec.Class{Package: c.Pkg.Name, Name: c.Name(), Doc: c.Decl.Doc.Text()}
	for _, m := range c.Offered() {
		made := protocodec.Method{Name: m.Name(), Signature: codegen.Signature(m)}
		if d, ok := m.Decl.(*ast.MethodDecl); ok {
			made.Doc = d.Doc.Text()
		}
		for _, p := range m.Params {
			made.Params = append(made.Params, p.Name())
		}
		of.Methods = append(of.Methods, made)
	}
	return of
}
