package typecheck

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// GoBodyPath is what Options.Go is asked for where a body is written in Go: the Go package in the directory `go` beside the sources.
const GoBodyPath = "./go"

// goBodyOf returns what is known of a function with the body `= go` before its types are; nil for another one.
func goBodyOf(s *ast.Signature, goBody bool) *GoFunc {
	if !goBody {
		return nil
	}
	return &GoFunc{Pure: s.IsPure()}
}

// bindBodies finds the Go functions that are the bodies `= go` of this package.
func (c *checker) bindBodies() {
	var pkg *GoPackage
	var err error
	asked, said := false, false
	for _, f := range c.pkg.GoBodies {
		if f.name == "" || f.Class != nil && slices.ContainsFunc(f.Class.Fields, func(v *Var) bool { return v.typ == Invalid }) {
			continue // that is reported
		}
		s, loc := goBodyDecl(f)
		if ok := c.goBodyPlace(f, s); !ok || !c.crossing(f, s) {
			continue
		}
		if !asked {
			asked = true
			if c.opts.Go == nil {
				err = fmt.Errorf("there are no Go packages here")
			} else {
				pkg, err = c.opts.Go(GoBodyPath)
			}
		}
		switch {
		case err == nil:
			f.Go.Package, f.Go.Path = pkg, pkg.Types.Path()
			c.bindBody(f)
		case !said: // it is the same for all of them
			said = true
			e := c.errorAt(diag.GoBody, loc, "the body of %s is written in Go, and %v", f.FullName(), err)
			if e.Help = remedyOf(err); e.Help != "" {
				continue
			}
			e.Help = "it is a function of the Go package in the directory `go` beside the sources, in a Go module: " + c.goStub(f, nil)
		}
	}
}

// goBodyDecl returns the head of a function whose body is `= go`, and the place of its name.
func goBodyDecl(f *Func) (*ast.Signature, ast.Span) {
	switch d := f.Decl.(type) {
	case *ast.FuncDecl:
		return &d.Signature, d.Name.Span()
	case *ast.MethodDecl:
		return &d.Signature, d.Name.Span()
	}
	return nil, ast.Span{}
}

// goBodyPlace reports a function that can have no such body.
func (c *checker) goBodyPlace(f *Func, s *ast.Signature) bool {
	if f.Class != nil && f.Class.Kind == ast.ValueClass {
		f.Go.Self = true
		if why := notCrossing(f.Class, c.pkg, nil); why != "" {
			c.report(diag.New(diag.GoBody, f.span, "the body of %s cannot be written in Go: %s %s", f.FullName(), aType(f.Class), why).
				With(f.Class.Span(), "declared here").WithHelp("write a function with what it needs as parameters, whose body is `= go`, and call it here"))
			return false
		}
	}
	switch {
	case f == c.pkg.Main:
		c.errorAt(diag.GoBody, f.span, "the body of main is what the program does, and cannot be written in Go").Help = "call a function with the body `= go` in it"
	case f.Class != nil && f.Class.Kind != ast.ValueClass:
		c.errorAt(diag.GoBody, f.span, "the body of %s, a method of %s, cannot be written in Go, which knows no actors", f.FullName(), aKind(f.Class.Kind)).
			Help = "write a function with what it needs as parameters, whose body is `= go`, and call it here"
	case !s.IsPure() && !s.IsRO():
		c.errorAt(diag.GoBody, f.span, "what the body of %s does in Go is not known: it is neither `pure` nor `ro`", f.FullName()).
			Help = "`pure`: the result depends on the arguments alone; `ro`: the function reads what is outside of the program, and changes nothing; one that changes something is bound in an `extern go` block, and issued with `event go`"
	default:
		return true
	}
	return false
}

// goBodyName returns the name of the Go function that is the body of f.
func goBodyName(f *Func) string {
	if f.Class != nil {
		return goName(f.Class.name) + "_" + f.name
	}
	return goName(f.name)
}

