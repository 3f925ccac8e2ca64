package typecheck

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// lostWrites warns of writes to a copy that nothing uses afterwards: the programmer believes that the
// original changes ([T-VALUE]). It never warns of a write that is used. So what counts as a use is
// coarse: every use that stands behind the write counts, whether a path leads there or not. In a loop
// around the write that the variable outlives, those before it count, too.
func (c *checker) lostWrites() {
	c.eachFunc(func(f *Func, _ *bodyFacts) { f.onlyWrites = c.onlyWrites(f) })
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if f.Body == nil || bf.bad {
			return
		}
		w := &lostWalk{
			checker: c, fn: f,
			used: make(map[*Var]int), depth: make(map[*Var]int),
			given: make(map[*Var]ast.Span), loopOf: make(map[*Var]*ast.ForEach),
		}
		w.node(f.Body)
		w.report()
	})
}

// lostWalk is the walk through one body, in the order of evaluation.
type lostWalk struct {
	*checker
	fn     *Func
	now    int               // counts uses and writes
	used   map[*Var]int      // the last use
	depth  map[*Var]int      // how many loops are around the declaration, each round of which makes a new variable
	loops  []int             // when the open loops began
	given  map[*Var]ast.Span // where the whole of it is stored or passed, the first place
	loopOf map[*Var]*ast.ForEach
	writes []copyWrite
}

// copyWrite is a write to a copy.
type copyWrite struct {
	at    ast.Node
	place ast.Expr // the path that is written
	root  *Var
	since int // a use after this may see it
}

func (w *lostWalk) node(n ast.Node) {
	switch n := n.(type) {
	case nil:
	case *ast.Ident:
		if v, ok := w.info.Uses[n].(*Var); ok {
			w.now++
			w.used[v] = w.now
		}
	case *ast.VarDecl:
		w.give(n.Init)
		w.children(n)
		w.declared(w.info.Defs[n])
	case *ast.VectorLit:
		w.give(n.Elems...)
		w.children(n)
	case *ast.MapLit:
		w.give(n.Parts()...)
		w.children(n)
	case *ast.New:
		w.give(n.Args...)
		w.children(n)
	case *ast.Call:
		w.giveArgs(n)
		w.children(n)
	case *ast.Assign:
		w.give(n.RHS)
		w.place(n.LHS)
		w.node(n.RHS)
		w.write(n, n.LHS)
	case *ast.IncDec:
		w.place(n.X)
		w.write(n, n.X)
	case *ast.ExprStmt:
		w.statement(n)
	case *ast.While, *ast.ForUpto:
		w.loop(n)
	case *ast.For:
		if n.Init != nil {
			w.node(n.Init)
		}
		w.loop(&ast.For{Loc: n.Loc, Cond: n.Cond, Post: n.Post, Body: n.Body})
	case *ast.ForEach:
		w.node(n.X)
		w.loops = append(w.loops, w.now)
		for _, at := range []ast.Node{n, n.Value} {
			if v, ok := w.info.Defs[at].(*Var); ok {
				w.declared(v)
				w.loopOf[v] = n
			}
		}
		w.node(n.Body)
		w.loops = w.loops[:len(w.loops)-1]
	default:
		w.children(n)
	}
}

func (w *lostWalk) children(n ast.Node) { ast.Children(n, w.node) }

func (w *lostWalk) loop(n ast.Node) {
	w.loops = append(w.loops, w.now)
	w.children(n)
	w.loops = w.loops[:len(w.loops)-1]
}

func (w *lostWalk) declared(obj Object) {
	if v, ok := obj.(*Var); ok {
		w.depth[v] = len(w.loops)
	}
}

// give notes which variables are stored or passed as a whole.
func (w *lostWalk) give(values ...ast.Expr) {
	for _, x := range values {
		if v := w.wholeLocal(x); v != nil {
			if _, again := w.given[v]; !again {
				w.given[v] = x.Span()
			}
		}
	}
}

func (w *lostWalk) giveArgs(x *ast.Call) {
	if info := w.info.Calls[x]; info != nil && (info.Func != nil || info.Kind == LibraryCall) {
		w.give(x.Args...)
	}
}

// place visits what is computed on the way to a place that is written; the variable it begins with is not
// used by that.
func (w *lostWalk) place(x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
	case *ast.Paren:
		w.place(x.X)
	case *ast.NonNull:
		w.place(x.X)
	case *ast.Field:
		w.place(x.X)
	case *ast.Index:
		w.place(x.X)
		w.node(x.I)
	default:
		w.node(x)
	}
}

