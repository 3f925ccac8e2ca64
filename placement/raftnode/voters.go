package raftnode

import (
	"cmp"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// step is what may be done next to the nodes that raft knows.
type step uint8

const (
	nothing step = iota
	add          // as one that does not vote
	promote      // to a voter
	demote
	drop
)

// electorate is what the next step depends on.
type electorate struct {
	servers []raft.Server
	state   *placement.State
	self    event.NodeID // the leader
	// heard reports whether a node was heard of lately, and ready whether one that does not vote has all entries but the last few.
	heard, ready func(event.NodeID) bool
}

// VotersOf returns how many nodes vote of so many that may: an odd number, as an even one survives no more losses than
// one less, and not more than five, as each command waits for a majority. Of two nodes one votes: two would fail twice as often.
func VotersOf(may int) int {
	switch {
	case may < 3:
		return 1
	case may < 5:
		return 3
	}
	return 5
}

// next returns the next step towards: all members have the state; of them as many vote as should, nodes that are heard before ones that are silent,
// and those that vote already before others. One step is taken at a time, and a voter is replaced by first having the new one. What was removed
// is cut off, so nothing is lost with its vote; any other voter, a silent one, too, stays until a majority of the others answers: raft counts by the new
// voters from the moment at which it begins with the change, so it would not even commit that.
func (e electorate) next() (step, event.NodeID) {
	has, known := make(map[event.NodeID]raft.ServerSuffrage), make(map[event.NodeID]bool)
	for _, s := range e.servers {
		n := nodeOf(string(s.ID))
		if m := e.state.Members[n].Membership; m != placement.Active && m != placement.Leaving {
			return drop, n
		}
		has[n], known[n] = s.Suffrage, true
	}
	votes := func(n event.NodeID) bool { return known[n] && has[n] == raft.Voter }
	var may, members []event.NodeID // may vote: active, and heard, or a voter already, as it may come back
	for n, m := range e.state.Members {
		if m.Membership != placement.Removed {
			members = append(members, n)
		}
		if m.Membership == placement.Active && (votes(n) || e.hears(n)) {
			may = append(may, n)
		}
	}
	slices.Sort(members)
	for _, n := range members {
		if !known[n] {
			return add, n
		}
	}
	slices.SortFunc(may, func(a, b event.NodeID) int {
		rank := func(n event.NodeID) (rank int) {
			if !e.hears(n) {
				rank += 4
			}
			if !votes(n) {
				rank += 2
			}
			if n != e.self {
				rank++
			}
			return rank
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	chosen := may[:min(len(may), VotersOf(len(may)))]
	missing := false
	for _, n := range chosen {
		if votes(n) {
			continue
		}
		missing = true
		if e.hears(n) && e.ready(n) {
			return promote, n
		}
	}
	if missing {
		return nothing, 0
	}
	// Those that are silent come first, as the majority needs fewer without them. The leader comes last: it hands over first.
	surplus := slices.DeleteFunc(members, func(n event.NodeID) bool { return !votes(n) || slices.Contains(chosen, n) })
	slices.SortStableFunc(surplus, func(a, b event.NodeID) int {
		last := func(n event.NodeID) int {
			switch {
			case n == e.self:
				return 2
			case e.hears(n):
				return 1
			}
			return 0
		}
		return cmp.Compare(last(a), last(b))
	})
	for _, n := range surplus {
		if e.majorityWithout(n) {
			return demote, n
		}
	}
	return nothing, 0
}

// majorityWithout reports whether a majority of the voters but one answers. To have heard of them lately is not enough: one may just have died.
func (e electorate) majorityWithout(n event.NodeID) bool {
	voters, answer := 0, 0
	for _, s := range e.servers {
		of := nodeOf(string(s.ID))
		if s.Suffrage != raft.Voter || of == n {
			continue
		}
		voters++
		if e.hears(of) && (of == e.self || e.ready(of)) {
			answer++
		}
	}
	return answer*2 > voters
}

func (e electorate) hears(n event.NodeID) bool { return n == e.self || e.heard(n) }
