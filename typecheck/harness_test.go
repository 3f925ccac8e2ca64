package typecheck

import (
	"errors"
	"fmt"
	goast "go/ast"
	gotypes "go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// importer knows example.com/shapes, the package that tests may import.
func importer(t testing.TB) func(string) (*Package, error) {
	return func(path string) (*Package, error) {
		if path != "example.com/shapes" {
			return nil, errors.New("there is no such package")
		}
		text, err := os.ReadFile(filepath.Join("..", "testdata", "typecheck", "shapes.aeon"))
		if err != nil {
			t.Fatal(err)
		}
		info, diags := checkText(t, "shapes.aeon", string(text), Options{Path: path})
		if len(diags) > 0 {
			t.Fatalf("package shapes: %v", diags)
		}
		return info.Package, nil
	}
}

// goRead has the packages that were read. Each is read by an importer of its own, as the tools do: it has only those types of other
// packages that it mentions.
var goRead struct {
	sync.Mutex
	packages map[string]*types.Package
}

// standardGo knows the packages of Go's standard library.
func standardGo(path string) (*GoPackage, error) {
	goRead.Lock()
	defer goRead.Unlock()
	pkg := goRead.packages[path]
	if pkg == nil {
		var err error
		if pkg, err = gotypes.ForCompiler(token.NewFileSet(), "gc", nil).Import(path); err != nil {
			return nil, errors.New("there is no such package")
		}
		if goRead.packages == nil {
			goRead.packages = map[string]*types.Package{}
		}
		goRead.packages[path] = pkg
	}
	return &GoPackage{Types: pkg, Standard: true}, nil
}

// checkText parses and checks one file.
func checkText(t testing.TB, name, text string, opts Options) (*Info, []diag.Diagnostic) {
	t.Helper()
	f, diags := lang.Parse(name, []byte(text))
	if len(diags) > 0 {
		t.Fatalf("syntax errors: %v\n%s", diags, text)
	}
	return Check([]*ast.File{f}, opts)
}

// checkProgram checks a program: one file, or a txtar archive whose comment is
// the first file.
func checkProgram(t testing.TB, text string) (*Info, []diag.Diagnostic) {
	t.Helper()
	info, diags, syntax := checkLoose(t, text)
	if len(syntax) > 0 {
		t.Fatalf("syntax errors: %v\n%s", syntax, text)
	}
	return info, diags
}

// checkLoose is checkProgram for programs that may have syntax errors.
func checkLoose(t testing.TB, text string) (info *Info, diags, syntax []diag.Diagnostic) {
	a := txtar.Parse([]byte(text))
	list := append([]txtar.File{{Name: "first.aeon", Data: a.Comment}}, a.Files...)
	var files []*ast.File
	for _, f := range list {
		if len(f.Data) == 0 || !strings.HasSuffix(f.Name, ".aeon") {
			continue
		}
		tree, ds := lang.Parse(f.Name, f.Data)
		syntax = append(syntax, ds...)
		files = append(files, tree)
	}
	info, diags = Check(files, Options{Import: importer(t), Go: goBeside(t, a)})
	return info, diags, syntax
}

// goBeside knows the packages of Go's standard library, and that of the files go/*.go of an archive.
func goBeside(t testing.TB, a *txtar.Archive) func(string) (*GoPackage, error) {
	fset := token.NewFileSet()
	var list []*goast.File
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "go/") {
			file, err := parser.ParseFile(fset, f.Name, f.Data, 0)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, file)
		}
	}
	return func(path string) (*GoPackage, error) {
		switch {
		case path != GoBodyPath:
			return standardGo(path)
		case list == nil:
			return nil, errors.New("there is no directory go in .")
		}
		pkg, err := (&types.Config{Importer: gotypes.ForCompiler(fset, "gc", nil)}).Check("example.com/app/go", fset, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		return &GoPackage{Types: pkg}, nil
	}
}

func codesOf(list []diag.Diagnostic) []diag.Code {
	var out []diag.Code
	for _, d := range list {
		out = append(out, d.Code)
	}
	return out
}

// show is the golden form of diagnostics: place, code, message, and below it
// labels, help and fix.
func show(diags []diag.Diagnostic) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintln(&b, d)
		for _, s := range d.Secondary {
			fmt.Fprintf(&b, "\t%s: %s\n", s.Span, s.Text)
		}
		if d.Help != "" {
			fmt.Fprintf(&b, "\thelp: %s\n", d.Help)
		}
		if d.Fix != nil {
			fmt.Fprintf(&b, "\tfix: %s\n", d.Fix.Text)
		}
	}
	return b.String()
}
