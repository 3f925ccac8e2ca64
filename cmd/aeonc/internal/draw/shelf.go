package draw

import "math"

// shelfWidth is how wide the drawing may become before the next part of the
// graph goes below instead of beside; one part may be wider.
const shelfWidth = 1100.0

// placed is a laid out part of the graph and where its corner goes.
type placed struct {
	*sketch
	dx, dy float64
}

// parts lays out the connected parts of g, each for itself, on shelves from left
// to right. It returns the extent of all.
func (g Graph) parts() (out []placed, width, height float64) {
	var x, y, shelf float64
	for _, part := range g.split() {
		s := newSketch(part)
		s.order()
		s.place()
		w, h := s.size()
		if x > 0 && x+w > shelfWidth {
			x, y, shelf = 0, y+shelf+rowGap, 0
		}
		out = append(out, placed{s, x, y})
		x += w + columnGap
		shelf = math.Max(shelf, h)
		width, height = math.Max(width, x-columnGap), math.Max(height, y+shelf)
	}
	return out, width, height
}

// split returns the connected parts of g, in the order of their first classes.
func (g Graph) split() []Graph {
	at := g.index()
	parent := make([]int, len(g.Nodes)) // union-find, the smallest index on top
	for i := range parent {
		parent[i] = i
	}
	top := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, e := range g.Edges {
		a, b := top(at[e.From]), top(at[e.To])
		parent[max(a, b)] = min(a, b)
	}
	var out []Graph
	part := map[int]int{}
	for i, n := range g.Nodes {
		if top(i) == i {
			part[i] = len(out)
			out = append(out, Graph{Name: g.Name})
		}
		p := &out[part[top(i)]]
		p.Nodes = append(p.Nodes, n)
	}
	for _, e := range g.Edges {
		p := &out[part[top(at[e.From])]]
		p.Edges = append(p.Edges, e)
	}
	return out
}
