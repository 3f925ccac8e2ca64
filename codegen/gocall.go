package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// A call of a Go function that leaves after the commit has a descriptor, as a method has: the runtime stores calls of it, tries them,
// and issues the event that follows.

// goCall lowers `event go f(x) retry n then m(y);`.
func (f *fn) goCall(s *ast.GoCall) {
	g := f.info.GoCalls[s]
	list := s.X.Args[:len(s.X.Args):len(s.X.Args)]
	if s.Then != nil {
		list = append(list, s.Then.Args...)
	}
	args := append([]val{{code: itoa(g.Tries)}}, f.binders(list)...)
	f.line1(s, "cx.Go(&"+f.gen(g.Call, "method")+", "+f.argsLiteral(g.Call, args)+")")
}

// goCallVar emits the descriptor.
func (p *pkg) goCallVar(w *writer, c *typecheck.Class, g *typecheck.ClassGoCall) {
	then := ""
	if g.Then != nil {
		then = ", Then: &" + p.gen(g.Then, "method")
	}
	w.add("var %s = aeonrt.Method{", p.gen(g.Call, "method"))
	w.add("Class: &%s,", p.gen(c, "class"))
	w.add("Name: %s,", quote(g.Call.Name()))
	w.add("Signature: %s,", quote(Signature(g.Call)))
	w.add("Go: &aeonrt.GoCall{Function: %s%s},", quote(g.Func.Go.Name()), then)
	w.add("}")
	w.add("")
}

// goCallList emits what Go does not let the descriptors say themselves.
func (p *pkg) goCallList(w *writer, c *typecheck.Class) {
	if len(c.GoCalls) == 0 {
		return
	}
	var list []string
	for _, g := range c.GoCalls {
		list = append(list, "&"+p.gen(g.Call, "method"))
	}
	w.add("%s.Calls = []*aeonrt.Method{%s}", p.gen(c, "class"), strings.Join(list, ", "))
	for _, g := range c.GoCalls {
		w.add("%s.NewArgs = func() aeonrt.Args { return new(%s) }", p.gen(g.Call, "method"), p.gen(g.Call, "args"))
	}
}

// goCallArgs emits the arguments of a call, and how they reach the Go function and the method that follows.
func (p *pkg) goCallArgs(w *writer, g *typecheck.ClassGoCall) {
	p.argsStruct(w, g.Call)
	name, fields := p.gen(g.Call, "args"), paramFields(g.Call)
	w.add("// AeonFailed takes away a try, and returns how many are left.")
	w.add("func (x *%s) AeonFailed() (left int) {", name)
	w.add("x.%s--", fields[0])
	w.add("return int(x.%s)", fields[0])
	w.add("}")
	w.add("")
	n := len(g.Func.Params) + 1
	call := p.names.obj[g.Func] + "(cx"
	for _, f := range fields[1:n] {
		call += ", x." + f
	}
	w.add("// AeonCall tries it.")
	w.add("func (x *%s) AeonCall(cx aeonrt.Context) error { return %s) }", name, call)
	w.add("")
	var then []string
	if g.Then != nil {
		to := paramFields(g.Then)
		for i, f := range fields[n:] {
			then = append(then, to[i]+": x."+f)
		}
		then = append(then, to[len(to)-1]+": failure")
		w.add("// AeonThen returns the arguments of %s, which gets how the call has ended.", g.Then.FullName())
		w.add("func (x *%s) AeonThen(failure aeonrt.Opt[string]) aeonrt.Args {", name)
		w.add("return &%s{%s}", p.gen(g.Then, "args"), strings.Join(then, ", "))
		w.add("}")
	} else {
		w.add("// AeonThen returns null: no method gets how the call has ended.")
		w.add("func (x *%s) AeonThen(aeonrt.Opt[string]) aeonrt.Args { return nil }", name)
	}
	w.add("")
}

// externEffect emits the function that calls a bound one with an effect, for the runtime.
func (p *pkg) externEffect(w *writer, e *fn, f *typecheck.Func, callee string) {
	var args []string
	head := "func " + p.names.obj[f] + "(_ aeonrt.Context"
	if f.Go.Context {
		head, args = "func "+p.names.obj[f]+"(cx aeonrt.Context", []string{"cx"}
	}
	if params := e.params(false); params != "" {
		head += ", " + params
	}
	w.add("%s) error {", head)
	for i, v := range f.Go.Params() {
		args = append(args, p.toGo(f.Params[i].Type(), v.Type(), e.local(f.Params[i])))
	}
	call := callee + "(" + strings.Join(args, ", ")
	if f.Go.Sig.Variadic() {
		call += "..."
	}
	if f.Go.Fails == typecheck.GoAborts {
		w.add("return %s)", call)
	} else {
		w.add("%s)", call)
		w.add("return nil")
	}
	w.add("}")
	w.add("")
}
