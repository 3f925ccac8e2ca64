package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
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
