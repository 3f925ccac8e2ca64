package placement

import (
	"cmp"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
)

// View is what the leader of the placement knows of the world.
type View struct {
	// Heard reports whether a node was heard of lately. One that was not is given no store; what it keeps stays, as it may come back
	// with it.
	Heard func(event.NodeID) bool
	// Settled reports whether the raft group of a store has the members that a version of its list says, all of them up to date. What holds of
	// an earlier version does not count: the group has yet to follow what has changed since.
	Settled func(id StoreID, version uint64) bool
	// Voters are the nodes that vote on the placement.
	Voters []event.NodeID
}

// Plan returns commands that bring the cluster nearer to what it should be, none if it is there or has to wait: each store has
// Replicas replicas, or as many as there are nodes but an odd number, and two if it had more and two nodes are left; none is kept by a node that leaves;
// and the nodes keep equally many, but for one, unless there are too few of them. A store changes by one replica at a time, and only when its group is settled.
// A node that leaves is removed when all groups are settled, and it does not vote on the placement: its vote counts there, and in a group that has not
// followed its list yet, so either could lose its majority for ever.
func Plan(s *State, v View) (list []Command) {
	if s.Cluster == "" {
		return nil
	}
	p := plan{s, v, make(map[event.NodeID]int)}
	nodes, want := s.with(Active), s.Want()
	for _, n := range nodes {
		p.load[n] = 0
	}
	for _, st := range s.Stores {
		for _, n := range st.Replicas {
			p.load[n]++
		}
	}
	allSettled := true
	for id, st := range s.Stores {
		id := StoreID(id)
		if !v.Settled(id, st.Version) {
			allSettled = false
			continue
		}
		if next := p.next(id, want); next != nil {
			list = append(list, Command{Replicate: &Replicate{Store: id, Version: st.Version, Replicas: next}})
		}
	}
	for _, n := range s.with(Leaving) {
		if allSettled && len(s.Of(n)) == 0 && !slices.Contains(v.Voters, n) {
			list = append(list, Command{Remove: &Remove{Node: n}})
		}
	}
	return list
}

// Want returns how many replicas each store is to have with the nodes that there are: an odd number, as one more would survive no more.
func (s *State) Want() int {
	want := min(s.Replicas, len(s.with(Active)))
	return want - 1 + want%2
}

// plan is a plan that is being made. load is how many stores each node is to keep, with the changes so far.
type plan struct {
	s    *State
	v    View
	load map[event.NodeID]int
}

// next returns what the replicas of a store should be next, nil if nothing is to be done.
func (p *plan) next(id StoreID, want int) []event.NodeID {
	have := p.s.Stores[id].Replicas
	few := want == 1 && p.s.Replicas > 1
	if stay := len(slices.DeleteFunc(slices.Clone(have), func(n event.NodeID) bool { return p.s.Members[n].Membership == Leaving })); few && stay > 1 {
		want = 2 // of what has been kept several times, a second copy is not given away while there is a node that has it
	}
	worst := p.worst(have)
	best, found := p.best(have)
	leaving := p.s.Members[worst].Membership == Leaving
	switch {
	case len(have) > want:
		return p.change(have, worst, 0)
	case !found:
		return nil
	case len(have) < want:
		return p.change(have, 0, best)
	case !leaving && (few || !p.v.Heard(worst) || p.load[worst]-p.load[best] <= 1):
		return nil // it stays where it is
	case len(have) < 3:
		return p.change(have, 0, best) // first the new one, as the old one alone has the store; want takes that away later
	}
	return p.change(have, worst, best)
}

// worst returns the replica that is to go first: one that leaves, else one that is silent, else one that keeps the most stores.
func (p *plan) worst(have []event.NodeID) event.NodeID {
	return slices.MaxFunc(have, func(a, b event.NodeID) int {
		leaves := func(n event.NodeID) int { return int(p.s.Members[n].Membership) }
		silent := func(n event.NodeID) int {
			if p.v.Heard(n) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(leaves(a), leaves(b)), cmp.Compare(silent(a), silent(b)), cmp.Compare(p.load[a], p.load[b]), cmp.Compare(a, b))
	})
}

// best returns the node that is to have the store next: the one that keeps the fewest.
func (p *plan) best(have []event.NodeID) (best event.NodeID, found bool) {
	for _, n := range p.s.with(Active) {
		if !slices.Contains(have, n) && p.v.Heard(n) && (!found || p.load[n] < p.load[best]) {
			best, found = n, true
		}
	}
	return best, found
}

// change returns the replicas without one and with another; 0 is none. It returns nil if of what would be left no majority is heard.
func (p *plan) change(have []event.NodeID, without, with event.NodeID) []event.NodeID {
	next := slices.DeleteFunc(slices.Clone(have), func(n event.NodeID) bool { return n == without })
	if with != 0 {
		next = append(next, with)
		slices.Sort(next)
	}
	heard := 0
	for _, n := range next {
		if p.v.Heard(n) {
			heard++
		}
	}
	if heard*2 <= len(next) {
		return nil
	}
	if without != 0 {
		p.load[without]--
	}
	if with != 0 {
		p.load[with]++
	}
	return next
}
