package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// That a group has the members of an earlier list says nothing of the list that there is now: neither what this node has found, nor what others report.
func TestReportsCountForTheirVersion(t *testing.T) {
	n := &node{brief: make(map[event.NodeID]heard)}
	n.stores.followed = map[placement.StoreID]uint64{0: 3}
	n.brief[2] = heard{brief{Followed: map[placement.StoreID]uint64{1: 5}}, time.Now()}
	n.brief[3] = heard{brief{Followed: map[placement.StoreID]uint64{2: 7}}, time.Now().Add(-staleAfter)}
	for _, c := range []struct {
		store   placement.StoreID
		version uint64
		want    bool
	}{{0, 3, true}, {0, 4, false}, {1, 5, true}, {1, 6, false}, {2, 7, false}, {3, 1, false}} {
		if got := n.settled(c.store, c.version); got != c.want {
			t.Errorf("store %d is settled in version %d: %v", c.store, c.version, got)
		}
	}
}

// A node that could not open a store is told of for some time, and is not given that store as long.
func TestANodeThatCouldNotOpenAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands still
		h := newHolder(2, 1, nil, nil, nil, nil)
		n := &node{brief: make(map[event.NodeID]heard)}
		told := func() bool {
			n.brief[2] = heard{brief{Stores: []storeBrief{{ID: 0}, {ID: 1, Failed: h.hasFailed()}}}, time.Now()}
			if !n.mayLead(2, 0) || !n.mayLead(3, 1) {
				t.Error("another store, or another node, has failed")
			}
			return !n.mayLead(2, 1)
		}
		first := told()
		h.failed(7)
		h.served(8) // another node has opened it: this one may fail again
		second := told()
		<-time.After(failedFor)
		if third := told(); first || !second || third {
			t.Errorf("it could not open the store at first: %v, then: %v, at last: %v", first, second, third)
		}
	})
}

// A node that ends is given no store, by what it says as soon as it begins to end.
func TestANodeThatEndsIsGivenNoStore(t *testing.T) {
	n := &node{brief: make(map[event.NodeID]heard)}
	for _, ends := range []bool{false, true} {
		n.brief[2] = heard{brief{Ends: ends, Stores: []storeBrief{{ID: 0}}}, time.Now()}
		if n.mayLead(2, 0) == ends {
			t.Errorf("the node ends: %v, and is given a store: %v", ends, !ends)
		}
	}
}

// A store that an operator has placed on a node stays there while the node leads it without a break; a node that ends takes none.
func TestAStoreStaysWhereItWasPlaced(t *testing.T) {
	n := &node{id: &identity.Identity{Node: 1}}
	if n.stays(0, 7) {
		t.Error("a store stays before it was placed")
	}
	if err := n.tellStay(t.Context(), 1, stay{Store: 0, Term: 7}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   placement.StoreID
		term uint64
		want bool
	}{{0, 7, true}, {0, 6, true}, {0, 8, false}, {1, 7, false}} {
		if got := n.stays(c.id, c.term); got != c.want {
			t.Errorf("store %d stays in term %d: %v", c.id, c.term, got)
		}
	}
	n.ends.Store(true)
	if err := n.tellStay(t.Context(), 1, stay{Store: 1, Term: 7}); err == nil || n.stays(1, 7) {
		t.Errorf("a node that ends takes a store: %v", err)
	}
}