// statement visits an expression whose result is not used: if it is a call that does nothing but write,
// that is no use of what it writes to.
func (w *lostWalk) statement(s *ast.ExprStmt) {
	call, ok := ast.Unparen(s.X).(*ast.Call)
	if !ok {
		w.node(s.X)
		return
	}
	info := w.info.Calls[call]
	if store := w.info.Stores[call]; store == nil || store.Root == nil || info.Kind != LibraryCall && (info.Func == nil || !info.Func.onlyWrites) {
		w.node(s.X)
		return
	}
	w.giveArgs(call)
	w.place(info.Recv)
	for _, a := range call.Args {
		w.node(a)
	}
	w.write(call, info.Recv)
}

// onlyWrites reports whether a method has no effect beside what it writes to its object: it does not fail
// on purpose, and calls nothing that might.
func (c *checker) onlyWrites(f *Func) bool {
	if f.Body == nil || !f.Mutating {
		return false
	}
	quiet := true
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Require, *ast.Assert, *ast.Abort:
			quiet = false
		case *ast.Call:
			if info := c.info.Calls[n]; info == nil || info.Func != nil || !isPure(info) && info.Kind != LibraryCall {
				quiet = false
			}
		}
		return quiet
	})
	return quiet
}

// write notes a write, if it is one to a copy.
func (w *lostWalk) write(at ast.Node, place ast.Expr) {
	store := w.info.Stores[at]
	if store == nil || store.Root == nil || store.Root.Kind == FieldVar {
		return
	}
	v := store.Root
	if s, ok := at.(*ast.Assign); w.wholeLocal(place) == v && store.Value != nil {
		// A whole variable: in a loop over elements, and where it is a parameter with something inside, this
		// is meant for the original. x = x has a warning of its own.
		if ok && w.wholeLocal(s.RHS) == v || w.loopOf[v] == nil && (v.Kind != ParamVar || !isCompound(v.typ)) {
			return
		}
	}
	w.now++
	since := w.now
	if d := w.depth[v]; d < len(w.loops) {
		since = w.loops[d]
	}
	w.writes = append(w.writes, copyWrite{at, place, v, since})
}

// isCompound reports whether values of t have parts that can be written.
func isCompound(t Type) bool {
	t = nonNull(t)
	class, ok := t.(*Class)
	return IsContainer(t) || ok && class.Kind == ast.ValueClass
}

// report warns of the writes that are lost, once for each variable.
func (w *lostWalk) report() {
	first := make(map[*Var]int)
	var lost []diag.Diagnostic
	for _, x := range w.writes {
		if w.used[x.root] > x.since {
			continue
		}
		if i, again := first[x.root]; again {
			lost[i] = lost[i].With(x.at.Span(), "this one is lost, too")
			continue
		}
		if d, ok := w.lost(x); ok {
			if w.fn.RO {
				d = d.WithHelp("a method that is `ro` changes nothing; it may return the copy")
			}
			first[x.root] = len(lost)
			lost = append(lost, d)
		}
	}
	w.diags = append(w.diags, lost...)
}

// lost words the warning: what the variable is a copy of, and how the original is written. There is none
// about a value that was made here and stored nowhere else: it is no copy.
func (w *lostWalk) lost(x copyWrite) (d diag.Diagnostic, ok bool) {
	v := x.root
	d = diag.Warn(diag.LostWrite, x.at.Span(), "this write is lost: %s is a copy, and nothing uses it afterwards", v.name)
	at, given := w.given[v]
	if v.Kind == ParamVar && given {
		return d.With(at, "a copy was stored or passed here").WithHelp("write first, and store or pass it then"), true
	}
	if v.Kind == ParamVar {
		return d.With(v.span, "a parameter is a copy of the argument").
			WithHelp("return it, and let the caller store it; or make this a method of the class that is to change"), true
	}
	if loop := w.loopOf[v]; loop != nil {
		return d.With(v.span, "the variable of a loop is a copy of the element").WithHelp("%s", w.elementHelp(loop, x)), true
	}
	decl, _ := v.Decl.(*ast.VarDecl)
	if decl == nil || decl.Init == nil {
		return d, false
	}
	origin, copied := w.origin(decl.Init)
	switch {
	case origin != "" && !v.Assigned:
		return d.With(v.span, "copied here").
			WithHelp("`%s` changes the original; or store %s where it belongs after the write", x.through(origin), v.name), true
	case copied:
		return d.WithHelp("store %s where it belongs after the write", v.name), true
	case given:
		d.Message = "this write is lost: nothing uses " + v.name + " afterwards"
		return d.With(at, "a copy was stored or passed here").WithHelp("write first, and store or pass it then"), true
	}
	return d, false
}

