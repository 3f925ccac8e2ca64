package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/runtime/event"
)

// stores is what this node knows of the stores that it leads.
type stores struct {
	mu       sync.Mutex
	followed map[placement.StoreID]uint64 // which version of its list the group of a store has followed to the end; replaced, and never changed
	stay     map[placement.StoreID]uint64 // the last term in which this node does not give a store to its preferred leader, as an operator has placed it here
	spread   time.Time                    // when this node has given a store to another one last; of keepStores alone
}

// followInterval is how often a leader looks whether the members of a group are those that placement wants.
const followInterval = 100 * time.Millisecond

// keepStores takes part in the groups of the stores that placement has this node keep, and brings the groups that it leads to their members. It
// has the transport be connected with all members, and lets the memory have room for the stores.
func (n *node) keepStores() {
	t := time.NewTicker(followInterval)
	defer t.Stop()
	var last *placement.State
	for {
		changed := n.placement.Watch()
		s := n.placement.State()
		if s != last {
			n.transport.Peers(slices.Collect(maps.Keys(n.roll.All())))
			n.c.LimitMemory(len(s.Of(n.id.Node)))
			last = s
		}
		for _, id := range s.Of(n.id.Node) {
			n.keep(s, id)
		}
		n.leaveOthers(s)
		want := make(map[replica.Group][]event.NodeID)
		for id, st := range s.Stores {
			want[replica.Group(id)] = st.Replicas
		}
		followed := make(map[placement.StoreID]uint64)
		for g, is := range n.driver.Follow(want) {
			if id := placement.StoreID(g); is {
				followed[id] = s.Stores[id].Version
			}
		}
		n.stores.mu.Lock()
		n.stores.followed = followed
		n.stores.mu.Unlock()
		n.spread(s, followed)
		select {
		case <-n.stop:
			return
		case <-changed:
		case <-t.C:
		}
	}
}

// spreadInterval is how long a node that has given a store to its preferred leader waits before it gives the next one.
const spreadInterval = 3 * time.Second

// spread gives one of the stores that this node leads to the node that is to lead it: of several stores each has a preferred leader, so that all nodes
// lead equally many. A store that is the only one stays where it is, and so does one that an operator has placed here, and one that the other node may not
// lead: it would come back, after an election each way, again and again. The other node is asked at that moment: one that ends has just given its stores away.
func (n *node) spread(s *placement.State, followed map[placement.StoreID]uint64) {
	if len(s.Stores) == 1 || n.ends.Load() || time.Since(n.stores.spread) < spreadInterval {
		return
	}
	for id := range s.Stores {
		id := placement.StoreID(id)
		to, role := preferred(s, id), n.driver.Leader(replica.Group(id))
		if role.Leader != n.id.Node || n.stays(id, role.Term) || followed[id] != s.Stores[id].Version || to == n.id.Node || !n.heard(to) || !n.mayLead(to, id) {
			continue
		}
		n.stores.spread = time.Now()
		if !n.askNode(to) || !n.mayLead(to, id) {
			return
		}
		if err := n.driver.Transfer(replica.Group(id), to); err != nil {
			n.log.Debug("a store stays with this node", "store", id, "preferred", to, "error", err)
		}
		return
	}
}

// stay says that a store stays with the node that it is told to, while that leads it up to a term: an operator has placed it there. A later term ends that, and
// so does the end of the process of the node: so all nodes lead equally many again after a failure, without a record that the cluster would have to agree on.
type stay struct {
	Store placement.StoreID `json:"store"`
	Term  uint64            `json:"term"`
}

// letStay notes that a store stays with this node.
func (n *node) letStay(s stay) error {
	if n.ends.Load() {
		return errEnds
	}
	n.stores.mu.Lock()
	defer n.stores.mu.Unlock()
	if n.stores.stay == nil {
		n.stores.stay = make(map[placement.StoreID]uint64)
	}
	n.stores.stay[s.Store] = s.Term
	return nil
}