// bindBody finds the Go function that is the body of f, and compares it.
func (c *checker) bindBody(f *Func) {
	pkg := f.Go.Package.Types
	f.Go.Callee = goBodyName(f)
	report := func(format string, args ...any) *diag.Diagnostic {
		return c.errorAt(diag.GoBody, f.span, "the body of %s is "+format, append([]any{f.FullName()}, args...)...)
	}
	obj, ok := pkg.Scope().Lookup(f.Go.Callee).(*types.Func)
	if !ok {
		report("not there: the Go package %q has no function %s", f.Go.Path, f.Go.Callee).Help = "write it there: " + c.goStub(f, pkg)
		return
	}
	sig := obj.Signature()
	if sig.TypeParams().Len() > 0 || !f.matches(sig, false) && !f.matches(sig, true) || f.Result == Void && f.Go.Fails == GoNever {
		help := "write " + c.goStub(f, pkg)
		if why := f.difference(sig); why != "" {
			help = why + "; " + help
		}
		report("`func %s%s` in Go, which is not `%s`", f.Go.Callee, goText(sig)[len("func"):], f.Signature()).Help = help
		return
	}
	f.Go.Sig = sig
}

// goStub returns the Go function that can be the body of f, as a part of a help, with the types that pkg lacks; pkg may be nil.
func (c *checker) goStub(f *Func, pkg *types.Package) string {
	w := goWriter{pkg: pkg, made: map[*Class]bool{}}
	var params []string
	add := func(name string, t Type) {
		if token.IsKeyword(name) || name == "self" && len(params) > 0 {
			name += "_"
		}
		params = append(params, name+" "+w.text(t))
	}
	if f.Go.Self {
		add("self", f.Class)
	}
	for _, p := range f.Params {
		add(p.name, p.typ)
	}
	result := " error"
	if f.Result != Void {
		result = " " + w.text(f.Result)
	}
	stub := "`func " + goBodyName(f) + "(" + strings.Join(params, ", ") + ")" + result + " { … }`"
	for _, t := range w.types {
		stub += ", with `" + t + "`"
	}
	return stub
}

// goWriter writes types as Go code of the package with the bodies does.
type goWriter struct {
	pkg   *types.Package // nil if it is not there
	made  map[*Class]bool
	types []string // declarations that it lacks
}

var goTexts = map[Type]string{Int: "int64", Uint64: "uint64", Float: "float64", Bytes: "[]byte", Time: "time.Time", Duration: "time.Duration"}

func (w *goWriter) text(t Type) string {
	if of := GoTypeBehind(nonNull(t)); of != nil {
		text := types.TypeString(of.Named, func(p *types.Package) string {
			if w.pkg != nil && p.Path() == w.pkg.Path() {
				return ""
			}
			return p.Name()
		})
		if _, optional := t.(*Optional); (optional || of.Opaque()) && !of.IsInterface() {
			return "*" + text
		}
		return text
	}
	switch t := t.(type) {
	case *Optional:
		return "*" + w.text(t.Elem)
	case *Vector:
		return "[]" + w.text(t.Elem)
	case *Map:
		return "map[" + w.text(t.Key) + "]" + w.text(t.Value)
	case *Enum:
		if name := goName(t.name); w.has(name) {
			return name
		}
		return "string"
	case *Class:
		name := goName(t.name)
		if !w.has(name) && !w.made[t] {
			w.made[t] = true
			i := len(w.types)
			w.types = append(w.types, "")
			var fields []string
			for _, f := range t.Fields {
				fields = append(fields, goName(f.name)+" "+w.text(f.typ))
			}
			w.types[i] = "type " + name + " struct { " + strings.Join(fields, "; ") + " }"
		}
		return name
	}
	if text := goTexts[t]; text != "" {
		return text
	}
	return t.String()
}

func (w *goWriter) has(name string) bool {
	if w.pkg == nil {
		return false
	}
	_, ok := w.pkg.Scope().Lookup(name).(*types.TypeName)
	return ok
}
