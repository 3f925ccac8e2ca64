package dominator

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
)

// ladder is a tree in which a read of one node's ancestors takes long:
//
//	r ── s1 ── long[0] ── long[1] ── … ── leaf
//	│    └──── short
//	└─── s2 ── q
//
// Jumps of the long chain lead to the T-parent only, and its nodes are strewn over memory.
type ladder struct {
	g                         *Graph
	part, r, s1, s2, short, q *Node
	leaf                      *Node
	long                      []*Node
}

const ladderLength = 200_000

func newLadder() *ladder {
	l := &ladder{g: New()}
	nodes := make([]Node, 7)
	l.part, l.r, l.s1, l.s2, l.short, l.q, l.leaf = &nodes[0], &nodes[1], &nodes[2], &nodes[3], &nodes[4], &nodes[5], &nodes[6]
	g := l.g
	g.NewPartition(l.part)
	g.NewRoot(l.r, l.part)
	g.NewChild(l.r, l.s1)
	g.NewChild(l.r, l.s2)
	g.NewChild(l.s1, l.short)
	g.NewChild(l.s2, l.q)
	strewn := make([]Node, ladderLength)
	p := l.s1
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(ladderLength) {
		n := &strewn[i]
		g.NewChild(p, n)
		n.jump.Store(p)
		l.long = append(l.long, n)
		p = n
	}
	g.NewChild(p, l.leaf)
	return l
}

// hang is what readers see of a MoveT: c is below p, at depth d.
func (l *ladder) hang(c, p *Node, d uint32) {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	l.g.seq.Add(1)
	c.parent.Store(p)
	c.jump.Store(p)
	c.depth.Store(d)
	l.g.seq.Add(1)
}

// A read that goes on while two moves begin and end must not put the tree before the
// first and the tree after the second together. It climbs from a leaf out of the long
// chain, the leaf leaves the chain, and then the chain leaves s1. The leaf was below s1
// all the time.
func TestReadsThatStraddleMoves(t *testing.T) {
	l := newLadder()
	g, bottom, depth := l.g, l.long[ladderLength-1], l.leaf.depth.Load()
	for name, read := range map[string]func() bool{
		"NCA":        func() bool { return g.NCA(l.leaf, l.q) == l.r },
		"IsAncestor": func() bool { return !g.IsAncestor(l.s2, l.leaf) },
		"Child":      func() bool { return g.Child(l.r, l.leaf) == l.s1 },
		"Sequencer":  func() bool { return g.Sequencer([]*Node{l.leaf, l.q}, nil) == l.r },
	} {
		// A round counts if the read had not ended when the moves had.
		for straddled, round := 0, 0; straddled < 3 && round < 50; round++ {
			l.hang(l.leaf, bottom, depth)
			l.hang(l.long[0], l.s1, l.s1.depth.Load()+1)
			var begun atomic.Bool
			done := make(chan bool, 1)
			go func() { begun.Store(true); done <- read() }()
			for !begun.Load() {
				runtime.Gosched()
			}
			for range 1000 { // the read has made a first step
				begun.Load()
			}
			l.hang(l.leaf, l.short, l.short.depth.Load()+1)
			l.hang(l.long[0], l.s2, l.s2.depth.Load()+1)
			select {
			case right := <-done:
				done <- right
			default:
				straddled++
			}
			if !<-done {
				t.Errorf("%s gave an answer that was true at no time", name)
				break
			}
		}
	}
}
