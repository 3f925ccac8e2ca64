package typecheck

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// GoType is a Go type that an `extern go` block binds: `type T;`. If Go encodes its values as texts, a value is its text in aeon, and
// the type is a Basic of the kind string. Else a value is opaque, and the type is the GoType itself.
type GoType struct {
	Pkg     *Package
	Decl    *ast.ExternType
	Path    string // of the Go package that the declaration names
	Package *GoPackage
	Named   *types.Named
	Methods []*Func // in source order

	name    string
	typ     Type // Invalid if the declaration is wrong
	members map[string]*Func
}

// Name implements Object.
func (t *GoType) Name() string { return t.name }

// Type implements Object.
func (t *GoType) Type() Type { return t.typ }

// Span implements Object.
func (t *GoType) Span() ast.Span { return t.Decl.Name.Span() }

func (t *GoType) String() string { return t.name }

func (*GoType) aType() {}

// Opaque reports whether values are such that Go alone knows what they are.
func (t *GoType) Opaque() bool { return t.typ == t }

// GoText returns the type as Go code writes it.
func (t *GoType) GoText() string { return goText(t.Named) }

// IsInterface reports whether the Go type is an interface: else an opaque value is a pointer.
func (t *GoType) IsInterface() bool { return types.IsInterface(t.Named) }

// GoTypeBehind returns the Go type that values of type t are of; nil if t is a type of aeon.
func GoTypeBehind(t Type) *GoType {
	switch t := t.(type) {
	case *GoType:
		return t
	case *Basic:
		return t.of
	}
	return nil
}

// IsOpaque reports whether t is a Go type whose values have no text, or T? of one.
func IsOpaque(t Type) bool {
	_, ok := nonNull(t).(*GoType)
	return ok
}

// collectExternType declares `type T;` of an `extern go` block.
func (c *checker) collectExternType(block *ast.ExternGoDecl, d *ast.ExternType) {
	t := &GoType{Pkg: c.pkg, Decl: d, name: d.Name.Text, typ: Invalid, members: map[string]*Func{}}
	if block.Path != nil {
		t.Path = block.Path.Value
	}
	c.info.Defs[d] = t
	c.declare(d.Name, t)
	c.pkg.GoTypes = append(c.pkg.GoTypes, t)
}

// bindTypes finds the Go types of all `extern go` blocks.
func (c *checker) bindTypes() {
	for _, block := range c.externs {
		pkg := c.goPackage(block)
		c.goPackages[block] = pkg
		for _, d := range block.Types() {
			if pkg != nil {
				c.bindType(c.info.Defs[d].(*GoType), pkg)
			}
		}
	}
}

// bindType finds the Go type that t stands for.
func (c *checker) bindType(t *GoType, from *GoPackage) {
	pkg := from.Types
	wrong := func(format string, args ...any) *diag.Diagnostic {
		return c.errorAt(diag.GoFunction, t.Span(), format, args...)
	}
	obj, ok := pkg.Scope().Lookup(t.name).(*types.TypeName)
	if !ok || !obj.Exported() {
		what := "no type"
		if ok {
			what = "no exported type"
		} else if pkg.Scope().Lookup(t.name) != nil {
			what = "something that is no type and is called"
		}
		c.didYouMean(wrong("the Go package %q has %s %s", t.Path, what, t.name), t.Span(), c.similar(t.name, func(yield func(string)) {
			for _, n := range pkg.Scope().Names() {
				if _, typ := pkg.Scope().Lookup(n).(*types.TypeName); typ && token.IsExported(n) {
					yield(n)
				}
			}
		}))
		return
	}
	n, ok := types.Unalias(obj.Type()).(*types.Named)
	switch {
	case !ok:
		wrong("in Go %s.%s is another name of %s, which is no type of its own", pkg.Name(), t.name, goText(types.Unalias(obj.Type()))).Help = "write what it is in aeon, or declare a type in Go: `type T …`"
		return
	case n.TypeParams().Len() > 0 || n.TypeArgs().Len() > 0:
		wrong("the Go type %s.%s is generic", pkg.Name(), t.name).Help = "declare one in Go that has no type parameters, around the instance that is meant"
		return
	}
	if _, can := named(n); !can {
		wrong("the Go type %s is of Go's own code, and other packages cannot name it", goText(n))
		return
	}
	for _, ours := range []Type{Time, Duration} {
		if GoTypeOf(ours, n) {
			wrong("the Go type %s is `%s` in aeon", goText(n), ours).Help = fmt.Sprintf("write `%s`, without a declaration", ours)
			return
		}
	}
	t.Package, t.Named, t.typ = from, n, t
	if hasText(n) {
		t.typ = &Basic{Kind: StringKind, name: t.name, of: t}
	}
}

// hasText reports whether Go encodes values of the type as texts, and decodes them.
func hasText(n *types.Named) bool {
	octets, failure := types.NewSlice(types.Typ[types.Byte]), types.Universe.Lookup("error").Type()
	v := func(t types.Type) *types.Tuple { return types.NewTuple(types.NewParam(token.NoPos, nil, "", t)) }
	encode := types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, nil, "", octets), types.NewParam(token.NoPos, nil, "", failure)), false)
	decode := types.NewSignatureType(nil, nil, nil, v(octets), v(failure), false)
	has := func(name string, want *types.Signature) bool {
		m := goMethod(n, name)
		return m != nil && types.Identical(m.Signature(), want)
	}
	return !types.IsInterface(n) && has("MarshalText", encode) && has("UnmarshalText", decode)
}

