package codegen

import (
	"cmp"
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

// classPath returns the path of a class, as a Go literal.
func classPath(c *typecheck.Class) string { return quote(c.Pkg.Name + "." + c.Name()) }

// apiClient emits a client class: the type of its objects, the interface that Go code implements, and what makes an object of
// an implementation.
func (p *pkg) apiClient(w *writer, c *typecheck.Class) {
	handle, callbacks, makes := p.gen(c, "handle"), p.gen(c, "callbacks"), p.gen(c, "make")
	w.doc(cmp.Or(c.Decl.Doc.Text(), handle+" is an object that receives callbacks."))
	w.add("type %s struct{ aeon.ClientObject }", handle)
	w.add("")
	w.add("// %s receives the callbacks of class %s, those of one client one by one. ctx ends with the client.", callbacks, c.Name())
	w.add("type %s interface {", callbacks)
	var cases strings.Builder
	for _, m := range c.Methods {
		p.apiCallback(w, &cases, m)
	}
	w.add("}")
	w.add("")
	w.add("// %s makes an object of client c, whose callbacks are those of to, which is not nil.", makes)
	w.add("func %s(c *aeon.Client, to %s) %s {", makes, callbacks, handle)
	w.add("return %s{godoor.NewObject(c, &%s, to, func(ctx context.Context, db *aeon.DB, m *aeonrt.ClientMethod, args aeonrt.Args) {", handle, p.gen(c, "class"))
	w.add("switch m {")
	w.add("%s", cases.String())
	w.add("}")
	w.add("})}")
	w.add("}")
	w.add("")
}

// apiCallback emits a method of the interface, and to cases how it is called.
func (p *pkg) apiCallback(w *writer, cases *strings.Builder, m *typecheck.Func) {
	name := p.gen(m, "api")
	if p.leftOut(w, name, m) {
		return
	}
	w.doc(apiDoc(m, name, name+" is "+m.Name()+"."))
	s, params, args := p.apiParams(), "", ""
	for i, field := range paramFields(m) {
		v := m.Params[i]
		params += ", " + s.take(v.Name()) + " " + p.plainType(v.Type())
		args += ", " + p.toPlain(v.Type(), "x."+field)
	}
	w.add("%s(ctx context.Context%s)", name, params)
	cases.WriteString("case &" + p.gen(m, "method") + ":\n")
	if args != "" {
		cases.WriteString("x := args.(*" + p.gen(m, "args") + ")\n")
	}
	cases.WriteString("to." + name + "(ctx" + args + ")\n")
}
