package cluster

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// A node is taken out as lost only if no other node hears it, and what it keeps has a leader without it: the list of a store's replicas has nodes that are
// still to get a copy, so that the node may have the only one.
func TestNodesThatAreNeeded(t *testing.T) {
	s := &placement.State{
		Members: map[event.NodeID]placement.Member{1: {Name: "node1"}, 2: {Name: "node2"}, 3: {Name: "node3"}},
		Stores:  []placement.Store{{Replicas: []event.NodeID{1, 2}}, {Replicas: []event.NodeID{2, 3}}, {Replicas: []event.NodeID{1, 3}}},
	}
	leading := func(list ...storeBrief) brief { return brief{Stores: list} }
	leads := func(id placement.StoreID) storeBrief { return storeBrief{ID: id, Term: 2, Leads: true} }
	now, old := time.Now(), time.Now().Add(-staleAfter)
	for _, c := range []struct {
		what  string
		asked event.NodeID
		told  map[event.NodeID]heard
		want  string // of the refusal; "": there is none
	}{
		{"others lead its stores", 2, map[event.NodeID]heard{2: {leading(leads(0)), now}, 3: {leading(leads(2)), now}}, ""},
		{"one of its stores has no leader", 2, map[event.NodeID]heard{2: {leading(leads(1)), now}, 3: {leading(leads(2)), now}}, "node1 keeps stores that no node leads without it, the first of 1 is 0"},
		{"it has led them itself", 2, map[event.NodeID]heard{1: {leading(leads(0), leads(2)), old}, 2: {leading(leads(1)), now}}, "the first of 2 is 0"},
		{"their leader is silent, too", 2, map[event.NodeID]heard{2: {leading(leads(0)), now}, 3: {leading(leads(2)), old}}, "the first of 1 is 2"},
		{"it was asked itself", 1, map[event.NodeID]heard{1: {leading(), now}, 2: {leading(leads(0)), now}, 3: {leading(leads(2)), now}}, "node1 is not lost, it answers"},
		{"it has answered just before it ended", 2, map[event.NodeID]heard{1: {leading(leads(0)), now}, 2: {leading(leads(0)), now}, 3: {leading(leads(2)), now}}, ""},
		{"another node hears it", 2, map[event.NodeID]heard{2: {leading(leads(0), leads(2)), now}, 3: {brief{Hears: []event.NodeID{1}}, now}}, "node1 is not lost, it answers"},
	} {
		err := whyNeeded(s, 1, c.asked, c.told)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// The status has which nodes cannot open a store, of those that answer, in the order of the nodes.
func TestTheStatusHasWhichNodesCannotOpenAStore(t *testing.T) {
	stores := []status.Store{{ID: 0}, {ID: 1}}
	cannot := func(why string) brief {
		return brief{Stores: []storeBrief{{ID: 0}, {ID: 1, Cannot: why}, {ID: 2, Cannot: "this node has not heard of the store yet"}}}
	}
	noteFailures(stores, map[event.NodeID]heard{
		4: {cannot("d"), time.Now()}, 3: {cannot("c"), time.Now()}, 2: {cannot(""), time.Now()}, 1: {cannot("a"), time.Now().Add(-staleAfter)},
	})
	if want := []status.Failure{{Node: 3, Why: "c"}, {Node: 4, Why: "d"}}; len(stores[0].Failed) > 0 || !reflect.DeepEqual(stores[1].Failed, want) {
		t.Errorf("the stores could not be opened by %v", stores)
	}
}

// A node that could not open a store says so until it can: it may not be asked to lead it again before no other one can.
func TestANodeTellsThatItCannotOpenAStore(t *testing.T) {
	t.Parallel() // it waits for elections
	n, l, err := begin(t.Context(), adopting(filepath.Join(t.TempDir(), "node"), "", pebbledb.Open), nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer closeSoon(n.close)
	awaitReady(t, n)
	if s := n.status(); len(s.Stores) != 1 || s.Stores[0].Failed == nil || len(s.Stores[0].Failed) > 0 {
		t.Errorf("at first: %+v", s.Stores)
	}
	h := n.holders.of(n, firstStore)
	h.tried(errors.New("a field has another type"))
	if s := n.status(); !reflect.DeepEqual(s.Stores[0].Failed, []status.Failure{{Node: n.id.Node, Why: "a field has another type"}}) {
		t.Errorf("when it could not: %+v", s.Stores)
	}
	h.tried(nil)
	if s := n.status(); len(s.Stores[0].Failed) > 0 {
		t.Errorf("when it could again: %+v", s.Stores)
	}
}

// A node that leaves gives a store to none that could not open it, and stays if there is no other one.
func TestANodeThatLeavesGivesNoStoreToOneThatCannotOpenIt(t *testing.T) {
	failed := func(nodes ...event.NodeID) (list []status.Failure) {
		for _, n := range nodes {
			list = append(list, status.Failure{Node: n, Why: "a field has another type"})
		}
		return list
	}
	all := []event.NodeID{1, 2, 3}
	p := &placement.State{Members: map[event.NodeID]placement.Member{1: {Name: "node1"}, 2: {Name: "node2"}, 3: {Name: "node3"}}}
	for _, c := range []struct {
		what    string
		st      status.Store
		goesTo  []event.NodeID
		refused bool
	}{
		{"all can open it", status.Store{Leader: 1, Wanted: all, Current: all}, []event.NodeID{2, 3}, false},
		{"one cannot", status.Store{Leader: 1, Wanted: all, Current: all, Failed: failed(2)}, []event.NodeID{3}, false},
		{"none can", status.Store{Leader: 1, Wanted: all, Current: all, Failed: failed(2, 3)}, nil, true},
		{"one cannot, and the other one is not up to date", status.Store{Leader: 1, Wanted: all, Current: all[:2], Failed: failed(2)}, nil, false},
		{"no other one keeps it yet", status.Store{Leader: 1, Wanted: all[:1], Current: all[:1]}, nil, false},
		{"another one leads it", status.Store{Leader: 2, Wanted: all, Current: all, Failed: failed(2, 3)}, nil, false},
		{"another one that cannot keeps it no more", status.Store{Leader: 1, Wanted: all[:2], Current: all, Failed: failed(3)}, []event.NodeID{2}, false},
	} {
		if got := successors(&c.st, 1); !slices.Equal(got, c.goesTo) {
			t.Errorf("%s: the store goes to one of %v, want %v", c.what, got, c.goesTo)
		}
		c.st.ID = 4
		err := whyOpensAlone(p, []status.Store{c.st}, 1)
		want := `node1 leads store 4, and no other node that keeps it could open it, so its actors would stop: node2: a field has another type; node3: a field has another type; mend that, and restart these nodes, or have one try again, by "aeond transfer 4 node2"`
		if (err != nil) != c.refused || err != nil && err.Error() != want {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// The node that is removed is not the one that is asked for that, but for the last one of a cluster, which stays for another reason.
func TestAnotherNodeIsAskedToRemoveOne(t *testing.T) {
	s := &placement.State{Members: map[event.NodeID]placement.Member{1: {Name: "node1"}, 2: {Name: "node2"}}}
	if err := whyByAnother(s, 1, 2); err != nil {
		t.Errorf("another one is asked: %v", err)
	}
	if err := whyByAnother(s, 1, 1); err == nil || !strings.Contains(err.Error(), `ask another node, by "aeond remove node1"`) {
		t.Errorf("the node itself is asked: %v", err)
	}
	s.Members[2] = placement.Member{Name: "node2", Membership: placement.Removed}
	if err := whyByAnother(s, 1, 1); err != nil {
		t.Errorf("the last node is asked: %v", err)
	}
}
