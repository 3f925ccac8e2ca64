package typecheck

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// members finds the types in the heads of all declarations.
func (c *checker) members() {
	for _, class := range c.pkg.Classes {
		c.classMembers(class)
	}
	for _, f := range c.pkg.Funcs {
		d := f.Decl.(*ast.FuncDecl)
		c.signature(f, &d.Signature, c.fileOf[d])
		c.notInternal(&d.Signature, "no caller outside of the program calls the function "+f.name)
		if f.RO {
			c.report(diag.New(diag.BadReadOnly, d.RO, "only methods of an actorclass are ro; %s is a function", f.name).
				WithHelp("a function that an ro method calls is checked there"))
		}
		if f == c.pkg.Main {
			c.main(f, d)
		}
	}
}

func (c *checker) classMembers(class *Class) {
	fs := c.fileOf[class.Decl]
	for _, m := range class.Decl.Members {
		switch m := m.(type) {
		case *ast.FieldDecl:
			c.field(class, m, fs)
		case *ast.MethodDecl:
			c.method(class, m, fs)
		case *ast.CtorDecl:
			c.ctor(class, m, fs)
		case *ast.SnapshotDecl:
			c.snapshotBlock(class, m)
		case *ast.BadMember:
		default:
			assert.Unreachable("the checker does not know the member %T", m)
		}
	}
	if class.Ctor == nil {
		class.Ctor = c.implicitCtor(class)
	}
}

func (c *checker) addMember(class *Class, name ast.Name, obj Object) {
	if name.Text == "" {
		return
	}
	if old := class.members[name.Text]; old != nil {
		c.redeclared(name.Text, name.Span(), old.Span(), twice(obj, old))
		return
	}
	class.members[name.Text] = obj
}

func (c *checker) field(class *Class, d *ast.FieldDecl, fs *fileScope) {
	v := &Var{Kind: FieldVar, Decl: d, Class: class, Index: len(class.Fields), name: d.Name.Text, span: d.Name.Span(), Used: true}
	if t, ok := d.Type.(*ast.TableType); ok {
		v.typ = c.tableField(class, d, t, fs)
	} else {
		v.typ = c.typ(fs, d.Type)
	}
	c.noPending(v.typ, d.Type, "a field")
	v.typ = c.noOpaque(v.typ, d.Type, "a field cannot hold this")
	v.Yield = d.IsYield() || class.Kind == ast.ClientClass
	class.Fields = append(class.Fields, v)
	c.info.Defs[d] = v
	c.addMember(class, d.Name, v)
}

// aKind names a kind of class in a sentence.
func aKind(k ast.ClassKind) string {
	if k == ast.ActorClass {
		return "an " + k.String()
	}
	return "a " + k.String()
}

func (c *checker) noPending(t Type, at ast.Type, what string) {
	if containsPending(t) {
		c.report(diag.New(diag.BadTypeUse, at.Span(), "%s cannot have the type %s", what, t).
			WithHelp("pending results live in the locals of clients; await them and keep the result"))
	}
}

func containsPending(t Type) bool {
	switch t := t.(type) {
	case *Pending:
		return true
	case *Vector:
		return containsPending(t.Elem)
	case *Set:
		return containsPending(t.Elem)
	case *Optional:
		return containsPending(t.Elem)
	case *Map:
		return containsPending(t.Value)
	}
	return false
}

