package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// valueClass emits a value class: the struct, its constructor and methods.
func (p *pkg) valueClass(w *writer, c *typecheck.Class) {
	name := p.names.obj[c]
	p.classDoc(w, c, "a value class")
	w.add("type %s struct {", name)
	p.structFields(w, c)
	w.add("}")
	w.add("")
	if c.Ctor != nil && c.Ctor.Decl != nil {
		p.valueConstructor(w, c)
	}
	for _, m := range c.Methods {
		if m.Go == nil { // else externgo.go
			p.valueMethod(w, c, m)
		}
	}
}

// valuePlumbing emits what containers, print and codecs need of a value class.
func (p *pkg) valuePlumbing(w *writer, c *typecheck.Class) {
	p.sharing(w, c)
	if !p.opts.Entry {
		p.equality(w, c)
		p.classText(w, c)
	}
	if plainRefs(c, map[*typecheck.Class]bool{}) {
		p.eachRef(w, c)
	}
	p.recordCodec(w, c)
	p.implicitConstructor(w, c)
	p.accessors(w, c)
}

// usedMethods emits the equalities and texts that are used, and those that they use, where the rest is left out.
func (p *pkg) usedMethods(w *writer) {
	done := map[generated]bool{}
	for more := p.opts.Entry; more; {
		more = false
		for _, c := range p.info.Package.Classes {
			for _, kind := range []string{"Equal", "Str"} {
				if g := (generated{c, kind}); p.used[g] && !done[g] {
					done[g], more = true, true
					if kind == "Equal" {
						p.equality(w, c)
					} else {
						p.classText(w, c)
					}
				}
			}
		}
	}
}

func (p *pkg) classDoc(w *writer, c *typecheck.Class, what string) {
	if doc := c.Decl.Doc.Text(); doc != "" {
		w.doc(doc)
		return
	}
	w.add("// %s is %s.", p.names.obj[c], what)
}

func (p *pkg) structFields(w *writer, c *typecheck.Class) {
	for _, f := range c.Fields {
		if d := f.Field(); d != nil && d.Doc.Text() != "" {
			w.doc(d.Doc.Text())
		}
		w.add("%s %s", p.names.obj[f], p.goType(f.Type()))
	}
}

// sharing emits Share and MarkShared, if copies of the class need them.
func (p *pkg) sharing(w *writer, c *typecheck.Class) {
	if !p.shares(c) {
		return
	}
	name := p.names.obj[c]
	w.add("// MarkShared marks what the value contains as having a second owner.")
	w.add("func (self *%s) MarkShared() {", name)
	for _, f := range c.Fields {
		if p.shares(f.Type()) {
			w.add("self.%s.MarkShared()", p.names.obj[f])
		}
	}
	w.add("}")
	w.add("")
	w.add("// Share returns a copy of the value.")
	w.add("func (self %s) Share() %s {", name, name)
	w.add("self.MarkShared()")
	w.add("return self")
	w.add("}")
	w.add("")
}

func (p *pkg) equality(w *writer, c *typecheck.Class) {
	if p.comparable(c) {
		return
	}
	name := p.names.obj[c]
	in := c
	if !c.ContainsItself {
		in = nil
	}
	var parts []string
	for _, f := range c.Fields {
		n := p.names.obj[f]
		parts = append(parts, p.equalIn(in, f.Type(), "self."+n, "other."+n))
	}
	w.add("// Equal reports whether both values have equal fields.")
	w.add("func (self %s) Equal(other %s) bool {", name, name)
	if in != nil {
		w.add("var later aeonrt.Later")
		w.add("return self.EqualWithin(later.Walk(), other) && later.Rest()")
		w.add("}")
		w.add("")
		w.add("// EqualWithin is Equal within a walk, which compares later what lies too deep.")
		w.add("func (self %s) EqualWithin(walk aeonrt.Walk, other %s) bool {", name, name)
		w.add("if walk.Deep() {\nreturn aeonrt.EqualLater(walk, self, other, %s.EqualWithin)\n}", name)
		w.add("walk = walk.Down()")
	}
	w.add("return %s", strings.Join(parts, " && "))
	w.add("}")
	w.add("")
}

func (p *pkg) classText(w *writer, c *typecheck.Class) {
	deep := nests(c)
	var sb strings.Builder
	for i, f := range c.Fields {
		sep := ", "
		if i == 0 {
			sep = ""
		}
		sb.WriteString(quote(sep+f.Name()+": ") + " + " + p.textIn(deep, f.Type(), "self."+p.names.obj[f]) + " + ")
	}
	text := quote(c.Name()+"{") + " + " + sb.String() + quote("}")
	w.add("// Str returns the text of the value.")
	w.add("func (self %s) Str() string {", p.names.obj[c])
	if deep {
		w.add("var nesting aeonrt.Nesting")
		w.add("return nesting.Whole(self.StrWithin(&nesting))")
		w.add("}")
		w.add("")
		w.add("// StrWithin is Str within the objects that nesting counts.")
		w.add("func (self %s) StrWithin(nesting *aeonrt.Nesting) string {", p.names.obj[c])
	}
	if c.ContainsItself {
		w.add("if !nesting.Enter() {\nreturn \"\"\n}")
		w.add("ret := %s", text)
		w.add("nesting.Leave()")
		text = "ret"
	}
	w.add("return %s", text)
	w.add("}")
	w.add("")
}

