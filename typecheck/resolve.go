package typecheck

import (
	"fmt"
	"path"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// collect declares the names of all files at the top level of the package.
func (c *checker) collect() {
	for _, f := range c.pkg.Files {
		fs := &fileScope{file: f, imports: make(map[string]*PkgName)}
		c.files[f] = fs
		c.packageClause(f)
		for _, d := range f.Decls {
			c.fileOf[d] = fs
			c.collectDecl(d)
		}
	}
	// After the declarations: an import may not hide one.
	for _, f := range c.pkg.Files {
		for _, im := range f.Imports {
			c.importDecl(c.files[f], im)
		}
	}
}

func (c *checker) packageClause(f *ast.File) {
	if f.Package == nil {
		return // the parser has said so
	}
	name := f.Package.Name.Text
	if c.pkg.Name == "" {
		c.pkg.Name = name
	} else if c.pkg.Name != name {
		c.report(diag.New(diag.PackageMismatch, f.Package.Name.Span(), "package %s, but the other files of this directory say %s", name, c.pkg.Name).
			WithHelp("all files of a directory belong to one package").
			WithFix("rename it to "+c.pkg.Name, diag.Replace(f.Package.Name.Span(), c.pkg.Name)))
	}
}

func (c *checker) importDecl(fs *fileScope, im *ast.ImportDecl) {
	if im.Path == nil {
		return
	}
	name := path.Base(im.Path.Value)
	var pkg *Package
	if c.opts.Import == nil {
		c.errorf(diag.BadImport, im, "cannot import %q: there are no packages to import here", im.Path.Value)
	} else if p, err := c.opts.Import(im.Path.Value); err != nil {
		d := c.errorf(diag.BadImport, im, "cannot import %q: %v", im.Path.Value, err)
		if !strings.HasPrefix(im.Path.Value, ".") {
			d.Help = fmt.Sprintf("what is imported is written in aeon; functions of a Go package are declared: `extern go %q { … }`", im.Path.Value)
		}
	} else {
		pkg, name = p, p.Name
	}
	span := im.Path.Span()
	if im.Alias != nil {
		name, span = im.Alias.Text, im.Alias.Span()
	}
	if old := fs.imports[name]; old != nil {
		c.redeclared(name, span, old.Span(), oneName)
		return
	}
	if old := c.pkg.scope[name]; old != nil {
		c.redeclared(name, span, old.Span(), oneName)
		return
	}
	fs.imports[name] = &PkgName{Decl: im, Pkg: pkg, name: name}
}

// What to do about a name that is declared twice.
const (
	oneName        = "give one of them another name"
	noOverloading  = "there is no overloading: give one of them another name"
	assignOrRename = "a value is assigned to it without the type, `%s = …;`; another variable has another name"
)

func (c *checker) redeclared(name string, at, before ast.Span, help string) {
	d := diag.New(diag.Redeclared, at, "%s is declared twice", name).WithHelp("%s", help)
	if before.IsValid() {
		d = d.With(before, "first declared here")
	}
	c.report(d)
}

// twice says what to do about two things of one name.
func twice(a, b Object) string {
	_, first := a.(*Func)
	_, second := b.(*Func)
	if first && second {
		return noOverloading
	}
	return oneName
}

// declare puts obj into the package's scope, unless the name is taken.
func (c *checker) declare(name ast.Name, obj Object) bool {
	if name.Text == "" {
		return false
	}
	if old := c.pkg.scope[name.Text]; old != nil {
		c.redeclared(name.Text, name.Span(), old.Span(), twice(obj, old))
		return false
	}
	c.pkg.scope[name.Text] = obj
	return true
}

func (c *checker) collectDecl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.ClassDecl:
		c.collectClass(d)
	case *ast.EnumDecl:
		c.collectEnum(d)
	case *ast.ConstDecl:
		k := &Const{Decl: d, Pkg: c.pkg, typ: Invalid}
		c.info.Defs[d] = k
		c.declare(d.Name, k)
		c.pkg.Consts = append(c.pkg.Consts, k)
		c.consts[k] = &constState{file: c.fileOf[d]}
	case *ast.FuncDecl:
		c.collectFunc(d)
	case *ast.TestDecl:
		f := &Func{Kind: Test, Pkg: c.pkg, Decl: d, Body: d.Body, Result: Void, Context: ClientContext, Index: len(c.pkg.Tests), span: d.Span()}
		if d.Name != nil {
			f.name, f.span = d.Name.Value, d.Name.Span()
		}
		c.testNamed(f)
		c.info.Defs[d] = f
		c.pkg.Tests = append(c.pkg.Tests, f)
	case *ast.ExternGoDecl:
		c.collectExtern(d)
	case *ast.BadDecl:
	default:
		assert.Unreachable("the checker does not know the declaration %T", d)
	}
}

