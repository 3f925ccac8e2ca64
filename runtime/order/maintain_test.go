package order

import (
	"testing"
	"testing/synctest"
	"time"

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

// What enters where a move has entered waits behind it. Moves that wait for actors that are held for long are put off, and made when these are free.
func TestMovesDoNotWaitForLongHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newHost(t)
		bank := s.root(0, 1)
		x, y := s.child(bank, 2), s.child(bank, 3)
		enter := func(target *Handle) *Attempt {
			a := s.attempt(target)
			if err := a.Enter(); err != nil {
				t.Fatal(err)
			}
			return a
		}
		leave := func(a *Attempt) {
			a.Release(false)
			a.Reset()
		}
		var shared []*Handle
		var holders []*Attempt
		for n := range uint64(20) {
			c := s.NewHandle(treeShape, event.ActorID{Serial: 4 + n}, Created)
			s.Graph.PlaceFresh(&c.Node, []*dominator.Node{&x.Node, &y.Node})
			shared, holders = append(shared, c), append(holders, enter(c))
		}
		a := enter(x)
		for _, c := range shared {
			a.ChangeEdge(x, c, -1)
		}
		if err := a.ApplyChanges(); err != nil {
			t.Fatal(err)
		}
		leave(a)
		synctest.Wait() // a move has the bank, and waits for its actor
		const long = 100 * time.Second
		since, waited := time.Now(), time.Duration(0)
		for time.Since(since) < long {
			began := time.Now()
			leave(enter(bank)) // with a move that waits until the actor is free this is a deadlock
			waited += time.Since(began)
			time.Sleep(time.Millisecond)
		}
		if waited > long/100 {
			t.Errorf("in %v, events on the owner have waited for %v behind moves", long, waited)
		}
		if n := s.Moves.Load(); n > 0 {
			t.Fatalf("%d actors were moved while they were held", n)
		}
		for _, a := range holders {
			leave(a)
		}
		time.Sleep(movePause)
		synctest.Wait()
		for _, c := range shared {
			if p := s.ParentOf(c); p != y {
				t.Errorf("%v is below %v when it is free, and not below its only owner", c.ID, p.ID)
			}
		}
	})
}
