package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// actorClass emits an actor class: its state, constructor and methods, and the setters that they use.
func (p *pkg) actorClass(w *writer, c *typecheck.Class) {
	name := p.names.obj[c]
	if doc := c.Decl.Doc.Text(); doc != "" {
		w.doc(doc)
	} else {
		w.add("// %s is the state of an actor.", name)
	}
	w.add("type %s struct {", name)
	w.add("aeonrt.Self")
	p.structFields(w, c)
	w.add("}")
	w.add("")
	p.construct(w, c)
	for _, m := range c.Methods {
		d := m.Decl.(*ast.MethodDecl)
		w.doc1(d.Doc.Text())
		e := p.newFn(m, byActor, w)
		e.body("func (self *"+name+") "+p.names.obj[m]+"("+e.params(true)+")"+p.resultType(m.Result), nil, m.Body, m.Result, "")
	}
	p.snapshotBlock(w, c)
	for _, f := range c.Fields {
		if p.setters[f] {
			p.setter(w, c, f)
		}
	}
}

// actorPlumbing emits what the runtime and other code need of an actor class: its typed reference with the
// stubs, its argument structs and codecs.
func (p *pkg) actorPlumbing(w *writer, c *typecheck.Class) {
	p.reference(w, c)
	for _, m := range c.Methods {
		p.stubs(w, c, m)
		p.argsStruct(w, m)
	}
	if c.Ctor != nil {
		p.constructors(w, c)
		p.argsStruct(w, c.Ctor)
	}
	for _, g := range c.GoCalls {
		p.goCallArgs(w, g)
	}
	p.fieldIndices(w, c)
	p.tableShapes(w, c)
	p.stateRows(w, c)
}

// fieldIndices emits the numbers by which the runtime knows the fields.
func (p *pkg) fieldIndices(w *writer, c *typecheck.Class) {
	if len(c.Fields) == 0 {
		return
	}
	w.add("// The fields of %s by number.", p.names.obj[c])
	w.add("const (")
	for i, f := range c.Fields {
		if i == 0 {
			w.add("%s uint16 = iota", p.gen(f, "index"))
		} else {
			w.add("%s", p.gen(f, "index"))
		}
	}
	w.add(")")
	w.add("")
}

// setter emits the only function that assigns a field outside of the constructor.
func (p *pkg) setter(w *writer, c *typecheck.Class, f *typecheck.Var) {
	name, field := p.gen(f, "set"), p.names.obj[f]
	w.add("// %s assigns %s: it logs undo and redo first.", name, field)
	w.add("func (self *%s) %s(cx *aeonrt.Cx, v %s) {", p.names.obj[c], name, p.goType(f.Type()))
	if owning(f) {
		w.add("aeonrt.LogOwned(cx, &self.Self, %s, &self.%s, v)", p.gen(f, "index"), field)
	} else {
		w.add("aeonrt.Log(cx, &self.Self, %s, &self.%s)", p.gen(f, "index"), field)
	}
	w.add("self.%s = v", field)
	w.add("}")
	w.add("")
}

// construct emits the constructor's body: a method that runs on a fresh object.
func (p *pkg) construct(w *writer, c *typecheck.Class) {
	ctor := c.Ctor
	if ctor == nil {
		return
	}
	w.add("// construct is the constructor of %s. It runs on a fresh actor: what it writes needs no undo.", p.names.obj[c])
	e := p.newFn(ctor, byActor, w)
	e.building = true
	e.body("func (self *"+p.names.obj[c]+") construct("+e.params(true)+")", func() { e.fieldInits(c) }, ctor.Body, typecheck.Void, "")
}

// snapshotBlock emits what a class changes in a copy of an actor's state before a snapshot takes it.
func (p *pkg) snapshotBlock(w *writer, c *typecheck.Class) {
	if c.Snapshot == nil {
		return
	}
	name := p.gen(c, "snapshot")
	w.add("// %s changes a copy of the state into what snapshots contain of the actor.", name)
	e := p.newFn(c.Snapshot, byActor, w)
	e.body("func "+name+"(cx *aeonrt.Cx, self *"+p.names.obj[c]+")", nil, c.Snapshot.Body, typecheck.Void, "")
}

// reference emits the type of references to actors of the class.
func (p *pkg) reference(w *writer, c *typecheck.Class) {
	ref := p.gen(c, "ref")
	w.add("// %s refers to an actor of class %s; the zero value is null.", ref, p.names.obj[c])
	w.add("type %s struct{ aeonrt.Ref }", ref)
	w.add("")
	w.add("// Compare orders references as keys.")
	w.add("func (r %s) Compare(other %s) int { return r.Ref.CompareKey(other.Ref) }", ref, ref)
	w.add("")
}

// signature returns the parameters of f as Go declares them, and as a list of arguments.
func (p *pkg) signature(f *typecheck.Func) (params, args string) {
	names := paramFields(f)
	s := newScope(p.refusedInStubs)
	for i, v := range f.Params {
		name := s.take(names[i])
		params += ", " + name + " " + p.goType(v.Type())
		args += ", " + name
	}
	return params, args
}

// refusedInStubs reports whether a parameter of a stub must not have the name.
func (p *pkg) refusedInStubs(name string) bool {
	return goKeywords[name] || predeclared[name] || oursStub[name] || p.names.top.taken[name]
}

// fillArgs returns the literal of the argument struct of f, filled from the parameters of signature.
func (p *pkg) fillArgs(f *typecheck.Func) string {
	names := paramFields(f)
	s := newScope(p.refusedInStubs)
	code := p.gen(f, "args") + "{"
	for i := range f.Params {
		if i > 0 {
			code += ", "
		}
		code += names[i] + ": " + s.take(names[i])
	}
	return code + "}"
}

