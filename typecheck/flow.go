package typecheck

import (
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// flow, [T-INIT], follows control through every body: locals and fields are set before
// they are used, results are returned, and everything can be reached. Unused
// locals and imports are reported here too.
func (c *checker) flow() {
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if f.Kind == Constructor && f.Decl == nil {
			c.unsetFields(f.Class)
		}
		if f.Body == nil || bf.bad {
			return
		}
		w := &flowWalk{checker: c, fn: f, set: newFacts(), reported: make(map[*Var]bool)}
		if f.Kind == Constructor {
			w.startConstructor()
		}
		w.stmts(f.Body.Stmts)
		assert.That(len(w.targets) == 0, "the flow is left within a loop or switch")
		w.end()
		w.reportToItself()
		c.unusedLocals(f)
	})
	for _, f := range c.pkg.Files {
		c.unusedImports(f)
	}
}

// unsetFields reports the fields that nothing sets in a class without constructor.
func (c *checker) unsetFields(class *Class) {
	if class.Kind == ast.ValueClass {
		return // its implicit constructor takes them
	}
	for _, v := range class.Fields {
		if !mustSet(v) {
			continue
		}
		d := diag.New(diag.FieldNotSet, v.span, "field %s is never set: %s has no constructor", v.name, class.name).
			WithHelp("give it an initial value, or write a constructor; a field of type `%s?` starts as null", v.typ)
		if zero := zeroOf(v.typ); zero != "" {
			d = d.WithFix("start with "+zero, diag.InsertAfter(v.span, " = "+zero))
		}
		c.report(d)
	}
}

// zeroOf returns an obvious initial value for a type, or "".
func zeroOf(t Type) string {
	switch {
	case t == Bool:
		return "false"
	case t == Float:
		return "0.0"
	case IsNumeric(t):
		return "0"
	case t == String:
		return `""`
	case t == Duration:
		return "0s"
	}
	return ""
}

// flowWalk is the state of the walk through one body.
type flowWalk struct {
	*checker
	fn       *Func
	set      *facts // the tracked variables that are certainly set
	fields   []*Var // that the constructor has to set; nil elsewhere
	reported map[*Var]bool
	targets  []target
	missing  []ast.Span // exits of the constructor with fields unset
	unset    map[*Var]bool
	saidDead bool
	toItself []*ast.Assign // that store in a variable what it has
}

func (w *flowWalk) startConstructor() {
	for _, v := range w.fn.Class.Fields {
		if mustSet(v) {
			w.fields = append(w.fields, v)
		}
	}
	w.unset = make(map[*Var]bool)
}

// allSet reports whether every field has been set.
func (w *flowWalk) allSet() bool {
	for _, v := range w.fields {
		if !w.set.has(v) {
			return false
		}
	}
	return true
}

// exit notes an end of the constructor.
func (w *flowWalk) exit(at ast.Span) {
	if w.set.dead {
		return
	}
	n := len(w.unset)
	for _, v := range w.fields {
		if !w.set.has(v) {
			w.unset[v] = true
		}
	}
	if len(w.unset) > n {
		w.missing = append(w.missing, at)
	}
}

// end checks what holds at the end of the body.
func (w *flowWalk) end() {
	span := w.fn.Body.Span()
	closing := ast.Span{Src: span.Src, Start: max(span.Start, span.End-1), End: span.End}
	if w.fn.Kind == Constructor {
		w.exit(closing)
		w.reportUnset()
		return
	}
	if !w.set.dead && w.fn.Result != Void && w.fn.Result != Invalid {
		w.report(diag.New(diag.MissingReturn, closing, "%s can end here without returning %s", w.fn.FullName(), aType(w.fn.Result)).
			With(w.fn.span, "declared with a result here").
			WithHelp("return a value on every path, or abort"))
	}
}

func (w *flowWalk) reportUnset() {
	var names []string
	for _, v := range w.fields {
		if w.unset[v] {
			names = append(names, v.name)
		}
	}
	if len(names) == 0 {
		return
	}
	word := "field"
	if len(names) > 1 {
		word = "fields"
	}
	d := diag.New(diag.FieldNotSet, w.fn.span, "this constructor does not set the %s %s on every path", word, strings.Join(names, ", "))
	for _, v := range w.fields {
		if w.unset[v] {
			d = d.With(v.span, "%s has no initial value", v.name)
		}
	}
	for _, at := range w.missing {
		if at.Text() != "}" {
			d = d.With(at, "it can end here")
		}
	}
	for _, p := range w.fn.Params {
		if f := w.hiddenBy(p); f != nil && w.unset[f] {
			w.report(w.hidden(d, p))
			return
		}
	}
	w.report(d.WithHelp("set it before every end of the constructor, or give the field an initial value"))
}

