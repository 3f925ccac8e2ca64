package typecheck

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// GoPackage is a Go package whose functions `extern go` blocks bind.
type GoPackage struct {
	Types    *types.Package
	Standard bool // of Go's standard library, which every toolchain has
}

// GoError says why there is no Go package, as a part of a sentence.
type GoError struct {
	Why    string
	Remedy string // what the user can do; "" if that is not known
}

func (e *GoError) Error() string { return e.Why }

// remedyOf returns the remedy that err has.
func remedyOf(err error) string {
	var e *GoError
	if errors.As(err, &e) {
		return e.Remedy
	}
	return ""
}

// GoFunc is the Go function that an `extern go` block binds a Func to.
type GoFunc struct {
	Path    string  // of the package
	Recv    *GoType // of a method of a Go type
	Callee  string  // the function, or Type.Method
	Self    bool    // it is the body of a method of a value class, and its first parameter the object
	Package *GoPackage
	Pure    bool // the result depends on the arguments alone, so the declaration promises
	Effect  bool // it changes what is outside of the program; else, if it is not pure, it reads that
	Context bool // its first parameter, which the declaration leaves out, is a context.Context; of functions with an effect
	Fails   GoFailure
	Sig     *types.Signature
	Wrong   bool // the declaration is wrong, which is reported: what follows from it in calls is not
}

// GoFailure says what becomes of an error that a Go function returns.
type GoFailure uint8

// What becomes of errors.
const (
	GoNever  GoFailure = iota // the function returns none
	GoAborts                  // declared with `error`: it aborts
	GoText                    // the function returns an error alone: its text is the result, null if there is none
	GoNull                    // declared with the result T?: the result is null
)

// Name returns package.Function, or package.Type.Method, as Go code writes it.
func (g *GoFunc) Name() string { return g.Package.Types.Name() + "." + g.Callee }

// collectExtern declares the types and functions of an `extern go` block.
func (c *checker) collectExtern(d *ast.ExternGoDecl) {
	for _, t := range d.Types() {
		c.collectExternType(d, t)
	}
	for _, fn := range d.Funcs() {
		f := &Func{Kind: FreeFunc, Pkg: c.pkg, Decl: fn, Result: Invalid, Index: len(c.pkg.Externs), name: fn.Name.Text, span: fn.Name.Span(),
			Go: &GoFunc{Pure: fn.IsPure(), Effect: !fn.IsPure() && !fn.IsRO()}}
		if d.Path != nil {
			f.Go.Path = d.Path.Value
		}
		c.notInternal(&fn.Signature, "no caller outside of the program calls the function "+f.name)
		c.info.Defs[fn] = f
		if fn.Recv == nil {
			c.declare(fn.Name, f)
		}
		c.pkg.Externs = append(c.pkg.Externs, f)
	}
	c.externs = append(c.externs, d)
}

// bindExterns finds the Go functions of all `extern go` blocks.
func (c *checker) bindExterns() {
	for _, d := range c.externs {
		pkg := c.goPackages[d]
		for _, fn := range d.Funcs() {
			f := c.info.Defs[fn].(*Func)
			if fn.Recv != nil {
				c.externReceiver(f, fn)
			}
			c.signature(f, &fn.Signature, c.fileOf[d])
			f.Go.Callee = f.FullName()
			if f.Go.Package = pkg; c.crossingExtern(f, fn) && pkg != nil && (fn.Recv == nil || f.Go.Recv != nil && f.Go.Recv.typ != Invalid) {
				c.bind(f, fn)
			}
			f.Go.Wrong = f.Go.Sig == nil
		}
	}
}

// goPackage returns the package of a block, or reports why there is none.
func (c *checker) goPackage(d *ast.ExternGoDecl) *GoPackage {
	if d.Path == nil {
		return nil
	}
	wrong := func(format string, args ...any) *diag.Diagnostic {
		return c.errorf(diag.GoPackage, d.Path, "cannot bind functions of the Go package %q: %s", d.Path.Value, fmt.Sprintf(format, args...))
	}
	switch {
	case !goImportPath(d.Path.Value):
		wrong("that is no path of a package").Help = "name the package as Go code imports it: `extern go \"strings\" { … }`"
		return nil
	case c.opts.Go == nil:
		wrong("there are no Go packages to bind here")
		return nil
	}
	pkg, err := c.opts.Go(d.Path.Value)
	if err != nil {
		wrong("%v", err).Help = remedyOf(err)
		return nil
	}
	return pkg
}

