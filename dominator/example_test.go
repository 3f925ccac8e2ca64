package dominator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/dominator"
)

// named is a small graph built by hand, all nodes roots of one partition first.
type named struct {
	t *testing.T
	*dominator.Graph
	partition dominator.Node
	nodes     map[string]*dominator.Node
}

func newNamed(t *testing.T, names ...string) *named {
	g := &named{t: t, Graph: dominator.New(), nodes: map[string]*dominator.Node{}}
	g.NewPartition(&g.partition)
	for i, name := range names {
		n := &dominator.Node{ID: uint64(i + 1)}
		g.nodes[name] = n
		g.NewRoot(n, &g.partition)
	}
	return g
}

func (g *named) own(owner string, children ...string) {
	g.t.Helper()
	for _, c := range children {
		if _, err := g.AddEdge(g.nodes[owner], g.nodes[c]); err != nil {
			g.t.Fatalf("%s -> %s: %v", owner, c, err)
		}
	}
}

// settle performs the pending moves until there is none.
func (g *named) settle() {
	g.t.Helper()
	settle(g.t, g.Graph)
}

func settle(t testing.TB, g *dominator.Graph) {
	t.Helper()
	for moves := g.Pending(0); len(moves) > 0; moves = g.Pending(0) {
		for _, m := range moves {
			if _, err := g.MoveT(m.Node, m.Parent); err != nil &&
				!errors.Is(err, dominator.ErrBelowItself) && !errors.Is(err, dominator.ErrDeleted) {
				t.Fatal(err)
			}
		}
	}
	if !g.Tighten(0) {
		t.Fatal("Tighten without limit left work")
	}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
}

func (g *named) wantParent(n, parent string) {
	g.t.Helper()
	want := g.nodes[parent]
	if parent == "" {
		want = &g.partition
	}
	if got := g.Parent(g.nodes[n]); got != want {
		g.t.Errorf("T-parent of %s is node %d, want %q", n, got.ID, parent)
	}
}

func (g *named) wantTop(n, top string) {
	g.t.Helper()
	if got := g.Top(g.nodes[n]); got != g.nodes[top] {
		g.t.Errorf("top(%s) is node %d, want %s", n, got.ID, top)
	}
}

// The program for which definition 5 of the dissertation deadlocks: the least
// upper bound of X in the ownership order is U, and V is another way in.
func TestDefinition5Counterexample(t *testing.T) {
	g := newNamed(t, "R", "U", "V", "X", "Y")
	g.own("R", "U", "V")
	g.own("U", "X", "Y")
	g.own("V", "X")
	g.own("X", "Y")
	g.settle()
	for _, n := range []string{"U", "V", "X", "Y"} {
		g.wantParent(n, "R")
	}
	for _, n := range []string{"R", "U", "V", "X"} {
		g.wantTop(n, "R")
	}
	g.wantTop("Y", "Y")
}

// A leaf that several own is its own sequencer, as it owns nothing.
func TestSharedLeafIsItsOwnSequencer(t *testing.T) {
	g := newNamed(t, "R", "a", "b", "leaf")
	g.own("R", "a", "b")
	g.own("a", "leaf")
	g.own("b", "leaf")
	g.settle()
	g.wantParent("leaf", "R")
	g.wantTop("leaf", "leaf")
	g.wantTop("a", "R")
}

func TestMultiplicityKeepsTheEdge(t *testing.T) {
	g := newNamed(t, "p", "c")
	p, c := g.nodes["p"], g.nodes["c"]
	for i := range 3 {
		if first, err := g.AddEdge(p, c); err != nil || first != (i == 0) {
			t.Fatalf("unit %d: first %v, %v", i, first, err)
		}
	}
	g.settle()
	g.wantParent("c", "p")
	for i := range 3 {
		if got := g.Units(p, c); got != 3-i {
			t.Fatalf("units %d, want %d", got, 3-i)
		}
		if last := g.RemoveEdge(p, c); last != (i == 2) {
			t.Fatalf("removal %d: last %v", i, last)
		}
		g.settle()
	}
	g.wantParent("c", "")
}

