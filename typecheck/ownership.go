package typecheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// ownership builds the class graph, [T-GRAPH] (AEON §3.4.4, figure 3.10): A -> B if B
// occurs in a plain field of A, or code of A, helpers included, calls B sync
// or async, creates or deletes one. Apart from self-loops it must be acyclic.
func (c *checker) ownership() {
	c.edgesOfCode()
	g := &graphBuilder{checker: c, edges: make(map[[2]*Class]*Edge)}
	for _, class := range c.pkg.Classes {
		if class.Kind == ast.ActorClass {
			c.info.Graph.Classes = append(c.info.Graph.Classes, class)
			g.class(class)
		}
	}
	g.finish()
	for _, cycle := range c.info.Graph.Cycles {
		c.report(c.cycleError(cycle))
	}
	if len(c.info.Graph.Cycles) == 0 {
		c.closeGraph()
	}
}

// hidesNothing has the errors of the first passes behind which all types of fields and all calls are known.
// Later passes find no types.
var hidesNothing = map[diag.Code]bool{
	diag.TypeMismatch: true, diag.BadArgCount: true, diag.NullNotHere: true, diag.NeverNull: true, diag.DuplicateCase: true, diag.MissingCases: true,
	diag.ConstOverflow: true, diag.BadTimer: true, diag.TimerOutside: true, diag.ClientOnly: true, diag.TailPlace: true, diag.TailResult: true,
	diag.CannotAssign: true, diag.BadReturn: true, diag.TableKeyWritten: true,
}

// graphKnown notes whether the ownership graph will be whole, once all expressions are checked.
func (c *checker) graphKnown() {
	for _, d := range c.diags {
		if d.Severity == diag.Error && !hidesNothing[d.Code] {
			return
		}
	}
	known := true
	for _, f := range c.pkg.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.BadDecl, *ast.BadMember, *ast.BadStmt, *ast.BadExpr, *ast.BadType:
				known = false
			}
			return known
		})
	}
	c.info.Graph.Known = known
}

type graphBuilder struct {
	*checker
	edges map[[2]*Class]*Edge
}

func (g *graphBuilder) add(from, to *Class, r Reason) {
	key := [2]*Class{from, to}
	e := g.edges[key]
	if e == nil {
		e = &Edge{From: from, To: to}
		g.edges[key] = e
		g.info.Graph.Edges = append(g.info.Graph.Edges, e)
	}
	e.Reasons = append(e.Reasons, r)
}

// class adds the edges of one actor class.
func (g *graphBuilder) class(class *Class) {
	for _, f := range class.Fields {
		if f.Yield {
			continue
		}
		eachActor(f.typ, func(to *Class) {
			g.add(class, to, Reason{Kind: FieldReason, Span: f.Field().Type.Span(), Field: f})
		})
	}
	seen := make(map[*Func]bool)
	work := slices.Clone(class.Methods)
	if class.Ctor != nil {
		work = append([]*Func{class.Ctor}, work...)
	}
	for _, f := range work {
		seen[f] = true
	}
	for len(work) > 0 {
		f := work[0]
		work = work[1:]
		for _, e := range f.edges {
			g.add(class, e.to, e.reason)
		}
		for _, callee := range f.helpers {
			if !seen[callee] {
				seen[callee] = true
				work = append(work, callee)
			}
		}
	}
}

// edgeOf is an edge to a class, from whatever class runs the code that makes it.
type edgeOf struct {
	to     *Class
	reason Reason
}

// edgesOfCode notes the edges that each function makes, and what it calls: helpers of this package also run for
// the classes of packages that import it.
func (c *checker) edgesOfCode() {
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		add := func(to *Class, kind ReasonKind, at ast.Node) {
			f.edges = append(f.edges, edgeOf{to, Reason{Kind: kind, Span: at.Span(), In: f}})
		}
		for _, x := range bf.calls {
			info := c.info.Calls[x]
			if info.Kind == ActorCall && x.Mode.Inside() && info.Through == ThroughPlain {
				add(info.Func.Class, CallReason, x)
			}
		}
		for _, x := range bf.news {
			if to, ok := c.info.News[x].Type.(*Class); ok && to.Kind == ast.ActorClass {
				add(to, CreateReason, x)
			}
		}
		for _, s := range bf.deletes {
			if to, ok := nonNull(c.info.TypeOf(s.X)).(*Class); ok && to.Kind == ast.ActorClass {
				add(to, DeleteReason, s)
			}
		}
		c.eachHelperCall(bf, func(callee *Func, _ ast.Span) { f.helpers = append(f.helpers, callee) })
	})
}

