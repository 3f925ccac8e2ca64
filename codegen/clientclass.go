package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// clientClass emits a client class: an object in the client that receives callbacks.
func (p *pkg) clientClass(w *writer, c *typecheck.Class) {
	name, ref := p.names.obj[c], p.gen(c, "ref")
	p.classDoc(w, c, "a client class")
	w.add("type %s struct {", name)
	w.add("aeonrt.ClientObject")
	p.structFields(w, c)
	w.add("}")
	w.add("")
	w.add("// %s refers to a client object of class %s; the zero value is null.", ref, name)
	w.add("type %s struct{ aeonrt.ClientRef }", ref)
	w.add("")
	w.add("// String is the name of the class, or null.")
	w.add("func (r %s) String() string {", ref)
	w.add("if r.IsNull() {")
	w.add("return %s", quote("null"))
	w.add("}")
	w.add("return %s", quote(c.Name()))
	w.add("}")
	w.add("")
	p.clientConstructor(w, c)
	for _, m := range c.Methods {
		d := m.Decl.(*ast.MethodDecl)
		w.doc1(d.Doc.Text())
		e := p.newFn(m, byClient, w)
		e.body("func (self *"+name+") "+p.names.obj[m]+"("+e.params(true)+")"+p.resultType(m.Result), nil, m.Body, m.Result, "")
	}
}

func (p *pkg) clientConstructor(w *writer, c *typecheck.Class) {
	name, ref, ctor := p.names.obj[c], p.gen(c, "ref"), c.Ctor
	if ctor == nil {
		w.add("func %s(cl *aeonrt.Client) %s {", p.gen(c, "new"), ref)
		w.add("self := new(%s)", name)
		w.add("return %s{aeonrt.NewClientObject(cl, &self.ClientObject, self)}", ref)
		w.add("}")
		w.add("")
		return
	}
	w.add("// construct is the constructor of %s.", name)
	e := p.newFn(ctor, byClient, w)
	e.body("func (self *"+name+") construct("+e.params(true)+")", func() { e.fieldInits(c) }, ctor.Body, typecheck.Void, "")
	params, list := p.signature(ctor)
	w.add("// %s makes an object of class %s in the client.", p.gen(c, "new"), name)
	w.add("func %s(cl *aeonrt.Client%s) %s {", p.gen(c, "new"), params, ref)
	w.add("self := new(%s)", name)
	w.add("ref := %s{aeonrt.NewClientObject(cl, &self.ClientObject, self)}", ref)
	w.add("self.construct(cl%s)", list)
	w.add("return ref")
	w.add("}")
	w.add("")
}