// GoPaths returns the paths of the Go packages that Check may ask for, each once, in source order; GoBodyPath may be one.
func GoPaths(files []*ast.File) (paths []string) {
	for _, f := range files {
		for _, d := range f.Decls {
			if hasGoBody(d) && !slices.Contains(paths, GoBodyPath) {
				paths = append(paths, GoBodyPath)
			}
			if b, ok := d.(*ast.ExternGoDecl); ok && b.Path != nil && goImportPath(b.Path.Value) && !slices.Contains(paths, b.Path.Value) {
				paths = append(paths, b.Path.Value)
			}
		}
	}
	return paths
}

// hasGoBody reports whether a declaration has a body `= go`.
func hasGoBody(d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.GoBody
	case *ast.ClassDecl:
		return slices.ContainsFunc(d.Methods(), func(m *ast.MethodDecl) bool { return m.GoBody })
	}
	return false
}

// goImportPath reports whether path may be that of a Go package with code that can be called. The path stands in generated Go: it has
// letters, digits and a few signs, none of which ends a string there.
func goImportPath(path string) bool {
	switch first, _, _ := strings.Cut(path, "/"); {
	case path == "C", path == "unsafe", path == "builtin", first == "cmd": // no functions to call, and Go's own commands
		return false
	case path == "all", path == "std", path == "tool", path == "work", strings.Contains(path, "..."): // for the go command, many packages
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part[0] == '.' || part[len(part)-1] == '.' || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+") != "" {
			return false
		}
	}
	return true
}

// crossing checks what a head says by itself of the types that pass.
func (c *checker) crossing(f *Func, d *ast.Signature) bool {
	ok := true
	check := func(t Type, at ast.Node) {
		if t == Invalid {
			ok = false
		} else if why := notCrossing(t, c.pkg, nil); why != "" {
			ok = false
			c.report(diag.New(diag.GoFunction, at.Span(), "%s %s", aType(t), why).
				WithHelp("what passes: integers, float, bool, string, bytes, time, duration, enums, value classes, Go types that are bound, and `T?`, `vector<T>` and `map<K, V>` of these"))
		}
	}
	for _, p := range d.Params {
		t := c.info.Defs[p].Type()
		if f.Go.Effect && IsOpaque(t) {
			c.noOpaque(t, p.Type, "a call after the commit cannot be given this")
			t = Invalid
		}
		check(t, p.Type)
		if p.IsYield() {
			ok = false
			c.errorAt(diag.GoFunction, p.Yield, "yield is for references to actors, which do not pass between aeon and Go")
		}
	}
	if f.Result != Void {
		check(f.Result, d.Result)
	}
	if d.IsYield() {
		ok = false
		c.errorAt(diag.GoFunction, d.Yield, "yield is for references to actors, which do not pass between aeon and Go")
	}
	return ok
}

// crossingExtern checks what a declaration says by itself.
func (c *checker) crossingExtern(f *Func, d *ast.ExternFunc) bool {
	ok := c.crossing(f, &d.Signature)
	switch {
	case d.IsYield():
	case f.Go.Effect && d.Recv != nil:
		ok = false
		c.errorAt(diag.GoFunction, d.Name.Span(), "%s has an effect, as it is neither `pure` nor `ro`, and a call after the commit is one of a function", f.FullName()).
			Help = "bind a Go function that calls the method, and give it what makes the value"
	case f.Go.Effect && f.Result != Void:
		ok = false
		c.errorAt(diag.GoFunction, d.Name.Span(), "%s has an effect, as it is neither `pure` nor `ro`, and so no result but `error`", f.name).
			Help = "`pure`: the result depends on the arguments alone; `ro`: the function reads what is outside of the program, and changes nothing"
	case f.Go.Effect:
	case f.Result == Void && d.Error == nil:
		ok = false
		c.errorAt(diag.GoFunction, d.Name.Span(), "%s has no result, so a call of it does nothing", f.name).Help = "a function that is pure or ro has a result, or an `error`"
	}
	return ok
}