// finish orders the edges, sets what classes know of the graph, and finds the cycles.
func (g *graphBuilder) finish() {
	graph := g.info.Graph
	slices.SortStableFunc(graph.Edges, func(a, b *Edge) int {
		return cmp.Or(cmp.Compare(a.From.index, b.From.index), cmp.Compare(a.To.Pkg.Path, b.To.Pkg.Path), cmp.Compare(a.To.index, b.To.index))
	})
	out := make(map[*Class][]*Edge)
	for _, e := range graph.Edges {
		slices.SortStableFunc(e.Reasons, func(a, b Reason) int { return compareSpans(a.Span, b.Span) })
		if e.From == e.To {
			e.From.SelfRecursive = slices.ContainsFunc(e.Reasons, func(r Reason) bool { return r.Kind == FieldReason })
			continue
		}
		out[e.From] = append(out[e.From], e)
		e.From.Owns = append(e.From.Owns, e.To)
	}
	for _, class := range graph.Classes {
		slices.SortFunc(class.Owns, func(a, b *Class) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.Pkg.Path, b.Pkg.Path)) })
	}
	for _, component := range components(graph.Classes, out) {
		if len(component) > 1 {
			graph.Cycles = append(graph.Cycles, shortestCycle(component, out))
		}
	}
	slices.SortFunc(graph.Cycles, func(a, b []*Edge) int { return cmp.Compare(a[0].From.index, b[0].From.index) })
}

// components returns the strongly connected components (Tarjan).
func components(classes []*Class, out map[*Class][]*Edge) [][]*Class {
	type state struct {
		index, low int
		onStack    bool
	}
	states := make(map[*Class]*state)
	var stack []*Class
	var found [][]*Class
	var visit func(*Class) *state
	visit = func(v *Class) *state {
		s := &state{index: len(states), low: len(states), onStack: true}
		states[v] = s
		stack = append(stack, v)
		for _, e := range out[v] {
			if w := states[e.To]; w == nil {
				s.low = min(s.low, visit(e.To).low)
			} else if w.onStack {
				s.low = min(s.low, w.index)
			}
		}
		if s.low != s.index {
			return s
		}
		var component []*Class
		for {
			w := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			states[w].onStack = false
			component = append(component, w)
			if w == v {
				found = append(found, component)
				return s
			}
		}
	}
	for _, class := range classes {
		if states[class] == nil {
			visit(class)
		}
	}
	return found
}

// shortestCycle returns a shortest cycle through the first declared class of a
// component, starting there.
func shortestCycle(component []*Class, out map[*Class][]*Edge) []*Edge {
	in := make(map[*Class]bool)
	first := component[0]
	for _, class := range component {
		in[class] = true
		if class.index < first.index {
			first = class
		}
	}
	by := make(map[*Class]*Edge)
	work := []*Class{first}
	for len(work) > 0 {
		v := work[0]
		work = work[1:]
		for _, e := range out[v] {
			if e.To == first {
				cycle := []*Edge{e}
				for at := v; at != first; at = by[at].From {
					cycle = append([]*Edge{by[at]}, cycle...)
				}
				return cycle
			}
			if in[e.To] && by[e.To] == nil {
				by[e.To] = e
				work = append(work, e.To)
			}
		}
	}
	assert.Unreachable("a component of %d classes has no cycle", len(component))
	return nil
}

// cycleError shows the whole cycle, one span per edge, and the yield that
// would break it.
func (c *checker) cycleError(cycle []*Edge) diag.Diagnostic {
	first := cycle[0].From
	path := first.name
	for i, e := range cycle {
		if i == cycleShown {
			path += " -> …"
			break
		}
		path += " -> " + e.To.name
	}
	d := diag.New(diag.OwnershipCycle, first.Span(), "ownership goes in a circle: %s", path).
		WithLabel("%s would own itself", first.name)
	var candidates []*Var
	for _, e := range cycle {
		r := e.Reasons[0]
		d = d.With(r.Span, "%s", r.describe(e))
		if len(e.Reasons) == 1 && r.Kind == FieldReason {
			candidates = append(candidates, r.Field)
		}
	}
	if len(candidates) == 0 {
		return d.WithHelp("one of these has to become an event call, which makes no edge: replace the sync or async call with `event`")
	}
	if len(candidates) > 1 {
		help := "declare one of these fields `yield`; a yield field is not owned and takes only event calls: "
		for i, f := range candidates {
			if i > 0 {
				help += ", "
			}
			help += f.Class.name + "." + f.name
		}
		return d.WithHelp("%s", help)
	}
	f := candidates[0]
	return d.WithHelp("declare %s.%s `yield`: it is not owned then, and takes only event calls", f.Class.name, f.name).
		WithFix("declare "+f.name+" yield", diag.InsertBefore(f.Field().Type.Span(), "yield "))
}

// cycleShown bounds how many classes of a cycle the message names.
const cycleShown = 12

func (r Reason) describe(e *Edge) string {
	switch r.Kind {
	case FieldReason:
		return fmt.Sprintf("%s owns %s: it holds it in the plain field %s", e.From.name, e.To.name, r.Field.name)
	default:
		return fmt.Sprintf("%s must be above %s: %s %s %s", e.From.name, e.To.name, r.In.FullName(), r.Kind, aType(e.To))
	}
}