func TestCycleIsRefusedWithItsPath(t *testing.T) {
	g := newNamed(t, "a", "b", "c")
	g.own("a", "b")
	g.own("b", "c")
	_, err := g.AddEdge(g.nodes["c"], g.nodes["a"])
	var cycle *dominator.CycleError
	if !errors.As(err, &cycle) {
		t.Fatalf("c -> a gave %v", err)
	}
	if got, want := err.Error(), "ownership cycle: 1 -> 2 -> 3 -> 1"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	if g.Units(g.nodes["c"], g.nodes["a"]) != 0 {
		t.Error("the refused edge was added")
	}
	if _, err := g.AddEdge(g.nodes["a"], g.nodes["a"]); !errors.As(err, &cycle) {
		t.Errorf("a -> a gave %v", err)
	}
}

func TestApplyIsAllOrNone(t *testing.T) {
	g := newNamed(t, "a", "b", "c", "d")
	n := g.nodes
	g.own("a", "b")
	g.own("b", "c")
	// b -> c turns round, which is no cycle because removals come first.
	turn := []dominator.Edit{{Owner: n["c"], Child: n["b"], Units: 2}, {Owner: n["b"], Child: n["c"], Units: -1}}
	if err := g.Apply(turn); err != nil {
		t.Fatal(err)
	}
	if g.Units(n["c"], n["b"]) != 2 || g.Units(n["b"], n["c"]) != 0 {
		t.Fatal("the edge was not turned round")
	}
	// The second addition closes a cycle: the removal and the first come back.
	bad := []dominator.Edit{{Owner: n["c"], Child: n["b"], Units: -2}, {Owner: n["b"], Child: n["d"], Units: 1}, {Owner: n["d"], Child: n["a"], Units: 1}}
	if err := g.Apply(bad); err == nil {
		t.Fatal("the cycle a -> b -> d -> a was accepted")
	}
	if g.Units(n["c"], n["b"]) != 2 || g.Units(n["b"], n["d"]) != 0 || g.Units(n["d"], n["a"]) != 0 {
		t.Error("a refused Apply left something behind")
	}
	g.settle()
}

// A deleted actor stays in T as a passage until what hangs below it has moved.
func TestDeleteKeepsAPassageWhileNeeded(t *testing.T) {
	g := newNamed(t, "a", "b", "c")
	g.own("a", "b")
	g.own("b", "c")
	g.settle()
	g.wantParent("c", "b")
	if len(g.Delete(g.nodes["b"])) > 0 {
		t.Fatal("b left T with c below it")
	}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	if g.RemoveEdge(g.nodes["a"], g.nodes["b"]) {
		t.Error("the dangling reference a -> b counted as an edge")
	}
	if first, err := g.AddEdge(g.nodes["a"], g.nodes["b"]); first || err != nil {
		t.Errorf("storing a reference to a deleted actor: %v, %v", first, err)
	}
	moves := g.Pending(0)
	if len(moves) != 1 || moves[0].Node != g.nodes["c"] || moves[0].Parent != &g.partition {
		t.Fatalf("pending %v, want c to its partition", moves)
	}
	gone, err := g.MoveT(moves[0].Node, moves[0].Parent)
	if err != nil || len(gone) != 1 || gone[0] != g.nodes["b"] {
		t.Fatalf("gone %v, %v, want b", gone, err)
	}
	g.settle()
	if len(g.Delete(g.nodes["c"])) == 0 {
		t.Error("a deleted leaf stayed in T")
	}
	g.settle()
}

func TestDump(t *testing.T) {
	g := newNamed(t, "bank", "account")
	g.partition.ID = 9
	g.own("bank", "account", "account")
	var b strings.Builder
	if err := g.Dump(&b, func(n *dominator.Node) string { return fmt.Sprintf("actor %d", n.ID) }); err != nil {
		t.Fatal(err)
	}
	want := `digraph dominator {
	n0 [shape=box, label="TOP", tooltip="n0"];
	n1 [shape=box, label="actor 9", tooltip="n1"];
	n0 -> n1;
	n2 [shape=ellipse, label="actor 2", tooltip="n2"];
	n1 -> n2;
	n3 [shape=ellipse, label="actor 1\ntop n1", tooltip="n3"];
	n1 -> n3;
	n3 -> n2 [style=dashed, constraint=false, label="2"];
}
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