// bind finds the Go function of f and compares the signatures.
func (c *checker) bind(f *Func, d *ast.ExternFunc) {
	pkg := f.Go.Package.Types
	if f.Go.Recv != nil {
		c.bindMethod(f, d)
		return
	}
	obj, ok := pkg.Scope().Lookup(f.name).(*types.Func)
	if !ok || !token.IsExported(f.name) {
		what := "no function"
		if o := pkg.Scope().Lookup(f.name); o != nil && !ok {
			what = "something that is no function and is called"
		} else if ok {
			what = "no exported function"
		}
		e := c.errorAt(diag.GoFunction, d.Name.Span(), "the Go package %q has %s %s", f.Go.Path, what, f.name)
		c.didYouMean(e, d.Name.Span(), c.similar(f.name, func(yield func(string)) {
			for _, n := range pkg.Scope().Names() {
				if _, fn := pkg.Scope().Lookup(n).(*types.Func); fn && token.IsExported(n) {
					yield(n)
				}
			}
		}))
		return
	}
	c.bindTo(f, d, obj)
}

// bindMethod finds the Go method of f.
func (c *checker) bindMethod(f *Func, d *ast.ExternFunc) {
	t := f.Go.Recv
	if m := goMethod(t.Named, f.name); m != nil {
		c.bindTo(f, d, m)
		return
	}
	e := c.errorAt(diag.GoFunction, d.Name.Span(), "the Go type %s has no exported method %s", t.GoText(), f.name)
	c.didYouMean(e, d.Name.Span(), c.similar(f.name, func(yield func(string)) {
		var of types.Type = t.Named
		if !t.IsInterface() {
			of = types.NewPointer(t.Named)
		}
		for m := range types.NewMethodSet(of).Methods() {
			if m.Obj().Exported() {
				yield(m.Obj().Name())
			}
		}
	}))
}

// bindTo compares the declaration of f with the Go function obj.
func (c *checker) bindTo(f *Func, d *ast.ExternFunc, obj *types.Func) {
	sig := obj.Signature()
	if sig.TypeParams().Len() > 0 || !f.matches(sig, d.Error != nil) {
		head := "func " + f.name + goText(sig)[len("func"):]
		if f.Go.Recv != nil {
			head = methodText(f.Go.Recv, obj)
		}
		e := c.errorAt(diag.GoFunction, d.Name.Span(), "in Go %s is `%s`, which is not `%s`", f.Go.Name(), head, externText(f, d))
		if !f.Go.Effect && firstIsContext(sig) {
			e.Help = contextHelp(f, d, sig)
		} else if why := f.difference(sig); why != "" {
			e.Help = why
		} else if text := f.aeonSignature(sig); text != "" {
			e.Help = "declare it as `" + text + "`"
		} else {
			e.Help = "some of its types have no counterpart in aeon: bind them, `type T;`, or write a Go function around it that has simpler ones"
		}
		return
	}
	f.Go.Sig = sig
}

// difference says which enum or class of the declaration is not what the Go function has in its place; "" if something else is wrong.
func (f *Func) difference(sig *types.Signature) string {
	params := f.Go.params(sig)
	if f.Go.Self && sig.Params().Len() > 0 {
		if why := goDifference(f.Class, sig.Params().At(0).Type()); why != "" {
			return why
		}
	}
	for i, p := range f.Params {
		if i < len(params) {
			if why := goDifference(p.typ, params[i].Type()); why != "" {
				return why
			}
		}
	}
	if sig.Results().Len() == 0 {
		return ""
	}
	g := sig.Results().At(0).Type()
	if o, ok := f.Result.(*Optional); ok {
		if _, pointer := types.Unalias(g).(*types.Pointer); !pointer { // an error makes it null
			return goDifference(o.Elem, g)
		}
	}
	return goDifference(f.Result, g)
}

// externText is the signature of a declaration as it is written.
func externText(f *Func, d *ast.ExternFunc) string {
	text := f.Signature()
	if d.Recv != nil {
		text = strings.Replace(text, " "+f.name+"(", " "+f.FullName()+"(", 1)
	}
	if d.Error != nil {
		text += " error"
	}
	return text
}

