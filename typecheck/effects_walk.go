package typecheck

import (
	"cmp"
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
)

// effectWalk follows one body in program order.
type effectWalk struct {
	a   *effectAnalysis
	fn  *Func
	sum *summary
	bf  *bodyFacts

	locals   map[*Var]origins // of the references that a variable may hold
	loose    map[*Var]bool    // variables that are written through paths: places in them mean nothing
	written  map[*Var]bool    // fields of actors that may have been written so far, on any object
	looped   int32            // the end of the last loop whose writes are in written
	inThis   origins          // what a value-class method or constructor has stored in `this`
	guarding bool             // what is touched belongs to summary.guards
	grew     bool             // a local has got an origin in this round
	anything bool             // locals hold anything: the rounds before did not suffice

	stores []ast.Node  // of the body, by position; made when a loop needs them
	calls  []*ast.Call // likewise
	news   []*ast.New
}

func newEffectWalk(a *effectAnalysis, f *Func) *effectWalk {
	w := &effectWalk{a: a, fn: f, sum: f.sum, bf: a.facts[f], locals: make(map[*Var]origins), loose: make(map[*Var]bool)}
	for _, n := range w.bf.stores {
		s := a.info.Stores[n]
		if _, call := n.(*ast.Call); s.Root != nil && (call || len(s.Steps) > 0) {
			w.loose[s.Root] = true
		}
	}
	for _, p := range f.Params {
		if !a.holdsActors(p.typ) {
			continue
		}
		o := origins{{inValue, ipath{param: p}}}
		if w.loose[p] {
			o = loosen(o, p.typ)
		}
		w.locals[p] = settle(o, p.typ)
	}
	return w
}

// roundsMax bounds the rounds. A loop that hands references on from local to local, against the order of its body, needs a
// round for each local. If that is not enough, one more takes every local to hold anything.
const roundsMax = 64

// run walks the body until the origins of the locals are stable.
func (w *effectWalk) run() {
	if w.fn.IsMethodOf(ast.ActorClass) {
		w.access(ipath{}, w.fn.Class, Read, false)
	}
	for round := 0; ; round++ {
		w.grew = false
		if w.anything = round == roundsMax; w.anything {
			w.inThis = origins{{kind: anywhere}, {kind: fresh}}
		}
		w.written, w.looped = make(map[*Var]bool), 0
		if w.fn.Kind == Constructor {
			w.fieldInits()
		}
		if w.fn.Body != nil {
			w.stmts(w.fn.Body.Stmts)
		}
		if !w.grew || w.anything {
			break
		}
	}
	for f := range w.written {
		w.sum.written[f] = true
	}
}

// fieldInits: the initialisers run at the start of the constructor.
func (w *effectWalk) fieldInits() {
	for _, f := range w.fn.Class.Fields {
		init := f.Field().Init
		if init == nil {
			continue
		}
		from := loosen(w.eval(init), f.typ)
		if w.fn.Class.Kind == ast.ValueClass {
			w.keep(from)
			continue
		}
		w.writeIssuer()
		w.wrote(f)
		if !f.Yield && w.a.holdsActors(f.typ) {
			w.stored(f, from, f.typ)
		}
	}
}

// bind adds origins to a local.
func (w *effectWalk) bind(v *Var, from origins, t Type) {
	if v == nil || len(from) == 0 || !w.a.holdsActors(v.typ) {
		return
	}
	if w.loose[v] {
		from = loosen(from, t)
	}
	from = settle(from, v.typ)
	for _, o := range from {
		next, grew := w.locals[v].add(o)
		w.locals[v] = next
		w.grew = w.grew || grew
	}
}

func (w *effectWalk) stmts(list []ast.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *effectWalk) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.Block:
		w.stmts(s.Stmts)
	case *ast.VarDecl:
		w.varDecl(s)
	case *ast.Assign:
		w.assign(s)
	case *ast.IncDec:
		w.eval(s.X)
		w.store(s, nil, nil)
	case *ast.If:
		w.eval(s.Cond)
		if s.Decl != nil {
			w.varDecl(s.Decl)
		}
		w.branches([]func(){func() { w.stmts(s.Then.Stmts) }, func() { w.stmt(s.Else) }})
	case *ast.While, *ast.For, *ast.ForUpto, *ast.ForEach:
		w.loop(s)
	case *ast.Switch:
		w.eval(s.X)
		var cases []func()
		for _, c := range s.Cases {
			for _, v := range c.Values {
				w.eval(v)
			}
			cases = append(cases, func() { w.stmts(c.Body) })
		}
		w.branches(cases)
	case *ast.Match:
		w.eval(s.X)
		var cases []func()
		for _, c := range s.Cases {
			cases = append(cases, func() { w.stmts(c.Body) })
		}
		w.branches(cases)
	case *ast.Return:
		w.returned(s)
	case *ast.Delete:
		from := w.eval(s.X)
		if class, ok := nonNull(w.a.info.TypeOf(s.X)).(*Class); ok {
			w.touch(from, class, Write)
		}
	case *ast.Cancel:
		w.eval(s.Name)
		w.writeIssuer()
	case *ast.TailCall:
		w.eval(s.X)
		if info := w.a.info.Calls[s.X]; info != nil && info.Through == ThroughThis {
			w.writeIssuer() // the chain that keeps the actor must have had it alone ([KEEP])
		}
	default:
		expressions(s, func(x ast.Expr) { w.eval(x) })
	}
}