// stubs emits the calls of a method through a reference: from an actor, and the two from a client.
func (p *pkg) stubs(w *writer, c *typecheck.Class, m *typecheck.Func) {
	if p.wants(m, "call") {
		p.callStub(w, c, m)
	}
	if p.wants(m, "await") {
		p.awaitStub(w, c, m)
	}
	if p.wants(m, "event") {
		p.eventStub(w, c, m)
	}
}

func (p *pkg) callStub(w *writer, c *typecheck.Class, m *typecheck.Func) {
	params, list := p.signature(m)
	call, method, result := p.gen(m, "call"), p.gen(m, "method"), ""
	if !isVoid(m.Result) {
		result = " (ret " + p.goType(m.Result) + ")"
	}
	w.add("// %s calls %s as a part of the current event.", call, m.Name())
	w.add("func (r %s) %s(cx *aeonrt.Cx%s)%s {", p.gen(c, "ref"), call, params, result)
	w.add("self, ok := aeonrt.Enter[*%s](cx, r.Ref, &%s)", p.names.obj[c], method)
	w.add("if !ok { // the actor is on another host")
	w.add("args := %s", p.fillArgs(m))
	w.add("aeonrt.CallRemote(cx, r.Ref, &%s, &args)", method)
	if isVoid(m.Result) {
		w.add("return\n}")
		w.add("self.%s(cx%s)", p.names.obj[m], list)
		w.add("cx.Leave()")
	} else {
		w.add("return args.ret\n}")
		w.add("ret = self.%s(cx%s)", p.names.obj[m], list)
		w.add("cx.Leave()")
		w.add("return ret")
	}
	w.add("}")
	w.add("")
}

func (p *pkg) awaitStub(w *writer, c *typecheck.Class, m *typecheck.Func) {
	params, _ := p.signature(m)
	await, method, args := p.gen(m, "await"), p.gen(m, "method"), p.fillArgs(m)
	if isVoid(m.Result) {
		w.add("// %s runs %s as an event and waits until it has ended.", await, m.Name())
		w.add("func (r %s) %s(cl *aeonrt.Client%s) error {", p.gen(c, "ref"), await, params)
		w.add("return cl.Await(r.Ref, &%s, &%s)", method, args)
	} else {
		w.add("// %s runs %s as an event and waits for its result.", await, m.Name())
		w.add("func (r %s) %s(cl *aeonrt.Client%s) (ret %s, err error) {", p.gen(c, "ref"), await, params, p.goType(m.Result))
		w.add("args := &%s", args)
		w.add("err = cl.Await(r.Ref, &%s, args)", method)
		w.add("return args.ret, err")
	}
	w.add("}")
	w.add("")
}

func (p *pkg) eventStub(w *writer, c *typecheck.Class, m *typecheck.Func) {
	params, _ := p.signature(m)
	event, method, args := p.gen(m, "event"), p.gen(m, "method"), p.fillArgs(m)
	w.add("// %s issues %s as an event.", event, m.Name())
	if isVoid(m.Result) {
		w.add("func (r %s) %s(cl *aeonrt.Client%s) aeonrt.Pending[struct{}] {", p.gen(c, "ref"), event, params)
		w.add("return aeonrt.Issue[struct{}](cl, r.Ref, &%s, &%s, nil)", method, args)
	} else {
		t := p.goType(m.Result)
		w.add("func (r %s) %s(cl *aeonrt.Client%s) aeonrt.Pending[%s] {", p.gen(c, "ref"), event, params, t)
		w.add("args := &%s", args)
		ret := "args.ret"
		if p.shares(m.Result) {
			ret += ".Share()" // it may be awaited again
		}
		w.add("return aeonrt.Issue(cl, r.Ref, &%s, args, func() %s { return %s })", method, t, ret)
	}
	w.add("}")
	w.add("")
}

// constructors emits the two ways to make an actor: in an event, and as an event of its own.
func (p *pkg) constructors(w *writer, c *typecheck.Class) {
	ref, class := p.gen(c, "ref"), p.gen(c, "class")
	params, _ := p.signature(c.Ctor)
	if p.wants(c, "create") {
		p.creator(w, c)
	}
	if !p.wants(c, "new") {
		return
	}
	create := p.gen(c, "new")
	w.add("// %s makes a new actor in an event of its own.", create)
	w.add("func %s(cl *aeonrt.Client%s) (%s, error) {", create, params, ref)
	w.add("ref, err := cl.New(&%s, &%s, &%s)", class, p.gen(c.Ctor, "method"), p.fillArgs(c.Ctor))
	w.add("return %s{ref}, err", ref)
	w.add("}")
	w.add("")
}

func (p *pkg) creator(w *writer, c *typecheck.Class) {
	name, ref, class, create := p.names.obj[c], p.gen(c, "ref"), p.gen(c, "class"), p.gen(c, "create")
	params, list := p.signature(c.Ctor)
	w.add("// %s makes a new actor as a part of the current event.", create)
	w.add("func %s(cx *aeonrt.Cx%s) %s {", create, params, ref)
	w.add("if cx.Elsewhere() { // it is to be in another store")
	w.add("return %s{aeonrt.CreateRemote(cx, &%s, &%s)}", ref, class, p.fillArgs(c.Ctor))
	w.add("}")
	w.add("self := aeonrt.New[*%s](cx, &%s)", name, class)
	w.add("self.construct(cx%s)", list)
	w.add("aeonrt.Constructed(cx)")
	w.add("return %s{self.Ref()}", ref)
	w.add("}")
	w.add("")
}
