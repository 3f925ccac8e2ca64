package raftnode

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Whatever the members and the voters are, one step after the other leads to the voters that should be, and then none is left; more stay only if of
// those that vote, or that should, no majority is heard. On the way a majority of the voters that are heard stays one, the leader is not taken out while another
// node could lead, and no node votes that is not ready.
func TestStepsLeadThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &placement.State{Members: make(map[event.NodeID]placement.Member)}
		var servers []raft.Server
		silent := make(map[event.NodeID]bool)
		last := rapid.IntRange(1, 9).Draw(t, "nodes")
		self := event.NodeID(rapid.IntRange(1, last).Draw(t, "leader"))
		for i := 1; i <= last; i++ {
			n := event.NodeID(i)
			m := placement.Membership(rapid.SampledFrom([]placement.Membership{placement.Active, placement.Active, placement.Active, placement.Leaving, placement.Removed}).Draw(t, fmt.Sprint("node ", i)))
			silent[n] = n != self && rapid.IntRange(0, 4).Draw(t, "silent") == 0
			s.Members[n] = placement.Member{Membership: m}
			switch suffrage := rapid.IntRange(0, 2).Draw(t, "votes"); {
			case n == self || suffrage == 0:
				servers = append(servers, raft.Server{ID: raft.ServerID(serverID(n)), Suffrage: raft.Voter})
			case suffrage == 1:
				servers = append(servers, raft.Server{ID: raft.ServerID(serverID(n)), Suffrage: raft.Nonvoter})
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(s.Members)), func(m placement.Member) bool { return m.Membership == placement.Active }) {
			s.Members[self] = placement.Member{Membership: placement.Active} // the state machine refuses to be without
		}
		e := electorate{servers: servers, state: s, self: self,
			heard: func(n event.NodeID) bool { return !silent[n] },
			ready: func(event.NodeID) bool { return true }}
		quorum := func() bool { // what was removed is cut off
			votes, heard := 0, 0
			for _, server := range e.servers {
				if n := nodeOf(string(server.ID)); server.Suffrage == raft.Voter {
					votes++
					if !silent[n] && s.Members[n].Membership != placement.Removed {
						heard++
					}
				}
			}
			return heard*2 > votes
		}
		steps := 0
		for had := quorum(); ; had = quorum() {
			do, n := e.next()
			if do == nothing {
				break
			}
			if steps++; steps > 50 {
				t.Fatalf("the steps do not end: %v of %d", do, n)
			}
			at := slices.IndexFunc(e.servers, func(s raft.Server) bool { return nodeOf(string(s.ID)) == n })
			switch do {
			case add:
				if at >= 0 {
					t.Fatalf("node %d is added twice", n)
				}
				e.servers = append(slices.Clone(e.servers), raft.Server{ID: raft.ServerID(serverID(n)), Suffrage: raft.Nonvoter})
				continue
			case promote:
				if silent[n] {
					t.Fatalf("node %d is silent, and is to vote", n)
				}
			}
			if n == e.self && do != promote { // it hands over to a voter that is heard
				heir := slices.IndexFunc(e.servers, func(s raft.Server) bool {
					return s.Suffrage == raft.Voter && nodeOf(string(s.ID)) != n && !silent[nodeOf(string(s.ID))]
				})
				if heir < 0 {
					return // there is none: it goes on to lead
				}
				e.self = nodeOf(string(e.servers[heir].ID))
				continue
			}
			e.servers = slices.Clone(e.servers)
			if do == drop {
				e.servers = slices.Delete(e.servers, at, at+1)
			} else {
				e.servers[at].Suffrage = map[step]raft.ServerSuffrage{promote: raft.Voter, demote: raft.Nonvoter}[do]
			}
			if had && !quorum() {
				t.Fatalf("after %v of %d the voters that are heard are no majority any more: %+v, silent %v", do, n, e.servers, silent)
			}
		}
		votes, may, heard := 0, 0, 0
		for _, server := range e.servers {
			n := nodeOf(string(server.ID))
			m := s.Members[n].Membership
			if m == placement.Removed {
				t.Fatalf("node %d was removed, and has a part", n)
			}
			if server.Suffrage == raft.Voter {
				votes++
			}
			if m == placement.Active && (server.Suffrage == raft.Voter || !silent[n]) {
				may++
			}
			if m == placement.Active && !silent[n] {
				heard++
			}
		}
		if want := VotersOf(may); votes < want || votes > want && heard*2 > want && quorum() {
			t.Fatalf("%d nodes vote, and %d should: %+v, silent %v", votes, want, e.servers, silent)
		}
	})
}

