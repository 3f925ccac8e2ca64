// Package oracle computes what package dominator maintains, in the plainest way
// and from scratch: reach by search, dominators by iterating the data-flow
// equations, common ancestors by walking parents. It is for tests, of dominator
// and of the runtime, and knows nothing of dominator's data.
package oracle

import (
	"maps"
	"slices"
)

// TOP is the virtual node above everything.
const TOP = 0

// Graph is an ownership DAG with multiplicities and a sequencing tree over the
// same nodes. Nodes are any numbers other than TOP.
type Graph struct {
	Units  map[int]map[int]int // owner -> child -> units, none zero
	Parent map[int]int         // T; TOP has no entry
	// Virtual holds the nodes of partitions: they take part in T alone.
	Virtual map[int]bool
	// Dead holds deleted nodes that are still in T.
	Dead map[int]bool
}

// New returns a graph that consists of TOP.
func New() *Graph {
	return &Graph{Units: map[int]map[int]int{}, Parent: map[int]int{}, Virtual: map[int]bool{TOP: true}, Dead: map[int]bool{}}
}

// Nodes returns all nodes of T but TOP, ascending.
func (g *Graph) Nodes() []int { return slices.Sorted(maps.Keys(g.Parent)) }

// Add adds units, which may be negative, to the edge p -> c.
func (g *Graph) Add(p, c, units int) {
	if g.Units[p] == nil {
		g.Units[p] = map[int]int{}
	}
	if g.Units[p][c] += units; g.Units[p][c] == 0 {
		delete(g.Units[p], c)
	}
}

// Owners returns the owners of c, ascending.
func (g *Graph) Owners(c int) []int {
	var owners []int
	for p, children := range g.Units {
		if children[c] > 0 {
			owners = append(owners, p)
		}
	}
	slices.Sort(owners)
	return owners
}

// Reach returns x and everything below it.
func (g *Graph) Reach(x int) map[int]bool {
	seen := map[int]bool{x: true}
	for todo := []int{x}; len(todo) > 0; {
		n := todo[0]
		todo = todo[1:]
		for c := range g.Units[n] {
			if !seen[c] {
				seen[c] = true
				todo = append(todo, c)
			}
		}
	}
	return seen
}

// Path returns n and its T-ancestors, up to TOP.
func (g *Graph) Path(n int) []int {
	path := []int{n}
	for n != TOP {
		n = g.Parent[n]
		path = append(path, n)
	}
	return path
}

// NCA returns the nearest common T-ancestor-or-self of u and v.
func (g *Graph) NCA(u, v int) int {
	above := g.Path(v)
	for _, a := range g.Path(u) {
		if slices.Contains(above, a) {
			return a
		}
	}
	panic("oracle: T is not connected")
}

// Top returns the nearest common T-ancestor of Reach(x).
func (g *Graph) Top(x int) int {
	top := x
	for y := range g.Reach(x) {
		top = g.NCA(top, y)
	}
	return top
}

// Desired returns the nearest common T-ancestor of the owners of c, or the
// nearest virtual node above a c without owners, passing over deleted nodes.
func (g *Graph) Desired(c int) int {
	owners := g.Owners(c)
	if len(owners) == 0 {
		p := g.Parent[c]
		for !g.Virtual[p] {
			p = g.Parent[p]
		}
		return p
	}
	at := owners[0]
	for _, p := range owners {
		at = g.NCA(at, p)
	}
	for g.Dead[at] {
		at = g.Parent[at]
	}
	return at
}

// Dominators returns the immediate dominator of every live actor in the flow
// graph: TOP leads to the virtual nodes, the partition of an actor without
// owners leads to it, and owners lead to what they own. home names the
// partition of such an actor (TOP if there is none).
func (g *Graph) Dominators(home func(int) int) map[int]int {
	preds, nodes := map[int][]int{}, []int{TOP}
	for _, n := range g.Nodes() {
		switch owners := g.Owners(n); {
		case g.Dead[n]:
			continue
		case g.Virtual[n]:
			preds[n] = []int{TOP}
		case len(owners) == 0:
			preds[n] = []int{home(n)}
		default:
			preds[n] = owners
		}
		nodes = append(nodes, n)
	}
	dom := map[int]map[int]bool{TOP: {TOP: true}}
	for _, n := range nodes[1:] {
		dom[n] = map[int]bool{}
		for _, m := range nodes {
			dom[n][m] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, n := range nodes[1:] {
			for m := range dom[n] {
				keep := m == n || !slices.ContainsFunc(preds[n], func(p int) bool { return !dom[p][m] })
				if !keep {
					delete(dom[n], m)
					changed = true
				}
			}
		}
	}
	idom := map[int]int{}
	for _, n := range nodes[1:] {
		best := TOP
		for m := range dom[n] {
			if m != n && len(dom[m]) > len(dom[best]) {
				best = m
			}
		}
		idom[n] = best
	}
	return idom
}