// errEnds is why a node is not given a store.
var errEnds = errors.New("the process of the node ends: give the store to another node, or start this one again")

// tellStay has a node note that a store stays with it.
func (n *node) tellStay(ctx context.Context, to event.NodeID, s stay) error {
	if to == n.id.Node {
		return n.letStay(s)
	}
	b, _ := json.Marshal(s) // never fails
	_, err := n.transport.Call(ctx, to, append([]byte{callStay}, b...))
	return err
}

// stays reports whether an operator has placed a store on this node, which leads it in a term.
func (n *node) stays(id placement.StoreID, term uint64) bool {
	n.stores.mu.Lock()
	defer n.stores.mu.Unlock()
	in, is := n.stores.stay[id]
	return is && term <= in
}

// mayLead reports whether another node is to be given a store, by what it has told last: it does not end, and has not told that it could not open the store
// lately.
func (n *node) mayLead(other event.NodeID, id placement.StoreID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.brief[other].brief
	return !b.Ends && !slices.ContainsFunc(b.Stores, func(st storeBrief) bool { return st.ID == id && st.Failed })
}

// preferred returns which node is to lead a store.
func preferred(s *placement.State, id placement.StoreID) event.NodeID {
	list := slices.DeleteFunc(slices.Clone(s.Stores[id].Replicas), func(n event.NodeID) bool { return s.Members[n].Membership != placement.Active })
	if len(list) == 0 {
		return s.Stores[id].Replicas[0]
	}
	return list[int(id)%len(list)]
}

// keep takes part in the group of a store.
func (n *node) keep(s *placement.State, id placement.StoreID) {
	g := replica.Group(id)
	if n.driver.Has(g) {
		return
	}
	var err error
	if st := s.Stores[id]; n.id.Node == firstNode && st.Version == 1 && slices.Equal(st.Replicas, []event.NodeID{n.id.Node}) {
		err = n.driver.Begin(g, n.id.Node)
	} else {
		err = n.driver.Join(g)
	}
	if err != nil && !errors.Is(err, driver.ErrClosed) {
		n.log.Error("this node cannot keep a store", "store", id, "error", err)
	}
}

// leaveOthers leaves the groups of stores that this node is not to keep any more, when their leaders say that it is no member.
func (n *node) leaveOthers(s *placement.State) {
	for id := range s.Stores {
		id := placement.StoreID(id)
		if s.Keeps(n.id.Node, id) || !n.driver.Has(replica.Group(id)) {
			continue
		}
		asOf, out := n.isOut(id)
		if !out {
			continue
		}
		err := n.driver.Leave(replica.Group(id), asOf)
		if err != nil && !errors.Is(err, driver.ErrClosed) && !errors.Is(err, driver.ErrStays) {
			n.log.Warn("the replica of a store that others keep now stays on the disk", "store", id, "error", err)
		}
	}
}

// isOut reports whether the leader of a store has said lately that this node is no member of its group, and as of which entry.
func (n *node) isOut(id placement.StoreID) (asOf replica.Position, out bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.brief {
		for _, st := range h.brief.Stores {
			if st.ID == id && st.Serves && len(st.Progress) > 0 && time.Since(h.at) < staleAfter {
				out = !slices.ContainsFunc(st.Progress, func(p replica.Progress) bool { return p.Node == n.id.Node })
				return replica.Position{Index: st.Commit, Term: st.CommitTerm}, out
			}
		}
	}
	return replica.Position{}, false
}

// settled implements placement.View.Settled: for the leader of the placement, which may not lead the store. What this node and the others report is as of
// the list that the leader of the store had then, so a report counts for that version of it alone.
func (n *node) settled(id placement.StoreID, version uint64) bool {
	n.stores.mu.Lock()
	mine := n.stores.followed[id]
	n.stores.mu.Unlock()
	if mine == version {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.brief {
		if time.Since(h.at) < staleAfter && h.brief.Followed[id] == version {
			return true
		}
	}
	return false
}