// hiddenBy returns the field of this that a parameter or local has the name of; nil if there is none.
func (w *flowWalk) hiddenBy(v *Var) *Var {
	if v.Kind == FieldVar || w.fn.Class == nil {
		return nil
	}
	f, _ := w.fn.Class.members[v.name].(*Var)
	return f
}

// setField says how the field is set that v hides.
func setField(d diag.Diagnostic, v *Var) diag.Diagnostic {
	return d.WithHelp("%s is %s here, which hides the field: write `this.%s = %s;`", v.name, describe(v), v.name, v.name)
}

// hidden adds to d how the field is set that p hides, and where p was set instead.
func (w *flowWalk) hidden(d diag.Diagnostic, p *Var) diag.Diagnostic {
	d = setField(d, p)
	for i, s := range w.toItself {
		if w.wholeVar(s.LHS) == p {
			w.toItself = append(w.toItself[:i:i], w.toItself[i+1:]...) // this is said with d
			return d.With(s.Span(), "sets the parameter to itself").
				WithFix("set the field", diag.InsertBefore(s.LHS.Span(), "this."))
		}
	}
	return d
}

// reportToItself warns of assignments that change nothing.
func (w *flowWalk) reportToItself() {
	for _, s := range w.toItself {
		v := w.wholeVar(s.LHS)
		d := diag.Warn(diag.SelfAssigned, s.Span(), "%s is assigned to itself, which changes nothing", v.name)
		if w.hiddenBy(v) != nil {
			d = setField(d, v).
				WithFix("set the field", diag.InsertBefore(s.LHS.Span(), "this."))
		} else {
			d = d.WithHelp("remove it")
		}
		w.report(d)
	}
}

func (w *flowWalk) stmts(list []ast.Stmt) {
	for i, s := range list {
		if w.set.dead && !w.saidDead {
			w.saidDead = true
			d := diag.Warn(diag.Unreachable, s.Span(), "control never gets here")
			if i > 0 {
				if tail := lastTail(list[i-1]); tail != nil {
					d = d.With(tail.Span(), "ends the method").
						WithHelp("put what comes before the next step above `tail`, and what comes after it into the method that `tail` calls; behind `event` the method goes on")
				}
			}
			w.report(d)
		}
		w.stmt(s)
	}
}

// lastTail returns the tail call with which every path through s ends, the last one of them, or nil.
func lastTail(s ast.Stmt) *ast.TailCall {
	switch s := s.(type) {
	case *ast.TailCall:
		return s
	case *ast.Block:
		if n := len(s.Stmts); n > 0 {
			return lastTail(s.Stmts[n-1])
		}
	case *ast.If:
		if lastTail(s.Then) != nil {
			return lastTail(s.Else)
		}
	}
	return nil
}

func (w *flowWalk) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.Block:
		w.stmts(s.Stmts)
	case *ast.VarDecl:
		w.expr(s.Init)
		if v, ok := w.info.Defs[s].(*Var); ok && s.Init == nil {
			w.set.set(v, false)
		}
	case *ast.Assign:
		w.assign(s)
	case *ast.If:
		w.ifStmt(s)
	case *ast.While:
		w.loop(s.Cond, nil, s.Body)
	case *ast.For:
		w.stmt(s.Init)
		w.loop(s.Cond, s.Post, s.Body)
	case *ast.ForUpto:
		w.expr(s.From)
		w.expr(s.To)
		w.each(s.Body)
	case *ast.ForEach:
		w.expr(s.X)
		w.each(s.Body)
	case *ast.Switch:
		w.switchStmt(s)
	case *ast.Match:
		w.matchStmt(s)
	case *ast.Return:
		w.expr(s.X)
		w.exit(s.Span())
		w.set.dead = true
	case *ast.TailCall:
		w.expr(s.X)
		w.exit(s.Span())
		w.set.dead = true
		w.saidDead = w.saidDead || !w.fn.mayTail() // it stands where it should not: one error is enough
	case *ast.Break:
		if n := len(w.targets); n > 0 {
			w.targets[n-1].breaks = append(w.targets[n-1].breaks, w.set.peek(w.targets[n-1].mark))
		}
		w.set.dead = true
	case *ast.Continue:
		w.set.dead = true
	case *ast.Abort:
		w.expr(s.Msg)
		w.set.dead = true
	case *ast.TryCatch:
		w.tryStmt(s)
	default:
		expressions(s, w.expr)
	}
}

