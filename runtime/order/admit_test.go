package order

import (
	"slices"
	"testing"
)

// An event passes the virtual nodes although one of its actors was deleted meanwhile, and the actor that this hung below was detached.
func TestAPassOverADeletedActor(t *testing.T) {
	s := newHost(t)
	other, owner := s.root(0, 1), s.root(1, 2)
	leaf := s.child(owner, 3)
	a := s.attempt(other)
	a.claim(member{h: leaf, mode: Write})
	a.gather()
	s.Graph.Delete(&leaf.Node)
	leaf.Set(Deleted)
	if !s.Graph.Detach(&owner.Node) {
		t.Fatal("the owner stays")
	}
	if z := a.sequencer(); z != s.Top {
		t.Errorf("the event enters at %v", z)
	}
	if roots := a.roots(nil); !slices.Equal(roots, []*Handle{other}) || !s.areRoots(roots) {
		t.Fatalf("it passes to %v", roots) // and would do so for ever
	}
	a.pass()
	if !a.await() {
		t.Error("the event is refused")
	}
	a.Release(false)
	a.Reset()
}
