package dominator_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/dominator"
)

// chain places n nodes below p, each the child of the one before.
func chain(g *dominator.Graph, p *dominator.Node, n int) []*dominator.Node {
	nodes := make([]*dominator.Node, n)
	for i := range nodes {
		nodes[i] = &dominator.Node{ID: p.ID*1000 + uint64(i)}
		if i == 0 && p.Virtual() {
			g.NewRoot(nodes[i], p)
		} else {
			g.NewChild(p, nodes[i])
		}
		p = nodes[i]
	}
	return nodes
}

// A chain moves to and fro between the ends of two other chains. Every read
// that overlaps a move must give the answer of before or of after.
func TestReadersDuringMoves(t *testing.T) {
	g := dominator.New()
	partition := &dominator.Node{ID: 1}
	g.NewPartition(partition)
	root := chain(g, partition, 1)[0]
	a, b := chain(g, root, 200), chain(g, root, 311)
	moving := chain(g, a[len(a)-1], 150)
	top, leaf := moving[0], moving[len(moving)-1]

	var stop atomic.Bool
	var wg sync.WaitGroup
	reader := func(read func() bool, what string) {
		wg.Go(func() {
			for !stop.Load() {
				if !read() {
					t.Errorf("%s gave an answer of neither before nor after a move", what)
					return
				}
			}
		})
	}
	reader(func() bool { n := g.NCA(leaf, a[77]); return n == a[77] || n == root }, "NCA")
	reader(func() bool { c := g.Child(root, leaf); return c == a[0] || c == b[0] }, "Child")
	reader(func() bool { return g.IsAncestor(top, leaf) && g.IsAncestor(root, leaf) }, "IsAncestor")
	// moving[60] sometimes owns b[300], and then has its top there or above.
	reader(func() bool {
		n := g.Sequencer([]*dominator.Node{leaf}, []*dominator.Node{moving[60]})
		return n == moving[60] || n == b[300] || n == root
	}, "Sequencer")
	// Other goroutines create below the moving nodes, edit edges and tighten meanwhile.
	for i := range 2 {
		wg.Go(func() {
			p := moving[40*(i+1)]
			for n := 0; n < 500 && !stop.Load(); n++ {
				c := &dominator.Node{}
				g.NewChild(p, c)
				if !g.IsAncestor(root, c) || g.NCA(p, c) != p {
					t.Error("a fresh child does not lie below its creator")
					return
				}
				g.NewChild(c, &dominator.Node{})
			}
		})
	}
	wg.Go(func() {
		for !stop.Load() {
			if _, err := g.AddEdge(moving[60], b[300]); err != nil {
				t.Error(err)
				return
			}
			g.Tighten(50)
			g.RemoveEdge(moving[60], b[300])
		}
	})
	for i := range 60 {
		to := b[len(b)-1]
		if i%2 == 1 {
			to = a[len(a)-1]
		}
		if _, err := g.MoveT(top, to); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
	settle(t, g)
}

// Creation under different creators shares no lock; the tree is whole after it.
func TestParallelCreation(t *testing.T) {
	g := dominator.New()
	partition := &dominator.Node{ID: 1}
	g.NewPartition(partition)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			root := &dominator.Node{}
			g.NewRoot(root, partition)
			for range 500 {
				chain(g, root, 3)
			}
		})
	}
	wg.Wait()
	settle(t, g)
	roots := g.TChildren(nil, partition)
	if len(roots) != 8 {
		t.Fatalf("%d roots, want 8", len(roots))
	}
	for _, r := range roots {
		if n := len(g.Owned(nil, r)); n != 500 {
			t.Errorf("a root owns %d actors, want 500", n)
		}
	}
}

// Small moves in quick succession: some reads straddle the start of a move, and
// only the check at their end can tell.
func TestReadsAreNotTorn(t *testing.T) {
	g := dominator.New()
	partition := &dominator.Node{ID: 1}
	g.NewPartition(partition)
	root := chain(g, partition, 1)[0]
	a, b := chain(g, root, 130), chain(g, root, 67)
	moving := chain(g, a[len(a)-1], 40)
	leaf := moving[len(moving)-1]
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				if n := g.NCA(leaf, a[77]); n != a[77] && n != root {
					t.Errorf("NCA is node %d at depth %d, of neither before nor after a move", n.ID, g.Depth(n))
					return
				}
				if c := g.Child(root, leaf); c != a[0] && c != b[0] {
					t.Error("Child gave an answer of neither before nor after a move")
					return
				}
				if g.NCA(leaf, moving[20]) != moving[20] {
					t.Error("NCA within the moving subtree changed")
					return
				}
				if !g.IsAncestor(moving[3], leaf) {
					t.Error("IsAncestor gave an answer of neither before nor after a move")
					return
				}
			}
		})
	}
	moves := 20_000
	if testing.Short() { // the race detector makes a move a hundred times slower
		moves = 2_000
	}
	for i := range moves {
		to, want := b[len(b)-1], root
		if i%2 == 1 {
			to, want = a[len(a)-1], a[77]
		}
		if _, err := g.MoveT(moving[0], to); err != nil {
			t.Error(err)
			break
		}
		// Leave the readers time to be in the middle of something.
		for range 50 + i%7 {
			if n := g.NCA(leaf, a[77]); n != want {
				t.Errorf("NCA is node %d after the move, want %d", n.ID, want.ID)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	settle(t, g)
}

// Nodes move between two parents below which other goroutines create children: none is lost.
func TestMovesBesideCreation(t *testing.T) {
	const movers = 8
	made := 100_000
	if testing.Short() {
		made /= 5
	}
	g := dominator.New()
	partition := &dominator.Node{ID: 1}
	g.NewPartition(partition)
	root := chain(g, partition, 1)[0]
	ends := [2]*dominator.Node{chain(g, root, 3)[2], chain(g, root, 7)[6]}
	var moving []*dominator.Node
	for range movers {
		moving = append(moving, chain(g, ends[0], 2)[0])
	}
	var wg sync.WaitGroup
	for _, p := range ends {
		wg.Go(func() {
			for range made {
				g.NewChild(p, &dominator.Node{})
			}
		})
	}
	for _, m := range moving[:movers/2] { // and below what moves
		wg.Go(func() {
			for range made / 10 {
				c := &dominator.Node{}
				g.NewChild(m, c)
				if !g.IsAncestor(root, c) {
					t.Error("a fresh child does not lie below its creator")
				}
			}
		})
	}
	var created atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !created.Load(); i++ {
			if _, err := g.MoveT(moving[i/2%movers], ends[(i+1)%2]); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	wg.Wait()
	created.Store(true)
	<-done
	n := len(g.TChildren(nil, ends[0])) + len(g.TChildren(nil, ends[1]))
	if want := 2*made + movers; n != want {
		t.Errorf("%d T-children, want %d", n, want)
	}
	settle(t, g)
}
