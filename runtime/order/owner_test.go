package order

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

// An actor that an event announces and deletes leaves the sequencing tree with the commit, as one that was there before.
func TestWhatAnEventAnnouncesAndDeletesIsGone(t *testing.T) {
	s := newHost(t)
	target := s.root(0, 1)
	a := s.attempt(target)
	if err := a.Enter(); err != nil {
		t.Fatal(err)
	}
	made := s.NewHandle(treeShape, event.ActorID{Birth: 1, Serial: 2}, Fresh)
	a.Creates(made)
	a.Announce(made)
	a.Delete(made)
	if err := a.ApplyChanges(); err != nil {
		t.Fatal(err)
	}
	a.Release(false)
	a.Reset()
	if list := s.Graph.TChildren(nil, &s.Partitions[1].Node); len(list) > 0 || !s.Graph.Deleted(&made.Node) {
		t.Errorf("%d actors are below the partition", len(list))
	}
}