// eachRef emits EachRef, by which the runtime finds plain actor references in values.
func (p *pkg) eachRef(w *writer, c *typecheck.Class) {
	w.add("// EachRef calls visit for every plain actor reference in the value.")
	name, in := p.names.obj[c], c
	w.add("func (self %s) EachRef(visit func(aeonrt.Ref)) {", name)
	if !c.ContainsItself {
		in = nil
	} else {
		w.add("var later aeonrt.Later")
		w.add("self.EachRefWithin(later.Walk(), visit)")
		w.add("later.Rest()")
		w.add("}")
		w.add("")
		w.add("// EachRefWithin is EachRef within a walk, which visits later what lies too deep.")
		w.add("func (self %s) EachRefWithin(walk aeonrt.Walk, visit func(aeonrt.Ref)) {", name)
		w.add("if walk.Deep() {\naeonrt.VisitLater(walk, self, %s.EachRefWithin, visit)\nreturn\n}", name)
		w.add("walk = walk.Down()")
	}
	for _, f := range c.Fields {
		if owning(f) {
			p.visitRefs(w, in, f.Type(), "self."+p.names.obj[f], "visit")
		}
	}
	w.add("}")
	w.add("")
}

// visitRefs emits the code that calls visit for every plain reference in a value of type t, which is a part of an object of class c where
// that is visited within a walk; else c is nil.
func (p *pkg) visitRefs(w *writer, c *typecheck.Class, t typecheck.Type, code, visit string) {
	if !holdsPlainRefs(t) {
		return
	}
	switch t := t.(type) {
	case *typecheck.Class:
		if hasInside(t, c) {
			w.add("%s.EachRefWithin(walk, %s)", code, visit)
			return
		}
		w.add("%s.EachRef(%s)", code, visit)
	case *typecheck.Optional:
		if typecheck.IsRef(t.Elem) {
			w.add("%s.EachRef(%s)", code, visit)
			return
		}
		w.add("if v, ok := %s.Get(); ok {", code)
		p.visitRefs(w, c, t.Elem, "v", visit)
		w.add("}")
	case *typecheck.Vector:
		w.add("for _, v := range %s.Items() {", code)
		p.visitRefs(w, c, t.Elem, "v", visit)
		w.add("}")
	case *typecheck.Set:
		w.add("for _, v := range %s.Keys().Items() {", code)
		p.visitRefs(w, c, t.Elem, "v", visit)
		w.add("}")
	case *typecheck.Map:
		if holdsPlainRefs(t.Key) {
			w.add("for _, v := range %s.Keys().Items() {", code)
			p.visitRefs(w, c, t.Key, "v", visit)
			w.add("}")
		}
		if holdsPlainRefs(t.Value) {
			w.add("for _, v := range aeonrt.ValuesOf(%s).Items() {", code)
			p.visitRefs(w, c, t.Value, "v", visit)
			w.add("}")
		}
	}
}

// valueConstructor emits the function that makes a value.
func (p *pkg) valueConstructor(w *writer, c *typecheck.Class) {
	ctor := c.Ctor
	if d, ok := ctor.Decl.(*ast.CtorDecl); ok {
		w.doc1(d.Doc.Text())
	}
	p.versions(ctor, func(by runner, client bool) {
		name := p.gen(c, "new")
		if client {
			name = p.gen(c, "newClient")
		}
		e := p.newFn(ctor, by, w)
		head := "func " + name + "(" + e.params(p.plan[ctor].context) + ") (self " + p.names.obj[c] + ")"
		e.body(head, func() { e.fieldInits(c) }, ctor.Body, typecheck.Void, "return self")
	})
}

// fieldInits emits the initialisers of fields at the start of a constructor.
func (f *fn) fieldInits(c *typecheck.Class) {
	for _, field := range c.Fields {
		d := field.Field()
		if d.Init == nil {
			continue
		}
		v := f.bind(d.Init)
		f.write(d, place{root: field}, leaf{set: v.code})
	}
}

// valueMethod emits a method of a value class: on a pointer if it changes its receiver.
func (p *pkg) valueMethod(w *writer, c *typecheck.Class, m *typecheck.Func) {
	d := m.Decl.(*ast.MethodDecl)
	w.doc1(d.Doc.Text())
	recv := p.names.obj[c]
	if m.Mutating {
		recv = "*" + recv
	}
	p.versions(m, func(by runner, client bool) {
		name := p.names.obj[m]
		if client {
			name = p.gen(m, "client")
			w.add("// %s is %s as clients run it.", name, p.names.obj[m])
		}
		e := p.newFn(m, by, w)
		e.body("func (self "+recv+") "+name+"("+e.params(p.plan[m].context)+")"+p.resultType(m.Result), nil, m.Body, m.Result, "")
	})
}