// A node that lags does not vote, and keeps the others as they are.
func TestNodesThatLag(t *testing.T) {
	s := &placement.State{Members: map[event.NodeID]placement.Member{}}
	var servers []raft.Server
	for n := event.NodeID(1); n <= 3; n++ {
		s.Members[n] = placement.Member{Membership: placement.Active}
		servers = append(servers, raft.Server{ID: raft.ServerID(serverID(n)), Suffrage: raft.Nonvoter})
	}
	servers[0].Suffrage = raft.Voter
	e := electorate{servers, s, 1, func(event.NodeID) bool { return true }, func(n event.NodeID) bool { return n != 2 }}
	if do, n := e.next(); do != promote || n != 3 {
		t.Errorf("%v of %d", do, n)
	}
	servers[2].Suffrage = raft.Voter
	if do, n := e.next(); do != nothing {
		t.Errorf("%v of %d", do, n)
	}

	// Node 4 is to replace node 3, which is silent: first it is ready, then it votes, then node 3 does not.
	servers[1].Suffrage = raft.Voter
	s.Members[4] = placement.Member{Membership: placement.Active}
	e.servers = append(servers, raft.Server{ID: "4", Suffrage: raft.Nonvoter})
	e.heard = func(n event.NodeID) bool { return n != 3 }
	e.ready = func(n event.NodeID) bool { return n != 4 }
	if do, n := e.next(); do != nothing {
		t.Errorf("%v of %d", do, n)
	}
	e.ready = func(event.NodeID) bool { return true }
	if do, n := e.next(); do != promote || n != 4 {
		t.Errorf("%v of %d", do, n)
	}
	e.servers[3].Suffrage = raft.Voter
	if do, n := e.next(); do != demote || n != 3 {
		t.Errorf("%v of %d", do, n)
	}
}

// A voter that answers votes until the others can do without it; one that is silent goes first.
func TestVotersThatAreNeededStay(t *testing.T) {
	for _, c := range []struct {
		what           string
		nodes          event.NodeID
		leaving        []event.NodeID
		silent, unsure []event.NodeID // the unsure were heard of lately, and do not answer
		do             step
		of             event.NodeID
	}{
		{"all answer", 3, []event.NodeID{2}, nil, nil, demote, 2},
		{"one is silent", 3, []event.NodeID{2}, []event.NodeID{3}, nil, demote, 3},
		{"one has just died", 3, []event.NodeID{2}, nil, []event.NodeID{3}, demote, 3},
		{"two of five are silent", 5, []event.NodeID{3}, []event.NodeID{4, 5}, nil, demote, 5},
		{"without those that leave no majority answers", 5, []event.NodeID{2, 3}, []event.NodeID{4, 5}, nil, nothing, 0},
		{"and it seems that they do", 5, []event.NodeID{2, 3}, nil, []event.NodeID{4, 5}, nothing, 0},
		{"a silent one may be needed when it is back", 3, []event.NodeID{3}, []event.NodeID{3}, []event.NodeID{2}, nothing, 0},
		{"a majority is left in either case", 4, []event.NodeID{2, 3}, []event.NodeID{4}, nil, demote, 4},
	} {
		s := &placement.State{Members: map[event.NodeID]placement.Member{}}
		var servers []raft.Server
		for n := event.NodeID(1); n <= c.nodes; n++ {
			m := placement.Active
			if slices.Contains(c.leaving, n) {
				m = placement.Leaving
			}
			s.Members[n] = placement.Member{Membership: m}
			servers = append(servers, raft.Server{ID: raft.ServerID(serverID(n)), Suffrage: raft.Voter})
		}
		heard := func(n event.NodeID) bool { return !slices.Contains(c.silent, n) }
		ready := func(n event.NodeID) bool { return heard(n) && !slices.Contains(c.unsure, n) }
		if do, of := (electorate{servers, s, 1, heard, ready}).next(); do != c.do || of != c.of {
			t.Errorf("%s: %v of %d, and not %v of %d", c.what, do, of, c.do, c.of)
		}
	}
}