// expressions visits the expressions of a statement through which control goes straight.
func expressions(s ast.Stmt, visit func(ast.Expr)) {
	ast.Children(s, func(n ast.Node) {
		switch n := n.(type) {
		case ast.Expr:
			visit(n)
		case ast.Stmt: // Invariant: each walk knows the statements that have others in them.
			assert.Unreachable("no walk knows the statement %T in %T", n, s)
		}
	})
}

// assign: the whole of a variable on the left is set, anything longer is read.
func (w *flowWalk) assign(s *ast.Assign) {
	v := w.wholeVar(s.LHS)
	if v == nil || s.Op != ast.OpNone {
		w.expr(s.LHS)
	}
	w.expr(s.RHS)
	if v != nil && s.Op == ast.OpNone && w.wholeVar(s.RHS) == v {
		w.toItself = append(w.toItself, s)
	}
	if v != nil && (v.Kind == FieldVar || w.trackedLocal(v)) {
		w.set.set(v, true)
	}
}

// wholeVar returns the variable or own field that x is.
func (w *flowWalk) wholeVar(x ast.Expr) *Var {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, _ := w.info.Uses[x].(*Var)
		return v
	case *ast.Field:
		if _, this := ast.Unparen(x.X).(*ast.This); this {
			v, _ := w.info.Uses[x].(*Var)
			return v
		}
	}
	return nil
}

func (w *flowWalk) ifStmt(s *ast.If) {
	w.expr(s.Cond)
	if s.Decl != nil {
		w.stmt(s.Decl)
	}
	m := w.set.mark()
	w.stmts(s.Then.Stmts)
	then := w.set.take(m)
	w.stmt(s.Else)
	w.set.join(then, w.set.take(m))
}

func (w *flowWalk) loop(cond ast.Expr, post ast.Stmt, body *ast.Block) {
	w.expr(cond)
	endless := cond == nil || isTrue(w.info.ConstOf(cond))
	m := w.set.mark()
	breaks := w.loopBody(body, m)
	w.set.undo(m)
	if post != nil {
		// What the body sets before every continue is not followed: post may
		// use what was set before the loop.
		w.stmt(post)
		w.set.undo(m)
	}
	if !endless {
		breaks = append(breaks, delta{})
	}
	w.set.join(breaks...)
}

func (w *flowWalk) loopBody(body *ast.Block, m factMark) []delta {
	w.targets = append(w.targets, target{mark: m, loop: true})
	w.stmts(body.Stmts)
	last := w.targets[len(w.targets)-1]
	w.targets = w.targets[:len(w.targets)-1]
	return last.breaks
}

func (w *flowWalk) each(body *ast.Block) {
	m := w.set.mark()
	w.loopBody(body, m)
	w.set.undo(m)
}

func (w *flowWalk) switchStmt(s *ast.Switch) {
	w.expr(s.X)
	m := w.set.mark()
	w.targets = append(w.targets, target{mark: m})
	total := w.info.Exhaustive[s]
	var ends []delta
	for _, c := range s.Cases {
		total = total || c.Default
		for _, v := range c.Values {
			w.expr(v)
		}
		w.stmts(c.Body)
		ends = append(ends, w.set.take(m))
	}
	w.endSwitch(ends, total)
}

func (w *flowWalk) matchStmt(s *ast.Match) {
	w.expr(s.X)
	m := w.set.mark()
	w.targets = append(w.targets, target{mark: m})
	var ends []delta
	for _, c := range s.Cases {
		w.stmts(c.Body)
		ends = append(ends, w.set.take(m))
	}
	w.endSwitch(ends, true) // one that is not exhaustive was reported
}

func (w *flowWalk) endSwitch(ends []delta, total bool) {
	ends = append(ends, w.targets[len(w.targets)-1].breaks...)
	w.targets = w.targets[:len(w.targets)-1]
	if !total || len(ends) == 0 {
		ends = append(ends, delta{})
	}
	w.set.join(ends...)
}

func (w *flowWalk) tryStmt(s *ast.TryCatch) {
	m := w.set.mark()
	w.stmts(s.Body.Stmts)
	tried := w.set.take(m)
	if s.Catch == nil {
		w.set.join(tried)
		return
	}
	w.stmts(s.Catch.Body.Stmts)
	w.set.join(tried, w.set.take(m))
}