func (c *checker) method(class *Class, d *ast.MethodDecl, fs *fileScope) {
	m := &Func{Kind: Method, Pkg: c.pkg, Class: class, Decl: d, Body: d.Body, RO: d.IsRO() && !d.GoBody, Result: Invalid, Index: len(class.Methods), name: d.Name.Text, span: d.Name.Span(),
		Go: goBodyOf(&d.Signature, d.GoBody)}
	if d.GoBody {
		c.pkg.GoBodies = append(c.pkg.GoBodies, m)
	}
	if len(d.TypeParams) > 0 {
		c.later(d.TypeParams[0].Span(), "generic methods")
		c.addMember(class, d.Name, &badObject{d.Name.Text, d.Name.Span()})
		return
	}
	switch class.Kind {
	case ast.ActorClass:
		m.Context = ActorContext
	case ast.ClientClass:
		m.Context = ClientContext
	}
	c.signature(m, &d.Signature, fs)
	if class.Kind != ast.ValueClass {
		for _, p := range m.Params {
			c.noPending(p.typ, p.Decl.(*ast.Param).Type, "a parameter of a method")
			p.typ = c.noOpaque(p.typ, p.Decl.(*ast.Param).Type, "a method of %s cannot be given this", aKind(class.Kind))
		}
		if d.Result != nil {
			c.noPending(m.Result, d.Result, "the result of a method")
			m.Result = c.noOpaque(m.Result, d.Result, "a method of %s cannot return this", aKind(class.Kind))
		}
	}
	if m.RO && class.Kind == ast.ClientClass {
		c.errorAt(diag.BadReadOnly, d.RO, "only methods of an actorclass are ro; %s is a client class", class.name)
	}
	if m.RO && class.Kind == ast.ValueClass {
		c.report(diag.New(diag.BadReadOnly, d.RO, "only methods of an actorclass are ro; %s is a class", class.name).
			WithHelp("the compiler infers from the body of a method whether it changes its object").
			WithFix("remove ro", diag.Replace(ast.Span{Src: d.RO.Src, Start: d.RO.Start, End: spaceAfter(d.RO)}, "")))
	}
	if m.Internal = d.IsInternal(); m.Internal && class.Kind != ast.ActorClass {
		m.Internal = false
		c.notInternal(&d.Signature, "no caller outside of the program calls methods of "+class.name+", "+describe(class))
	}
	class.Methods = append(class.Methods, m)
	c.info.Defs[d] = m
	c.addMember(class, d.Name, m)
}

// notInternal refuses `internal` where doors would have nothing to hide.
func (c *checker) notInternal(s *ast.Signature, why string) {
	if s.IsInternal() {
		c.report(diag.New(diag.MisplacedModifier, s.Internal, "only methods of an actorclass are internal: %s", why).
			WithFix("remove internal", diag.Replace(ast.Span{Src: s.Internal.Src, Start: s.Internal.Start, End: spaceAfter(s.Internal)}, "")))
	}
}

// spaceAfter returns the end of the blanks behind a span.
func spaceAfter(s ast.Span) int32 {
	end := s.End
	for int(end) < len(s.Src.Text) && (s.Src.Text[end] == ' ' || s.Src.Text[end] == '\t') {
		end++
	}
	return end
}

// signature fills in parameters and result of f.
func (c *checker) signature(f *Func, s *ast.Signature, fs *fileScope) {
	f.Result = c.resultType(fs, s.Result)
	f.YieldResult = s.IsYield()
	if s.IsPure() && f.Body != nil {
		c.report(diag.New(diag.BadPure, s.Pure, "pure is a promise of Go code; the compiler infers from its body what %s does", f.FullName()).
			WithFix("remove pure", diag.Replace(ast.Span{Src: s.Pure.Src, Start: s.Pure.Start, End: spaceAfter(s.Pure)}, "")))
	}
	c.params(f, s.Params, fs)
}

func (c *checker) params(f *Func, params []*ast.Param, fs *fileScope) {
	for i, p := range params {
		v := &Var{Kind: ParamVar, Decl: p, Owner: f, Index: i, Yield: p.IsYield(), Used: true, name: p.Name.Text, span: p.Name.Span()}
		if v.typ = Invalid; !c.typeBehindName(fs, p.Type, p.Name) {
			v.typ = c.typ(fs, p.Type)
		}
		f.Params = append(f.Params, v)
		c.info.Defs[p] = v
	}
}