// elementHelp says how the elements are written that a loop goes over.
func (w *lostWalk) elementHelp(loop *ast.ForEach, x copyWrite) string {
	const elsewhere = "store the new value where the elements are kept"
	if _, optional := x.root.typ.(*Optional); optional {
		return elsewhere
	}
	over := w.loopedOver(loop.X)
	steps := w.info.Stores[x.at].Steps
	switch t := w.info.TypeOf(over).(type) {
	case *Table:
		table, key := over.Span().Text(), t.Key.name
		switch {
		case len(steps) == 0 && isAssign(x.at):
			return "`" + table + ".put(…)` stores a row"
		case len(steps) == 1 && steps[0].Field == t.Key:
			return "the key of a row does not change: remove the row, and insert another"
		}
		return "`" + x.through(table+"["+x.root.name+"."+key+"]") + "` changes the row"
	case *Map:
		if root, onThis := w.rootOf(over); (root != nil || onThis) && x.root == w.info.Defs[loop.Value] {
			return "`" + x.through(over.Span().Text()+"["+loop.Name.Text+"]") + "` changes the value"
		}
	case *Vector:
		if root, onThis := w.rootOf(over); root != nil || onThis {
			vector, at := over.Span().Text(), x.free("i", "j", "at")
			return "`for (int " + at + " = 0 upto " + vector + ".size()) { " + w.everywhere(x, vector+"["+at+"]") + " }` changes the elements"
		}
		if call, ok := ast.Unparen(over).(*ast.Call); ok {
			if info := w.info.Calls[call]; info != nil && info.Kind == LibraryCall && info.Library == ValuesMethod {
				if m, ok := info.RecvType.(*Map); ok {
					dict, at := info.Recv.Span().Text(), x.free("k", "key", "at")
					return "`for (" + m.Key.String() + " " + at + " : " + dict + ".keys()) { " + w.everywhere(x, dict+"["+at+"]") + " }` changes the values"
				}
			}
		}
	}
	return elsewhere
}

func isAssign(n ast.Node) bool { _, ok := n.(*ast.Assign); return ok }

// origin returns the path that x, the initial value of a variable, was read from; "" if it has none.
// copied: the value may be stored elsewhere, too.
func (w *lostWalk) origin(x ast.Expr) (path string, copied bool) {
	x = ast.Unparen(x)
	if n, ok := x.(*ast.NonNull); ok {
		x = ast.Unparen(n.X)
	}
	switch x := x.(type) {
	case *ast.Await:
		return "", true
	case *ast.Call:
		info := w.info.Calls[x]
		if info == nil || info.Kind == LibraryCall && (info.Library != GetMethod || info.Optional) {
			return "", false
		}
		if info.Kind != LibraryCall {
			return "", info.Func != nil
		}
		return info.Recv.Span().Text() + "[" + x.Args[0].Span().Text() + "]", true
	}
	if root, onThis := w.rootOf(x); root == nil || onThis {
		return "", false
	}
	path = x.Span().Text()
	if _, optional := w.info.TypeOf(x).(*Optional); optional {
		path += "!"
	}
	return path, true
}

// through returns the statement x on one line, with origin for the variable that it begins with.
func (x copyWrite) through(origin string) string {
	root := x.place
	for {
		switch e := root.(type) {
		case *ast.NonNull:
			root = e.X
			continue
		case *ast.Field:
			root = e.X
			continue
		case *ast.Index:
			root = e.X
			continue
		}
		break
	}
	span := root.Span()
	if _, optional := x.root.typ.(*Optional); optional && span.Src.Text[span.End] == '!' {
		span.End++ // origin says what may be null
	}
	return x.with(origin, span)
}

// everywhere returns the statement x on one line, with element wherever the variable is.
func (w *lostWalk) everywhere(x copyWrite, element string) string {
	var uses []ast.Span
	ast.Inspect(x.at, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && w.info.Uses[id] == x.root {
			uses = append(uses, id.Span())
		}
		return true
	})
	return x.with(element, uses...)
}

// with returns the statement x on one line, with text in the place of spans.
func (x copyWrite) with(text string, spans ...ast.Span) string {
	at := x.at.Span()
	from := at.Start
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(at.Src.Text[from:s.Start] + text)
		from = s.End
	}
	b.WriteString(at.Src.Text[from:at.End])
	return strings.Join(strings.Fields(strings.TrimSuffix(b.String(), ";")), " ") + ";"
}

// free returns the first of names that the statement does not mention.
func (x copyWrite) free(names ...string) string {
	taken := make(map[string]bool)
	ast.Inspect(x.at, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
		}
		return true
	})
	for _, name := range names {
		if !taken[name] || name == x.root.name {
			return name
		}
	}
	return names[len(names)-1]
}
