package typecheck

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// expr follows the uses of variables in an expression.
func (w *flowWalk) expr(x ast.Expr) {
	switch x := x.(type) {
	case nil:
	case *ast.Ident:
		w.use(x, w.info.Uses[x])
	case *ast.This:
		w.wholeThis(x, "`this` is used", "pass the object on where it was made: `new` returns it when the constructor is done")
	case *ast.Field:
		if _, this := ast.Unparen(x.X).(*ast.This); this {
			w.use(x, w.info.Uses[x])
			return
		}
		w.expr(x.X)
	case *ast.Call:
		w.call(x)
	default:
		ast.Children(x, func(n ast.Node) {
			if e, ok := n.(ast.Expr); ok {
				w.expr(e)
			}
		})
	}
}

func (w *flowWalk) call(x *ast.Call) {
	info := w.info.Calls[x]
	switch fun := ast.Unparen(x.Fun).(type) {
	case *ast.Field:
		if _, this := ast.Unparen(fun.X).(*ast.This); !this {
			w.expr(fun.X)
		}
	case *ast.OptionalField:
		w.expr(fun.X)
	}
	for _, a := range x.Args {
		w.expr(a)
	}
	w.expr(x.After)
	w.expr(x.Every)
	w.expr(x.Name)
	if info == nil || info.Func == nil || info.Func.Class == nil {
		return
	}
	if _, onThis := w.rootOf(info.Recv); onThis {
		w.wholeThis(x, info.Func.name+" is called", "do it in the constructor or in a function; or issue the call as an event where the object was made")
	}
}

// wholeThis reports that this leaves the constructor before its fields are set; of a client class, that it leaves it at all: a callback would run
// beside the constructor, and a constructor that callbacks wait for could wait for one itself. A method is as bad as `this`: it may pass that on.
func (w *flowWalk) wholeThis(at ast.Node, what, instead string) {
	if w.fn.Kind != Constructor || w.set.dead {
		return
	}
	if w.fn.Class.Kind == ast.ClientClass {
		w.report(diag.New(diag.ThisToCallbacks, at.Span(), "%s in the constructor of client class %s: callbacks could run beside it", what, w.fn.Class.name).
			WithHelp("%s", instead))
		return
	}
	if w.allSet() {
		return
	}
	var names []string
	for _, v := range w.fields {
		if !w.set.has(v) {
			names = append(names, v.name)
		}
	}
	w.report(diag.New(diag.ThisTooEarly, at.Span(), "%s before the constructor has set %s", what, strings.Join(names, ", ")).
		WithHelp("set all fields first; those of an optional or container type count as set"))
	for _, v := range w.fields { // once is enough
		w.set.set(v, true)
	}
}

// use reports a variable that may not have been set.
func (w *flowWalk) use(at ast.Node, obj Object) {
	v, ok := obj.(*Var)
	if !ok || w.set.dead || w.set.has(v) || w.reported[v] {
		return
	}
	switch {
	case v.Kind == FieldVar && w.fn.Kind == Constructor && mustSet(v):
		w.reported[v] = true
		w.report(diag.New(diag.FieldTooEarly, at.Span(), "field %s is used before the constructor has set it", v.name).
			With(v.span, "it has no initial value"))
	case v.Kind == LocalVar && w.trackedLocal(v):
		w.reported[v] = true
		d := diag.New(diag.UnsetLocal, at.Span(), "%s may be used before it is set", v.name).
			With(v.span, "declared without a value here").
			WithHelp("give it a value where it is declared, or on every path to this use")
		if t := v.Decl.(*ast.VarDecl).Type.Span().Text(); isVector(v.typ) {
			d = d.WithHelp("an empty vector is a value like any other: `%s %s = [];`", t, v.name).WithFix("start empty", diag.InsertAfter(v.span, " = []"))
		} else if IsContainer(v.typ) && v.typ != Bytes {
			d = d.WithHelp("an empty container is a value like any other: `new %s()`", t).WithFix("start empty", diag.InsertAfter(v.span, " = new "+t+"()"))
		}
		w.report(d)
	}
}

// trackedLocal reports whether v is declared by `T x;`.
func (w *flowWalk) trackedLocal(v *Var) bool {
	d, ok := v.Decl.(*ast.VarDecl)
	return ok && d.Init == nil && v.typ != Invalid
}

// unusedLocals reports the locals of f that nothing reads.
func (c *checker) unusedLocals(f *Func) {
	for _, v := range f.Locals {
		if v.Used || v.name == "_" || v.name == "" {
			continue
		}
		d := diag.New(diag.UnusedLocal, v.span, "%s is declared and not used", v.name)
		decl := v.Decl.(*ast.VarDecl)
		stmt := decl.Span()
		switch {
		case v.Assigned || v.Mutated:
			d = d.WithHelp("it is assigned, but nothing reads it")
		case v.inHead:
			d = d.WithHelp("to test for null only, write `if (%s != null)`", decl.Init.Span().Text())
		case decl.Init == nil || isInert(decl.Init):
			d = d.WithHelp("remove it, or use it").WithFix("remove the declaration", diag.Replace(wholeLine(stmt), ""))
		case isStatementExpr(decl.Init):
			d = d.WithHelp("remove it, or use it").
				WithFix("keep only "+statementWord(decl.Init), diag.Replace(ast.Span{Src: stmt.Src, Start: stmt.Start, End: decl.Init.Span().Start}, ""))
		default:
			d = d.WithHelp("remove it, or use it")
		}
		c.report(d)
	}
}

// statementWord names an expression that is a statement, too.
func statementWord(x ast.Expr) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.Await:
		if _, call := ast.Unparen(x.X).(*ast.Call); !call {
			return "the `await`"
		}
	case *ast.New:
		return "the `new`"
	}
	return "the call"
}

// wholeLine extends the span of a statement that stands alone on its line to
// the line, newline included.
func wholeLine(s ast.Span) ast.Span {
	text := s.Src.Text
	start, end := s.Start, s.End
	for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
		start--
	}
	for int(end) < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	if (start == 0 || text[start-1] == '\n') && int(end) < len(text) && text[end] == '\n' {
		return ast.Span{Src: s.Src, Start: start, End: end + 1}
	}
	return s
}

// isInert reports whether evaluating x does nothing that could be missed.
func isInert(x ast.Expr) bool {
	inert := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Call, *ast.New, *ast.Await, *ast.Index, *ast.Slice, *ast.NonNull, *ast.Binary, *ast.BadExpr:
			inert = false
		}
		return inert
	})
	return inert
}

func isStatementExpr(x ast.Expr) bool {
	switch ast.Unparen(x).(type) {
	case *ast.Call, *ast.New, *ast.Await:
		return true
	}
	return false
}

// unusedImports reports the imports of a file that nothing mentions.
func (c *checker) unusedImports(f *ast.File) {
	fs := c.files[f]
	for _, im := range f.Imports {
		for _, p := range fs.imports {
			if p.Decl == im && !p.used && p.Pkg != nil {
				c.report(diag.New(diag.UnusedImport, im.Span(), "%s is imported and not used", p.name).
					WithFix("remove the import", diag.Replace(wholeLine(im.Span()), "")))
			}
		}
	}
}
