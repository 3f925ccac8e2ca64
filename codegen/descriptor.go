package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// descriptors generates the file that tells the runtime what the package contains, and how to call, copy and encode it.
func (p *pkg) descriptors() (File, error) {
	w := p.writer()
	p.packageVar(w)
	p.aliases(w)
	for _, c := range p.info.Package.Classes {
		switch c.Kind {
		case ast.ActorClass:
			p.actorPlumbing(w, c)
			p.classVar(w, c)
			for _, m := range p.methods(c) {
				p.methodVar(w, c, m)
			}
			for _, g := range c.GoCalls {
				p.goCallVar(w, c, g)
			}
		case ast.ClientClass:
			p.clientClassVar(w, c)
			for _, m := range c.Methods {
				p.argsStruct(w, m)
				p.clientMethodVar(w, c, m)
			}
		default:
			p.valuePlumbing(w, c)
		}
	}
	p.loggedVersions(w)
	p.initFunc(w)
	p.usedMethods(w)
	return p.assemble("aeon_package.go", p.packageComment(), w)
}

// methods returns the methods of an actor class and, last, its constructor.
func (p *pkg) methods(c *typecheck.Class) []*typecheck.Func {
	list := append([]*typecheck.Func(nil), c.Methods...)
	if c.Ctor != nil {
		list = append(list, c.Ctor)
	}
	return list
}

func (p *pkg) packageVar(w *writer) {
	pk := p.info.Package
	w.add("// AeonPackage is what the runtime and the tools need to know of this package.")
	w.add("var AeonPackage = aeonrt.Package{")
	w.add("Name: %s,", quote(pk.Name))
	if len(p.imported) > 0 {
		w.add("Imports: []*aeonrt.Package{")
		for _, im := range p.imported {
			w.add("&%s.AeonPackage,", im.alias)
		}
		w.add("},")
	}
	w.add("}")
	w.add("")
	if p.mapped {
		w.add("// AeonEntry returns &AeonPackage for aeonrt.MainOf.")
		w.add("//")
		w.add("//go:noinline")
		w.add("func AeonEntry() any { return &AeonPackage }")
		w.add("")
	}
}

func (p *pkg) classVar(w *writer, c *typecheck.Class) {
	w.add("var %s = aeonrt.Class{Shape: aeonrt.Shape{", p.gen(c, "class"))
	w.add("Package: %s,", quote(p.info.Package.Name))
	w.add("Name: %s,", quote(c.Name()))
	if len(c.Fields) > 0 {
		w.add("Fields: []aeonrt.Field{")
		for _, f := range c.Fields {
			if owning(f) {
				w.add("{Name: %s, Type: %s, Owning: true},", quote(f.Name()), quote(FieldType(f)))
			} else {
				w.add("{Name: %s, Type: %s},", quote(f.Name()), quote(FieldType(f)))
			}
		}
		w.add("},")
	}
	if c.SelfRecursive {
		w.add("SelfRecursive: true,")
	}
	if doc := c.Decl.Doc.Text(); doc != "" {
		w.add("}, Doc: %s}", quote(doc))
	} else {
		w.add("}}")
	}
	w.add("")
}

var modeNames = [...]string{typecheck.NoMode: "aeonrt.NoAccess", typecheck.Read: "aeonrt.Read", typecheck.Write: "aeonrt.Write"}

var belowNames = [...]string{typecheck.BelowNone: "aeonrt.None", typecheck.BelowExact: "aeonrt.Exact", typecheck.BelowAny: "aeonrt.Any"}

func (p *pkg) methodVar(w *writer, c *typecheck.Class, m *typecheck.Func) {
	w.add("var %s = aeonrt.Method{", p.gen(m, "method"))
	w.add("Class: &%s,", p.gen(c, "class"))
	w.add("Name: %s,", quote(m.Name()))
	if m.Kind == typecheck.Constructor { // calls of it never wait: it has no signature
		w.add("Index: %d,", len(c.Methods))
	} else {
		signatureFields(w, m)
		if m.Internal {
			w.add("Internal: true,")
		}
		w.add("Index: %d,", m.Index)
	}
	w.add("Effects: aeonrt.Effects{")
	if m.RO {
		w.add("ReadOnly: true,")
	}
	e := m.Effects
	if e == nil { // code that the checker has not analysed touches anything
		w.add("Self: aeonrt.Write,")
		w.add("Below: aeonrt.Any,")
		w.add("BelowMode: aeonrt.Write,")
	} else {
		self := e.Self
		if m.Kind == typecheck.Constructor {
			self = typecheck.Write
		}
		w.add("Self: %s,", modeNames[self])
		below := e.Below
		if p.inArgs(m) {
			below = typecheck.BelowNone
		}
		w.add("Below: %s,", belowNames[below])
		w.add("BelowMode: %s,", modeNames[e.BelowMode])
		p.touches(w, e.Touches)
	}
	w.add("},")
	w.add("}")
	w.add("")
}

// signatureFields emits what doors need to know of a method.
func signatureFields(w *writer, m *typecheck.Func) {
	w.add("Signature: %s,", quote(Signature(m)))
	if len(m.Params) > 0 {
		w.add("Params: []string{%s},", quotedNames(m.Params))
	}
	if d, ok := m.Decl.(*ast.MethodDecl); ok && d.Doc.Text() != "" {
		w.add("Doc: %s,", quote(d.Doc.Text()))
	}
}

// quotedNames returns the names of variables as a list of string literals.
func quotedNames(list []*typecheck.Var) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = quote(v.Name())
	}
	return strings.Join(names, ", ")
}

