package draw

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Ownership returns the graph of a checked package: its actor classes, the
// ownership edges, and the yield references that its fields hold. It works on
// packages with errors, too: a cycle is best understood as a drawing.
func Ownership(info *typecheck.Info) Graph {
	b := &builder{g: Graph{Name: info.Package.Name}, own: info.Package, known: map[*typecheck.Class]bool{}}
	for _, c := range info.Package.Classes {
		if c.Kind == ast.ActorClass {
			b.node(c)
		}
	}
	inCycle := map[*typecheck.Edge]bool{}
	for _, cycle := range info.Graph.Cycles {
		for _, e := range cycle {
			inCycle[e] = true
		}
	}
	for _, e := range info.Graph.Edges {
		b.owns(e, inCycle[e])
	}
	for _, c := range info.Package.Classes {
		if c.Kind == ast.ActorClass {
			b.yields(c)
		}
	}
	return b.g
}

// builder collects nodes and edges.
type builder struct {
	g     Graph
	own   *typecheck.Package
	known map[*typecheck.Class]bool
}

// name qualifies the classes of other packages.
func (b *builder) name(c *typecheck.Class) string {
	if c.Pkg != nil && c.Pkg != b.own {
		return c.Pkg.Name + "." + c.Name()
	}
	return c.Name()
}

func (b *builder) node(c *typecheck.Class) {
	if !b.known[c] {
		b.known[c] = true
		b.g.Nodes = append(b.g.Nodes, Node{Name: b.name(c), Position: c.Span().String()})
	}
}

func (b *builder) owns(e *typecheck.Edge, cycle bool) {
	b.node(e.From)
	b.node(e.To)
	out := Edge{From: b.name(e.From), To: b.name(e.To), Cycle: cycle}
	for _, r := range e.Reasons {
		if r.Kind == typecheck.FieldReason && r.Field != nil {
			out.Fields = appendNew(out.Fields, label(r.Field))
		} else {
			out.Verbs = appendNew(out.Verbs, r.Kind.String())
		}
	}
	b.g.Edges = append(b.g.Edges, out)
}

// yields adds an edge for each class that yield fields of c mention.
func (b *builder) yields(c *typecheck.Class) {
	var targets []*typecheck.Class
	fields := map[*typecheck.Class][]string{}
	for _, f := range c.Fields {
		if !f.Yield {
			continue
		}
		for _, target := range actorsIn(f.Type()) {
			if fields[target] == nil {
				targets = append(targets, target)
			}
			fields[target] = appendNew(fields[target], label(f))
		}
	}
	for _, target := range targets {
		b.node(target)
		b.g.Edges = append(b.g.Edges, Edge{From: b.name(c), To: b.name(target), Kind: Yield, Fields: fields[target]})
	}
}

// label is the field's name, with [] if it holds many.
func label(f *typecheck.Var) string {
	t := f.Type()
	if o, ok := t.(*typecheck.Optional); ok {
		t = o.Elem
	}
	switch t.(type) {
	case *typecheck.Vector, *typecheck.Map, *typecheck.Set, *typecheck.Table:
		return f.Name() + "[]"
	}
	return f.Name()
}

// actorsIn returns the actor classes that values of a type may refer to, each
// once, in the order of their first mention.
func actorsIn(t typecheck.Type) (out []*typecheck.Class) {
	seen := map[typecheck.Type]bool{}
	todo := []typecheck.Type{t}
	for len(todo) > 0 {
		t := todo[0]
		todo = todo[1:]
		switch t := t.(type) {
		case *typecheck.Vector:
			todo = append(todo, t.Elem)
		case *typecheck.Set:
			todo = append(todo, t.Elem)
		case *typecheck.Table:
			todo = append(todo, t.Row)
		case *typecheck.Optional:
			todo = append(todo, t.Elem)
		case *typecheck.Map:
			todo = append(todo, t.Key, t.Value)
		case *typecheck.Class:
			if seen[t] {
				continue
			}
			seen[t] = true
			switch t.Kind {
			case ast.ActorClass:
				out = append(out, t)
			case ast.ValueClass:
				for _, f := range t.Fields {
					todo = append(todo, f.Type())
				}
			}
		}
	}
	return out
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