// testNamed reports a test whose name another one has.
func (c *checker) testNamed(f *Func) {
	old := c.tests[f.name]
	if old == nil || f.name == "" {
		c.tests[f.name] = f
		return
	}
	c.report(diag.New(diag.Redeclared, f.span, "test %q is declared twice", f.name).
		With(old.span, "first declared here").
		WithHelp("reports and `aeonc test --run` know tests by their names: give each its own"))
}

func (c *checker) collectClass(d *ast.ClassDecl) {
	if len(d.TypeParams) > 0 {
		c.later(d.TypeParams[0].Span(), "generic classes")
		c.declare(d.Name, &badObject{d.Name.Text, d.Name.Span()})
		return
	}
	class := &Class{Kind: d.Kind, Pkg: c.pkg, Decl: d, name: d.Name.Text, members: make(map[string]Object), index: len(c.pkg.Classes)}
	c.info.Defs[d] = class
	c.declare(d.Name, class)
	c.pkg.Classes = append(c.pkg.Classes, class)
}

func (c *checker) collectEnum(d *ast.EnumDecl) {
	e := &Enum{Pkg: c.pkg, Decl: d, name: d.Name.Text}
	c.info.Defs[d] = e
	c.declare(d.Name, e)
	c.pkg.Enums = append(c.pkg.Enums, e)
	seen := make(map[string]*EnumValue, len(d.Values))
	for _, v := range d.Values {
		if v.Payload != nil {
			c.later(v.Span(), "enum values with a payload")
		}
		value := &EnumValue{Enum: e, Decl: v, Index: len(e.Values)}
		if old := seen[v.Name.Text]; old != nil {
			c.redeclared(v.Name.Text, v.Name.Span(), old.Span(), oneName)
			continue
		}
		seen[v.Name.Text] = value
		c.info.Defs[v] = value
		e.Values = append(e.Values, value)
		c.values[v.Name.Text] = append(c.values[v.Name.Text], value)
	}
}

func (c *checker) collectFunc(d *ast.FuncDecl) {
	if len(d.TypeParams) > 0 {
		c.later(d.TypeParams[0].Span(), "generic functions")
		c.declare(d.Name, &badObject{d.Name.Text, d.Name.Span()})
		return
	}
	f := &Func{Kind: FreeFunc, Pkg: c.pkg, Decl: d, Body: d.Body, RO: d.IsRO() && !d.GoBody, Result: Invalid, Index: len(c.pkg.Funcs), name: d.Name.Text, span: d.Name.Span(),
		Go: goBodyOf(&d.Signature, d.GoBody)}
	if d.GoBody {
		c.pkg.GoBodies = append(c.pkg.GoBodies, f)
	}
	c.info.Defs[d] = f
	if c.declare(d.Name, f) && d.IsMain() {
		c.pkg.Main = f
		f.Context = ClientContext
	}
	c.pkg.Funcs = append(c.pkg.Funcs, f)
}

// later reports something that the language has but this version does not.
func (c *checker) later(at ast.Span, what string) {
	c.report(diag.New(diag.LaterVersion, at, "%s come with a later version of aeonc", what))
}
