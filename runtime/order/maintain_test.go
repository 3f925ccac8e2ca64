package order

import (
	"testing"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
)

// An edge that leads out of a tree holds up the tops of all that is above it. When it goes they become exact, however many they are, without a further edit.
func TestTheMaintainerTightensTops(t *testing.T) {
	s := newHost(t)
	head, far := s.root(0, 1), s.root(1, 2)
	var owners []*Handle
	for h := head; len(owners) < 1000; owners = append(owners, h) {
		h = s.child(h, uint64(len(owners)+10))
	}
	foot := owners[len(owners)-1]
	shared := s.NewHandle(treeShape, event.ActorID{Serial: 3}, Created)
	s.Graph.PlaceFresh(&shared.Node, []*dominator.Node{&far.Node, &foot.Node})
	tops := func(want func(*Handle) *Handle) (wrong int) {
		for _, h := range owners {
			if s.HandleOf(s.Graph.Top(&h.Node)) != want(h) {
				wrong++
			}
		}
		return wrong
	}
	if n := tops(func(*Handle) *Handle { return s.Top }); n > 0 {
		t.Fatalf("%d owners of what has owners in two partitions have a top below these", n)
	}
	a := s.attempt(foot)
	if err := a.Enter(); err != nil {
		t.Fatal(err)
	}
	a.ChangeEdge(foot, shared, -1)
	if err := a.ApplyChanges(); err != nil {
		t.Fatal(err)
	}
	a.Release(false)
	a.Reset()
	s.AwaitMoves()
	if n := tops(func(h *Handle) *Handle { return h }); n > 0 {
		t.Errorf("%d of %d tops are too high", n, len(owners))
	}
}
