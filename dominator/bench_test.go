package dominator_test

import (
	"testing"

	"github.com/aeon-lang/aeon/dominator"
)

const many = 100_000

// bench is a graph with one partition and a root in it.
type bench struct {
	*dominator.Graph
	partition, root *dominator.Node
}

func newBench() *bench {
	g := &bench{Graph: dominator.New(), partition: &dominator.Node{}, root: &dominator.Node{}}
	g.NewPartition(g.partition)
	g.NewRoot(g.root, g.partition)
	return g
}

// NCA in a chain of 100 000 beside NCA of siblings: the price of depth.
func BenchmarkNCA(b *testing.B) {
	g := newBench()
	deep := chain(g.Graph, g.root, many)
	x, y := &dominator.Node{}, &dominator.Node{}
	g.NewChild(g.root, x)
	g.NewChild(g.root, y)
	side := &dominator.Node{}
	g.NewChild(deep[many/3], side)
	b.Run("siblings", func(b *testing.B) {
		for b.Loop() {
			g.NCA(x, y)
		}
	})
	b.Run("chain", func(b *testing.B) {
		for b.Loop() {
			g.NCA(deep[many-1], side)
		}
	})
	b.Run("chain/Child", func(b *testing.B) {
		for b.Loop() {
			g.Child(deep[many/7], deep[many-1])
		}
	})
	b.Run("chain/Top", func(b *testing.B) {
		for b.Loop() {
			g.Top(deep[5])
		}
	})
}

// Creating below the end of a long chain beside creating below the root.
func BenchmarkNewChild(b *testing.B) {
	g := newBench()
	end := chain(g.Graph, g.root, many)[many-1]
	for name, p := range map[string]*dominator.Node{"flat": g.root, "chain": end} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.NewChild(p, &dominator.Node{})
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			p := &dominator.Node{}
			g.NewRoot(p, g.partition)
			for pb.Next() {
				g.NewChild(p, &dominator.Node{})
			}
		})
	})
}

// The ways in which a chain of 100 000 grows by one at its end.
func BenchmarkAppendToChain(b *testing.B) {
	g := newBench()
	end := chain(g.Graph, g.root, many)[many-1]
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			c := &dominator.Node{}
			g.NewChild(end, c)
			g.Delete(c)
		}
	})
	// The end stores another actor of its own region.
	sibling := &dominator.Node{}
	g.NewChild(end, sibling)
	p := &dominator.Node{}
	g.NewChild(end, p)
	b.Run("near", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.AddEdge(p, sibling); err != nil {
				b.Fatal(err)
			}
			g.RemoveEdge(p, sibling)
			g.Tighten(0)
		}
	})
	// The end stores a root of another region: every actor of the chain then
	// reaches it, and every top changes, up and down again.
	far := &dominator.Node{}
	g.NewRoot(far, g.partition)
	b.Run("root", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.AddEdge(end, far); err != nil {
				b.Fatal(err)
			}
			g.RemoveEdge(end, far)
			g.Tighten(0)
		}
	})
}

// One edge more and less at nodes of degree 1 and 100 000.
func BenchmarkEdge(b *testing.B) {
	for _, d := range []struct {
		name   string
		degree int
	}{{"1", 1}, {"100000", many}} {
		g := newBench()
		extra := &dominator.Node{}
		g.NewChild(g.root, extra)
		star, shared := &dominator.Node{}, &dominator.Node{}
		g.NewChild(g.root, star)
		g.NewChild(g.root, shared)
		for range d.degree {
			g.NewChild(star, &dominator.Node{})
			owner := &dominator.Node{}
			g.NewChild(g.root, owner)
			if _, err := g.AddEdge(owner, shared); err != nil {
				b.Fatal(err)
			}
		}
		run := func(name string, p, c *dominator.Node) {
			b.Run(name+"/"+d.name, func(b *testing.B) {
				for b.Loop() {
					if _, err := g.AddEdge(p, c); err != nil {
						b.Fatal(err)
					}
					g.RemoveEdge(p, c)
					g.Pending(0)
					g.Tighten(0)
				}
			})
		}
		run("children", star, extra)
		run("owners", extra, shared)
		run("both", star, shared)
	}
}

// A root finds its first owner and moves below it, and out again.
func BenchmarkMove(b *testing.B) {
	for _, size := range []int{1, 1000, many} {
		g := newBench()
		c := &dominator.Node{}
		g.NewRoot(c, g.partition)
		for range size - 1 {
			g.NewChild(c, &dominator.Node{})
		}
		b.Run(map[int]string{1: "1", 1000: "1000", many: "100000"}[size], func(b *testing.B) {
			for b.Loop() {
				if _, err := g.MoveT(c, g.root); err != nil {
					b.Fatal(err)
				}
				if _, err := g.MoveT(c, g.partition); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
