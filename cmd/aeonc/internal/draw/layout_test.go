package draw

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGraph draws a random graph; ownership may even be cyclic, as in a program
// with that error.
func drawGraph(t *rapid.T) Graph {
	n := rapid.IntRange(0, 12).Draw(t, "classes")
	g := Graph{Name: "random"}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{Name: fmt.Sprintf("Class%d", i)})
	}
	for kind := range Yield + 1 {
		for from := range n {
			for to := range n {
				if rapid.IntRange(0, 5).Draw(t, "edge") == 0 {
					g.Edges = append(g.Edges, Edge{From: g.Nodes[from].Name, To: g.Nodes[to].Name, Kind: kind, Fields: []string{"field"}})
				}
			}
		}
	}
	return g
}

func TestNothingOverlapsAndOwnersStandAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		s := newSketch(g)
		before := s.crossings()
		s.order()
		if after := s.crossings(); after > before {
			t.Fatalf("ordering went from %d to %d crossings", before, after)
		}
		s.place()
		width, _ := s.size()
		for r, row := range s.rows {
			for i, v := range row {
				vx := s.vertices[v]
				if vx.row != r || vx.x-vx.left < -0.01 || vx.x+vx.right > width+0.01 {
					t.Fatalf("vertex %d of row %d lies outside: %+v, width %v", v, r, vx, width)
				}
				if i == 0 {
					continue
				}
				if left := s.vertices[row[i-1]]; left.x+left.right+columnGap > vx.x-vx.left+0.01 {
					t.Fatalf("row %d: %+v overlaps %+v", r, left, vx)
				}
			}
		}
		checkRows(t, g, s)
	})
}

func checkRows(t *rapid.T, g Graph, s *sketch) {
	at := g.index()
	owned := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		if e.Kind == Owns && e.From != e.To {
			owned[at[e.From]] = append(owned[at[e.From]], at[e.To])
		}
	}
	_, back := topological(owned)
	for from, tos := range owned {
		for _, to := range tos {
			if !back[[2]int{from, to}] && s.vertices[from].row >= s.vertices[to].row {
				t.Fatalf("%s does not stand above %s", g.Nodes[from].Name, g.Nodes[to].Name)
			}
		}
	}
	for _, r := range s.routes {
		e := g.Edges[r.edge]
		if r.vertices[0] != at[e.From] || r.vertices[len(r.vertices)-1] != at[e.To] {
			t.Fatalf("the way of %s -> %s does not join them: %v", e.From, e.To, r.vertices)
		}
	}
	if len(s.routes)+len(s.loops) != len(g.Edges) {
		t.Fatalf("%d edges, %d drawn", len(g.Edges), len(s.routes)+len(s.loops))
	}
}

func TestPartsAreConnectedAndLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		nodes, edges := 0, 0
		for _, p := range g.split() {
			if nodes, edges = nodes+len(p.Nodes), edges+len(p.Edges); len(p.split()) != 1 {
				t.Fatalf("%v is not connected", p)
			}
			at := p.index()
			for _, e := range p.Edges {
				_, from := at[e.From]
				if _, to := at[e.To]; !from || !to {
					t.Fatalf("an edge leaves its part: %v", e)
				}
			}
		}
		if nodes != len(g.Nodes) || edges != len(g.Edges) {
			t.Fatalf("%d of %d classes, %d of %d edges", nodes, len(g.Nodes), edges, len(g.Edges))
		}
	})
}

func TestInversionsCountsPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "values")
		want := 0
		for i, a := range values {
			for _, b := range values[i:] {
				if a > b {
					want++
				}
			}
		}
		if got := inversions(values, 10); got != want {
			t.Fatalf("%d inversions in %v, want %d", got, values, want)
		}
	})
}

func TestPoolIsMonotoneAndKeepsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wish := rapid.SliceOfN(rapid.Float64Range(-100, 100), 1, 20).Draw(t, "wish")
		weight := make([]float64, len(wish))
		sum := 0.0
		for i := range weight {
			weight[i] = 1
			sum += wish[i]
		}
		got := pool(wish, weight)
		for _, x := range got {
			sum -= x
		}
		if !slices.IsSorted(got) || sum > 1e-6 || sum < -1e-6 {
			t.Fatalf("pool(%v) = %v", wish, got)
		}
		if slices.IsSorted(wish) && !slices.Equal(wish, got) {
			t.Fatalf("pool changed %v to %v", wish, got)
		}
	})
}
