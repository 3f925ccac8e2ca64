package order

import (
	"sync"
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

// One branch of an event may own an actor that other stores know while another branch creates one; for the race detector.
func TestBranchesCreateAndOwn(t *testing.T) {
	s := newHost(t)
	owner := s.root(0, 1)
	a := s.attempt(owner)
	if err := a.Enter(); err != nil {
		t.Fatal(err)
	}
	create := func(n uint64) *Handle {
		h := s.NewHandle(treeShape, event.ActorID{Birth: 1, Serial: n}, Fresh)
		a.Creates(h)
		return h
	}
	known := create(2)
	a.Announce(known)
	a.Fork()
	var branches sync.WaitGroup
	branches.Go(func() {
		for range 1000 {
			if a.MayClose(owner, known) {
				t.Error("what owns nothing may close a cycle")
			}
		}
	})
	branches.Go(func() {
		for n := range uint64(1000) {
			create(n + 3)
		}
	})
	branches.Wait()
	a.DropFresh()
	a.Release(false)
	a.Reset()
}