func (c *checker) ctor(class *Class, d *ast.CtorDecl, fs *fileScope) {
	f := &Func{Kind: Constructor, Pkg: c.pkg, Class: class, Decl: d, Body: d.Body, Result: Void, name: class.name, span: d.Name.Span()}
	switch class.Kind {
	case ast.ActorClass:
		f.Context = ActorContext
	case ast.ClientClass:
		f.Context = ClientContext
	}
	c.params(f, d.Params, fs)
	if class.Kind != ast.ValueClass {
		for _, p := range f.Params {
			p.typ = c.noOpaque(p.typ, p.Decl.(*ast.Param).Type, "a constructor of %s cannot be given this", aKind(class.Kind))
		}
	}
	c.info.Defs[d] = f
	if class.Ctor != nil {
		c.report(diag.New(diag.TwoConstructors, d.Name.Span(), "%s has a constructor already; a class has one", class.name).
			With(class.Ctor.span, "the first one").
			WithHelp("there is no overloading: give the constructor all parameters, or write a function that calls it"))
		return
	}
	class.Ctor = f
}

// implicitCtor is the constructor of a class without a written one. That of a
// value class takes the fields without initialiser; New.Fields says which of
// them a call sets.
func (c *checker) implicitCtor(class *Class) *Func {
	f := &Func{Kind: Constructor, Pkg: c.pkg, Class: class, Result: Void, name: class.name, span: class.Span()}
	switch class.Kind {
	case ast.ActorClass:
		f.Context = ActorContext
	case ast.ClientClass:
		f.Context = ClientContext
	case ast.ValueClass:
		for _, v := range class.Fields {
			if v.Field().Init == nil {
				f.ImplicitFields = append(f.ImplicitFields, v)
			}
		}
	}
	return f
}

// mustSet reports whether a field has to be set by the constructor: it has no
// initialiser and its type has no natural empty value.
func mustSet(v *Var) bool {
	if v.Field().Init != nil || v.typ == Invalid {
		return false
	}
	switch v.typ.(type) {
	case *Optional, *Table:
		return false
	}
	return !IsContainer(v.typ)
}

// layout reports value classes that contain themselves without an optional or
// container in between: such a value would have no end.
func (c *checker) layout() {
	const busy, done = 1, 2
	state := make(map[*Class]int)
	var path []*Var
	var visit func(*Class)
	visit = func(class *Class) {
		if class.Pkg != c.pkg || state[class] == done {
			return
		}
		state[class] = busy
		for _, f := range class.Fields {
			inner, ok := f.typ.(*Class)
			if !ok || inner.Kind != ast.ValueClass {
				continue
			}
			path = append(path, f)
			if state[inner] == busy {
				c.recursiveValue(inner, path)
			} else {
				visit(inner)
			}
			path = path[:len(path)-1]
		}
		state[class] = done
	}
	for _, class := range c.pkg.Classes {
		if class.Kind == ast.ValueClass {
			visit(class)
			class.ContainsItself = slices.ContainsFunc(class.Fields, func(f *Var) bool { return HasInside(f.typ, class) })
		}
	}
}

// HasInside reports whether a t is, or may have inside, an object of value class c. A class of another package has none of this one.
func HasInside(t Type, c *Class) bool {
	seen := make(map[*Class]bool)
	var has func(Type) bool
	has = func(t Type) bool {
		switch t := t.(type) {
		case *Optional:
			return has(t.Elem)
		case *Vector:
			return has(t.Elem)
		case *Map: // whose keys have no parts
			return has(t.Value)
		case *Class:
			if t == c {
				return true
			}
			if t.Kind != ast.ValueClass || t.Pkg != c.Pkg || seen[t] {
				return false
			}
			seen[t] = true
			return slices.ContainsFunc(t.Fields, func(f *Var) bool { return has(f.typ) })
		}
		return false
	}
	return has(t)
}

func (c *checker) recursiveValue(class *Class, path []*Var) {
	start := len(path) - 1
	for path[start].Class != class {
		start--
	}
	last := path[len(path)-1]
	d := diag.New(diag.RecursiveValue, class.Span(), "a value of class %s would contain itself without end", class.name)
	for _, f := range path[start:] {
		d = d.With(f.span, "%s is part of every %s", f.typ, f.Class.name)
	}
	d = d.WithHelp("make one of the fields optional (`%s?`), or put it into a vector", last.typ)
	if len(path)-start == 1 {
		d = d.WithFix("make it optional", diag.InsertAfter(last.Field().Type.Span(), "?"))
	}
	c.report(d)
	for _, f := range path[start:] {
		f.typ = Invalid
	}
}
