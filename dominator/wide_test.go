package dominator_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/aeon-lang/aeon/dominator"
)

// Many owners own many actors in common: edges are found by index, and stay
// consistent while lists grow, shrink and are reordered at both ends.
func TestWideEdges(t *testing.T) {
	const owners, children, steps = 60, 90, 20_000
	g := newNamed(t)
	var nodes [owners + children]dominator.Node
	units := map[[2]int]int{}
	for i := range nodes {
		nodes[i].ID = uint64(i + 10)
		g.NewRoot(&nodes[i], &g.partition)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for step := range steps {
		e := [2]int{r.IntN(owners), owners + r.IntN(children)}
		p, c := &nodes[e[0]], &nodes[e[1]]
		// Grow for the first half, shrink in the second.
		if grow := r.IntN(4) != 0; grow == (step < steps/2) || units[e] == 0 {
			first, err := g.AddEdge(p, c)
			if units[e]++; err != nil || first != (units[e] == 1) {
				t.Fatalf("step %d: first %v, %v with %d units", step, first, err, units[e])
			}
		} else if units[e]--; g.RemoveEdge(p, c) != (units[e] == 0) {
			t.Fatalf("step %d: wrong answer with %d units left", step, units[e])
		}
		if step%500 == 0 {
			settle(t, g.Graph)
		}
	}
	for e, n := range units {
		if got := g.Units(&nodes[e[0]], &nodes[e[1]]); got != n {
			t.Fatalf("edge %v has %d units, want %d", e, got, n)
		}
		for range n {
			g.RemoveEdge(&nodes[e[0]], &nodes[e[1]])
		}
	}
	settle(t, g.Graph)
}

// An idle actor may take 300 bytes altogether; this package's part is the node
// and its entry in the list of its owner.
func TestMemoryPerActor(t *testing.T) {
	if size := unsafe.Sizeof(dominator.Node{}); size > 96 {
		t.Errorf("a Node takes %d bytes, want at most 96", size)
	}
	const n = 100_000
	g := newNamed(t, "p")
	nodes := make([]dominator.Node, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range nodes {
		g.NewChild(g.nodes["p"], &nodes[i])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	perActor := float64(after.HeapAlloc-before.HeapAlloc) / n
	if perActor > 32 {
		t.Errorf("%.1f bytes for each child beside its node, want at most 32", perActor)
	}
	runtime.KeepAlive(nodes)
}