// matches reports whether a call of f, of whose declaration word says that it ends in `error`, may be a call of a Go function,
// and finds out what becomes of errors.
func (f *Func) matches(sig *types.Signature, word bool) bool {
	f.Go.Context = f.Go.takesContext(sig)
	params := f.Go.params(sig)
	if len(params) != len(f.Params) || f.Go.Self && (sig.Params().Len() != len(params)+1 || !GoTypeOf(f.Class, sig.Params().At(0).Type())) {
		return false
	}
	for i, p := range f.Params {
		if !GoTypeOf(p.typ, params[i].Type()) {
			return false
		}
	}
	n := sig.Results().Len()
	fails := n > 0 && isGoError(sig.Results().At(n-1).Type())
	if fails {
		n--
	}
	o, optional := f.Result.(*Optional)
	switch {
	case n > 1 || word && !fails:
		return false
	case word:
		f.Go.Fails = GoAborts
	case fails && n == 0:
		f.Go.Fails = GoText
		return optional && o.Elem == String
	case fails:
		f.Go.Fails = GoNull
		return optional && (GoTypeOf(o.Elem, sig.Results().At(0).Type()) || GoTypeOf(o, sig.Results().At(0).Type()))
	}
	if n == 0 {
		return f.Result == Void
	}
	return GoTypeOf(f.Result, sig.Results().At(0).Type())
}

// takesContext reports whether a function of that signature gets the context of the call, which the declaration leaves out.
func (g *GoFunc) takesContext(sig *types.Signature) bool {
	return g.Effect && firstIsContext(sig)
}

// contextHelp is the help for a function that is declared pure or ro, and gets a context in Go.
func contextHelp(f *Func, d *ast.ExternFunc, sig *types.Signature) string {
	word := "ro"
	if d.IsPure() {
		word = "pure"
	}
	n := sig.Results().Len()
	if f.Go.Recv == nil && (n == 0 || n == 1 && isGoError(sig.Results().At(0).Type())) {
		return "only a call after the commit gets a context.Context: leave `" + word + "` out and issue the call with `event go`, or bind a Go function that takes no context"
	}
	return "a function that is `" + word + "` gets no context.Context: bind a Go function that takes none"
}

func firstIsContext(sig *types.Signature) bool {
	if sig.Params().Len() == 0 {
		return false
	}
	n, ok := types.Unalias(sig.Params().At(0).Type()).(*types.Named)
	return ok && n.Obj().Name() == "Context" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}

// params returns the parameters of a Go function that a declaration has.
func (g *GoFunc) params(sig *types.Signature) []*types.Var {
	list := slices.Collect(sig.Params().Variables())
	if g.takesContext(sig) || g.Self && len(list) > 0 {
		return list[1:]
	}
	return list
}

// Params returns the parameters of the Go function that those of the declaration stand for.
func (g *GoFunc) Params() []*types.Var { return g.params(g.Sig) }

func isGoError(g types.Type) bool { return types.Identical(g, types.Universe.Lookup("error").Type()) }

// aeonSignature returns how the Go function that f names can be declared; "" if it cannot.
func (f *Func) aeonSignature(sig *types.Signature) string {
	if sig.TypeParams().Len() > 0 {
		return ""
	}
	var params []string
	for _, p := range f.Go.params(sig) {
		t := aeonType(p.Type(), f.Pkg)
		if t == "" {
			return ""
		}
		n := p.Name()
		if n == "" || n == "_" {
			n = fmt.Sprintf("p%d", len(params)+1)
		}
		params = append(params, t+" "+n)
	}
	result, fails, n := "void", "", sig.Results().Len()
	if n > 0 && isGoError(sig.Results().At(n-1).Type()) {
		fails, n = " error", n-1
	}
	if n == 1 {
		result = aeonType(sig.Results().At(0).Type(), f.Pkg)
	}
	if n > 1 || result == "" || result == "void" && fails == "" && !f.Go.Effect || result != "void" && f.Go.Effect {
		return ""
	}
	return result + " " + f.FullName() + "(" + strings.Join(params, ", ") + ")" + fails + ";"
}
