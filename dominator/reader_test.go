package dominator

import (
	"runtime"
	"testing"
)

// A reader that starts while a move is half done answers when it is done. The
// test stands still in the middle of one: c hangs below b already, which
// no other store of the move has followed. Then it takes the half move back.
func TestReaderWaitsForTheMove(t *testing.T) {
	g := New()
	nodes := make([]Node, 6)
	part, r, a, b, b2, c := &nodes[0], &nodes[1], &nodes[2], &nodes[3], &nodes[4], &nodes[5]
	g.NewPartition(part)
	g.NewRoot(r, part)
	g.NewChild(r, a)
	g.NewChild(r, b)
	g.NewChild(b, b2)
	g.NewChild(a, c)
	readers := map[string]func() bool{
		"NCA":        func() bool { return g.NCA(c, b2) == r },
		"IsAncestor": func() bool { return g.IsAncestor(a, c) },
		"Child":      func() bool { return g.Child(r, c) == a },
		"Sequencer":  func() bool { return g.Sequencer([]*Node{c}, []*Node{b2}) == r },
	}
	for name, read := range readers {
		g.mu.Lock()
		g.seq.Add(1)
		c.parent.Store(b)
		c.jump.Store(b)
		done := make(chan bool, 1)
		go func() { done <- read() }()
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case <-done:
			t.Errorf("%s answered in the middle of a move", name)
			done <- true
		default:
		}
		c.parent.Store(a)
		c.jump.Store(jumpFrom(a))
		g.seq.Add(1)
		g.mu.Unlock()
		if !<-done {
			t.Errorf("%s gave the answer of a half move", name)
		}
	}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
}