// goMethod returns the exported method that values of n, or pointers to them, have; nil if there is none.
func goMethod(n *types.Named, name string) *types.Func {
	var of types.Type = n
	if !types.IsInterface(n) {
		of = types.NewPointer(n)
	}
	obj, _, _ := types.LookupFieldOrMethod(of, true, n.Obj().Pkg(), name)
	m, ok := obj.(*types.Func)
	if !ok || !m.Exported() {
		return nil
	}
	return m
}

// isGoType reports whether g is the Go type t, or a pointer to it.
func isGoType(t *GoType, g types.Type) bool {
	if p, ok := g.(*types.Pointer); ok && !t.IsInterface() {
		g = types.Unalias(p.Elem())
	}
	return sameNamed(t.Named, g)
}

// sameNamed reports whether g is n. Each archive that is read has objects of its own for the types of other packages.
func sameNamed(n *types.Named, g types.Type) bool {
	other, ok := g.(*types.Named)
	return ok && other.TypeArgs().Len() == 0 && other.Obj().Pkg() != nil && other.Obj().Name() == n.Obj().Name() &&
		other.Obj().Pkg().Path() == n.Obj().Pkg().Path() && other.Obj().Parent() == other.Obj().Pkg().Scope()
}

// receiver finds the type that a method of an `extern go` block belongs to, or reports that there is none.
func (c *checker) externReceiver(f *Func, d *ast.ExternFunc) {
	t, ok := c.pkg.scope[d.Recv.Text].(*GoType)
	switch {
	case !ok:
		c.errorAt(diag.GoFunction, d.Recv.Span(), "%s is no Go type that this package binds", d.Recv.Text).
			Help = fmt.Sprintf("declare it in the block of its Go package: `type %s;`", d.Recv.Text)
		return
	case t.Path != f.Go.Path:
		c.report(diag.New(diag.GoFunction, d.Recv.Span(), "%s is a type of the Go package %q, and not of %q", t.name, t.Path, f.Go.Path).
			With(t.Span(), "declared here").WithHelp("its methods stand in a block of its own package"))
		return
	}
	f.Go.Recv = t
	if old := t.members[f.name]; old != nil {
		c.redeclared(f.FullName(), d.Name.Span(), old.span, noOverloading)
		return
	}
	t.members[f.name] = f
	t.Methods = append(t.Methods, f)
}

// callGoMethod checks a call of a method of a Go type.
func (b *body) callGoMethod(x *ast.Call, fun, recv ast.Expr, name ast.Name, t *GoType, optional bool) operand {
	f := t.members[name.Text]
	if f == nil {
		d := b.errorAt(diag.UnknownMember, name.Span(), "%s has no method %s", t.name, name.Text)
		b.didYouMean(d, name.Span(), b.similar(name.Text, func(yield func(string)) {
			for n := range t.members {
				yield(n)
			}
		}))
		if m := goMethod(t.Named, name.Text); m != nil && d.Help == "" {
			d.Help = fmt.Sprintf("Go has `%s`: declare it in the `extern go` block", methodText(t, m))
		}
		b.looseArgs(x)
		return invalid
	}
	b.undecorated(x, "a method of a Go type")
	if f.Go.Wrong {
		b.looseArgs(x)
		return invalid
	}
	b.info.Uses[fun] = f
	info := &Call{Kind: FuncCall, Func: f, Recv: recv, RecvType: t.typ, Optional: optional, Result: f.Result}
	b.args(x, f, info)
	if optional {
		info.Result = makeOptional(info.Result)
	}
	return b.recordCall(x, info)
}

// methodText is the head of a Go method as Go code writes it.
func methodText(t *GoType, m *types.Func) string {
	recv := t.GoText()
	if p, ok := m.Signature().Recv().Type().(*types.Pointer); ok && !t.IsInterface() && sameNamed(t.Named, p.Elem()) {
		recv = "*" + recv
	}
	return "func (" + recv + ") " + m.Name() + goText(m.Signature())[len("func"):]
}

// noOpaque reports a Go type whose values have no text where they cannot stand, and returns Invalid then.
func (c *checker) noOpaque(t Type, at ast.Node, format string, args ...any) Type {
	if !IsOpaque(t) {
		return t
	}
	c.report(opaqueHere(t, at.Span(), format, args...))
	return Invalid
}

// opaqueHere is the error for a value that Go alone knows in a place where it cannot stand.
func opaqueHere(t Type, at ast.Span, format string, args ...any) diag.Diagnostic {
	g := nonNull(t).(*GoType)
	return diag.New(diag.GoOpaque, at, "%s: %s is a Go type without a text, which cannot be stored, sent or compared", fmt.Sprintf(format, args...), t).
		With(g.Span(), "declared here").
		WithHelp("it may stand in locals, and in parameters and results of functions; keep what Go functions make it of, or give %s in Go the methods MarshalText and UnmarshalText", g.GoText())
}
