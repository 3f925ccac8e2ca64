package codegen

import (
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// A function of an `extern go` block is a Go function that calls the bound one, with copies of the arguments, and returns a copy of
// the result. They stand in a file of their own, which alone imports Go packages that the program names.

// externFile is its name. The files of sources end in _aeon.go.
const externFile = "aeon_extern.go"

// nameExterns names the functions and, as Go code would, the packages that they call.
func (n *names) nameExterns(pk *typecheck.Package) {
	for _, t := range pk.GoTypes {
		if t.Opaque() {
			n.obj[t] = n.top.take(t.Name())
		}
	}
	for _, f := range pk.Externs {
		name := f.Name()
		if f.Go.Recv != nil {
			name = f.Go.Recv.Name() + name
		}
		n.obj[f] = n.top.take(name)
	}
	for _, t := range pk.GoTypes {
		n.nameGoPackage(t.Named)
	}
	for _, f := range pk.Bound() {
		if g := f.Go; n.goPackages[g.Path] == "" {
			n.goPackages[g.Path] = n.top.take(g.Package.Types.Name())
		}
	}
	for _, f := range pk.Bound() {
		f.Crossings(n.nameCrossing)
	}
}

// externs generates the file; ok is false if the package binds no Go function.
func (p *pkg) externs() (file File, ok bool, err error) {
	list, opaque := p.info.Package.Bound(), slices.DeleteFunc(slices.Clone(p.info.Package.GoTypes), func(t *typecheck.GoType) bool { return !t.Opaque() })
	if len(list)+len(opaque) == 0 {
		return File{}, false, nil
	}
	w := p.writer()
	for _, t := range opaque {
		p.externType(w, t)
	}
	for _, f := range list {
		p.extern(w, f)
	}
	p.goValues(w)
	body := strings.ReplaceAll(w.buf.String(), markTime, "time")
	standard, others := map[string]bool{}, map[string]bool{}
	if len(list) > 0 {
		others["\taeonrt "+quote(runtimePath)+"\n"] = true
	}
	if body != w.buf.String() {
		standard["\t\"time\"\n"] = true
	}
	ofGo := map[string]bool{}
	for _, f := range list {
		ofGo[f.Go.Path] = f.Go.Package.Standard
	}
	for of := range p.goUsed {
		name := p.names.goPackages[of]
		// Invariant: the path that the checker has admitted ends no string, and the name of a package that Go has read is a name.
		assert.That(token.IsIdentifier(name) && !strings.ContainsAny(of, "\"\\\n`"), "codegen: %q cannot be imported as %q", of, name)
		if name == path.Base(of) {
			name = ""
		}
		in := others
		if ofGo[of] {
			in = standard
		}
		in["\t"+strings.TrimSpace(name+" "+quote(of))+"\n"] = true
	}
	used, err := usedPackages(externFile, "package p\n\n"+body)
	if err != nil {
		return File{}, false, err
	}
	if used["aeonval"] {
		others["\taeonval "+quote(valuePath)+"\n"] = true
	}
	for _, im := range p.imported { // packages of the program, whose types the functions have
		if used[im.alias] {
			others["\t"+im.alias+" "+quote(im.path)+"\n"] = true
		}
	}
	lines := func(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), "") }
	head := header + "\npackage " + GoPackageName(p.info.Package.Name) + "\n\nimport (\n" + strings.TrimLeft(lines(standard)+"\n", "\n") + lines(others) + ")\n\n"
	file, err = p.finish(externFile, []byte(head+body))
	return file, true, err
}

// markTime stands for Go's package time in the types of values at the border.
const markTime = "\x00time"

// docOf returns the comment above a function that is written in Go.
func docOf(f *typecheck.Func) string {
	switch d := f.Decl.(type) {
	case *ast.ExternFunc:
		return d.Doc.Text()
	case *ast.FuncDecl:
		return d.Doc.Text()
	case *ast.MethodDecl:
		return d.Doc.Text()
	}
	return ""
}

// externType emits the type of the values that Go alone knows: a pointer, or the interface.
func (p *pkg) externType(w *writer, t *typecheck.GoType) {
	if d := t.Decl; d.Doc.Text() != "" {
		w.doc(d.Doc.Text())
	} else {
		w.add("// %s is %s.", p.names.obj[t], t.GoText())
	}
	pointer := "*"
	if t.IsInterface() {
		pointer = ""
	}
	w.add("type %s = %s%s", p.names.obj[t], pointer, p.plainGo(t.Named))
	w.add("")
}

// extern emits the function that calls a bound one.
func (p *pkg) extern(w *writer, f *typecheck.Func) {
	e, sig := p.newFn(f, byActor, w), f.Go.Sig
	callee := ""
	if f.Go.Recv == nil {
		p.goUsed[f.Go.Path] = true
		callee = p.names.goPackages[f.Go.Path] + "." + f.Go.Callee
	}
	if doc := docOf(f); doc != "" {
		w.doc(doc)
	} else {
		w.add("// %s calls %s.", p.names.obj[f], f.Go.Name())
	}
	if f.Go.Effect {
		p.externEffect(w, e, f, callee)
		return
	}
	params := e.params(false)
	if t := f.Go.Recv; t != nil {
		params = strings.TrimSuffix("self "+p.goType(t.Type())+", "+params, ", ")
	}
	recv := ""
	if f.Go.Self {
		recv = "(self " + p.names.obj[f.Class] + ") "
	}
	w.add("func %s%s(%s)%s {", recv, p.names.obj[f], params, p.resultType(f.Result))
	w.add("defer aeonrt.InGo(%s)", quote(f.Go.Name()))
	if t := f.Go.Recv; t != nil && t.Opaque() {
		callee = "self." + f.Name()
	} else if t != nil {
		callee = p.textToGo(t, "self") + "." + f.Name()
	}
	var args []string
	if f.Go.Self {
		args = append(args, p.toGo(f.Class, sig.Params().At(0).Type(), "self"))
	}
	for i, v := range f.Go.Params() {
		args = append(args, p.toGo(f.Params[i].Type(), v.Type(), e.local(f.Params[i])))
	}
	call := callee + "(" + strings.Join(args, ", ")
	if sig.Variadic() {
		call += "..."
	}
	call += ")"
	result := func(v string) string { return p.ofGo(f.Result, sig.Results().At(0).Type(), v) }
	ret, err := e.temp(), e.temp() // names that no parameter has
	switch f.Go.Fails {
	case typecheck.GoText:
		w.add("return aeonrt.GoErrorText(%s)", call)
	case typecheck.GoNull:
		w.add("%s, %s := %s", ret, err, call)
		w.add("if %s != nil {", err)
		w.add("return %s", p.zero(f.Result))
		w.add("}")
		if elem, g := f.GoResult(); elem != f.Result {
			w.add("return aeonrt.Some(%s)", p.ofGo(elem, g, ret))
		} else {
			w.add("return %s", result(ret))
		}
	case typecheck.GoAborts:
		if isVoid(f.Result) {
			w.add("aeonrt.GoError(%s)", call)
			break
		}
		w.add("%s, %s := %s", ret, err, call)
		w.add("aeonrt.GoError(%s)", err)
		w.add("return %s", result(ret))
	default:
		w.add("return %s", result(call))
	}
	w.add("}")
	w.add("")
}