// branches walks alternatives: what one writes has not been written in another.
func (w *effectWalk) branches(list []func()) {
	before := maps.Clone(w.written)
	after := w.written
	for _, branch := range list {
		w.written = maps.Clone(before)
		branch()
		maps.Copy(after, w.written)
	}
	w.written = after
}

// writeIssuer is a write of the actor whose code runs: of a field, or of something else that
// belongs to it. A helper runs for its caller.
func (w *effectWalk) writeIssuer() {
	if w.fn.IsMethodOf(ast.ActorClass) {
		w.access(ipath{}, w.fn.Class, Write, false)
	} else {
		w.sum.issuer = true
	}
}

func (w *effectWalk) varDecl(s *ast.VarDecl) {
	from := w.eval(s.Init)
	if v, ok := w.a.info.Defs[s].(*Var); ok && s.Init != nil {
		w.bind(v, from, w.a.info.TypeOf(s.Init))
	}
}

func (w *effectWalk) returned(s *ast.Return) {
	from := w.eval(s.X)
	if s.X == nil || !w.a.holdsActors(w.fn.Result) {
		return
	}
	w.sum.result = w.sum.result.union(settle(from, w.fn.Result))
}

// loop walks a loop. What its body writes may have been written when an
// iteration starts.
func (w *effectWalk) loop(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.While:
		w.enterLoop(s.Span())
		w.eval(s.Cond)
		w.stmts(s.Body.Stmts)
	case *ast.For:
		w.stmt(s.Init)
		w.enterLoop(s.Span())
		w.eval(s.Cond)
		w.stmts(s.Body.Stmts)
		w.stmt(s.Post)
	case *ast.ForUpto:
		w.eval(s.From)
		w.eval(s.To)
		w.enterLoop(s.Body.Span())
		w.stmts(s.Body.Stmts)
	case *ast.ForEach:
		from := w.eval(s.X) // the value as it was when the loop began
		first := NoElem
		if s.Value != nil {
			first = ElemKeys
			w.bindLoop(s.Value, stepAll(from, NoElem))
		}
		w.bindLoop(s, stepAll(from, first))
		w.enterLoop(s.Body.Span())
		w.stmts(s.Body.Stmts)
	}
}

// bindLoop gives the variable that n declares what a loop goes over.
func (w *effectWalk) bindLoop(n ast.Node, from origins) {
	if v, ok := w.a.info.Defs[n].(*Var); ok {
		w.bind(v, from, v.typ)
	}
}

// stepAll is the elements of a container.
func stepAll(from origins, elem Elem) origins {
	if elem == NoElem {
		elem = ElemAll
	}
	var out origins
	for _, o := range from {
		out, _ = out.add(o.step(nil, elem, "", nil))
	}
	return out
}

// enterLoop adds the fields that are written within a span. An outer loop has added those of its inner ones.
func (w *effectWalk) enterLoop(span ast.Span) {
	if span.End <= w.looped {
		return
	}
	w.looped = span.End
	if w.stores == nil && w.calls == nil && w.news == nil {
		w.stores, w.calls, w.news = slices.Clone(w.bf.stores), slices.Clone(w.bf.calls), slices.Clone(w.bf.news)
		slices.SortFunc(w.stores, func(a, b ast.Node) int { return cmp.Compare(a.Span().Start, b.Span().Start) })
		slices.SortFunc(w.calls, func(a, b *ast.Call) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
		slices.SortFunc(w.news, func(a, b *ast.New) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	}
	i, _ := slices.BinarySearchFunc(w.stores, span.Start, func(n ast.Node, at int32) int { return cmp.Compare(n.Span().Start, at) })
	for ; i < len(w.stores) && w.stores[i].Span().Start < span.End; i++ {
		w.wrote(w.a.info.Stores[w.stores[i]].Root)
	}
	j, _ := slices.BinarySearchFunc(w.calls, span.Start, func(n *ast.Call, at int32) int { return cmp.Compare(n.Range.Start, at) })
	for ; j < len(w.calls) && w.calls[j].Range.Start < span.End; j++ {
		if f := w.a.info.Calls[w.calls[j]].Func; f != nil && w.calls[j].Mode.Inside() {
			w.wroteAll(f.sum)
		}
	}
	k, _ := slices.BinarySearchFunc(w.news, span.Start, func(n *ast.New, at int32) int { return cmp.Compare(n.Range.Start, at) })
	for ; k < len(w.news) && w.news[k].Range.Start < span.End; k++ {
		if f := w.a.info.News[w.news[k]].Ctor; f != nil {
			w.wroteAll(f.sum)
		}
	}
}

// wrote notes a write of a field of an actor.
func (w *effectWalk) wrote(root *Var) {
	if root != nil && root.Kind == FieldVar && root.Class.Kind == ast.ActorClass && w.a.holdsActors(root.typ) {
		w.written[root] = true
	}
}

func (w *effectWalk) wroteAll(s *summary) {
	if s != nil {
		for f := range s.written {
			w.written[f] = true
		}
	}
}