func (p *pkg) touches(w *writer, list []typecheck.ClassMode) {
	var parts []string
	for _, t := range list {
		parts = append(parts, "{Shape: &"+p.gen(t.Class, "class")+".Shape, Mode: "+modeNames[t.Mode]+"}")
	}
	if len(parts) > 0 {
		w.add("Touches: []aeonrt.ClassMode{%s},", strings.Join(parts, ", "))
	}
}

func (p *pkg) clientClassVar(w *writer, c *typecheck.Class) {
	w.add("var %s = aeonrt.ClientClass{", p.gen(c, "class"))
	w.add("Package: %s,", quote(p.info.Package.Name))
	w.add("Name: %s,", quote(c.Name()))
	if doc := c.Decl.Doc.Text(); doc != "" {
		w.add("Doc: %s,", quote(doc))
	}
	var list []string
	for _, m := range c.Methods {
		list = append(list, "&"+p.gen(m, "method"))
	}
	w.add("Methods: []*aeonrt.ClientMethod{%s},", strings.Join(list, ", "))
	w.add("}")
	w.add("")
}

func (p *pkg) clientMethodVar(w *writer, c *typecheck.Class, m *typecheck.Func) {
	w.add("var %s = aeonrt.ClientMethod{", p.gen(m, "method"))
	w.add("Class: %s,", quote(c.Name()))
	w.add("Name: %s,", quote(m.Name()))
	signatureFields(w, m)
	w.add("}")
	w.add("")
}

// initFunc emits what Go does not let the descriptors say themselves, since functions that they name refer back to them.
func (p *pkg) initFunc(w *writer) {
	pk := p.info.Package
	w.add("func init() {")
	var classes, clients []string
	for _, c := range pk.Classes {
		switch c.Kind {
		case ast.ActorClass:
			classes = append(classes, "&"+p.gen(c, "class"))
			p.initClass(w, c)
		case ast.ClientClass:
			clients = append(clients, "&"+p.gen(c, "class"))
			for _, m := range c.Methods {
				w.add("%s.NewArgs = func() aeonrt.Args { return new(%s) }", p.gen(m, "method"), p.gen(m, "args"))
				w.add("%s.Run = func(cl *aeonrt.Client, self any, args aeonrt.Args) {", p.gen(m, "method"))
				p.run(w, c, m, "cl")
				w.add("}")
			}
		}
	}
	if len(classes) > 0 {
		w.add("AeonPackage.Classes = []*aeonrt.Class{%s}", strings.Join(classes, ", "))
	}
	if len(clients) > 0 {
		w.add("AeonPackage.ClientClasses = []*aeonrt.ClientClass{%s}", strings.Join(clients, ", "))
	}
	if pk.Main != nil {
		p.mainVar(w, pk)
	}
	if len(pk.Tests) > 0 {
		w.add("AeonPackage.Tests = []aeonrt.Test{")
		for _, t := range pk.Tests {
			pos := t.Span().Pos()
			name := p.opts.SourceName(pos.Src)
			if name == "" {
				name = pos.File()
			}
			w.add("{Name: %s, File: %s, Line: %d, Run: %s},", quote(t.Name()), quote(name), pos.Line(), p.gen(t, "test"))
		}
		w.add("}")
	}
	w.add("}")
}

func (p *pkg) initClass(w *writer, c *typecheck.Class) {
	class := p.gen(c, "class")
	w.add("%s.New = func() aeonrt.Object { return %s }", class, p.newObject(c))
	var list []string
	for _, m := range c.Methods {
		list = append(list, "&"+p.gen(m, "method"))
	}
	w.add("%s.Methods = []*aeonrt.Method{%s}", class, strings.Join(list, ", "))
	p.goCallList(w, c)
	if c.Ctor != nil {
		w.add("%s.Ctor = &%s", class, p.gen(c.Ctor, "method"))
	}
	if c.Ctor != nil && len(c.Ctor.Params) == 0 {
		w.add("%s.Construct = &%s", class, p.gen(c.Ctor, "method"))
	}
	if c.Snapshot != nil {
		w.add("%s.Snapshot = func(cx *aeonrt.Cx, self any) { %s(cx, self.(*%s)) }", class, p.gen(c, "snapshot"), p.names.obj[c])
	}
	for _, m := range p.methods(c) {
		method := p.gen(m, "method")
		w.add("%s.NewArgs = func() aeonrt.Args { return new(%s) }", method, p.gen(m, "args"))
		w.add("%s.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {", method)
		p.run(w, c, m, "cx")
		w.add("}")
		p.narrow(w, c, m)
		p.argRefs(w, m)
	}
}

// run emits the body of a descriptor's Run: the call with the arguments from their struct.
func (p *pkg) run(w *writer, c *typecheck.Class, m *typecheck.Func, ctx string) {
	var list strings.Builder
	for i, f := range paramFields(m) {
		list.WriteString(", x." + f)
		if p.shares(m.Params[i].Type()) {
			list.WriteString(".Share()") // the arguments may be used again: by another attempt, or by the next tick of a timer
		}
	}
	name := p.names.obj[m]
	if m.Kind == typecheck.Constructor {
		name = "construct"
	}
	call := "self.(*" + p.names.obj[c] + ")." + name + "(" + ctx + list.String() + ")"
	if len(m.Params) > 0 || !isVoid(m.Result) {
		w.add("x := args.(*%s)", p.gen(m, "args"))
	}
	if !isVoid(m.Result) {
		call = "x.ret = " + call
	}
	w.add("%s", call)
}

// packageComment returns the comment that a package gets whose sources have none.
func (p *pkg) packageComment() string {
	for _, f := range p.info.Package.Files {
		if f.Package.Doc.Text() != "" {
			return ""
		}
	}
	return "Package " + GoPackageName(p.info.Package.Name) + " was written in aeon."
}
