package cluster

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// holders are those of all stores that the node has heard of.
type holders struct {
	counts  gate.Counts
	audited *audit.Log // nil: calls are not noted

	mu      sync.Mutex
	list    map[placement.StoreID]*holder
	running bool
	ended   bool // those that come from now on run nothing
}

// of returns the holder of a store. The first call makes it.
func (s *holders) of(n *node, id placement.StoreID) *holder {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.list[id]
	if h == nil {
		h = newHolder(n.id.Node, replica.Group(id), n.opener(id, &s.counts, s.audited), n.clock, n.fail, n.log)
		if s.list == nil {
			s.list = make(map[placement.StoreID]*holder)
		}
		s.list[id] = h
		switch {
		case s.ended:
			h.end()
		case s.running:
			n.run(h)
		}
	}
	return h
}

// run has all holders run systems where the node leads, when its parts are there.
func (s *holders) run(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
	for _, id := range slices.Sorted(maps.Keys(s.list)) {
		n.run(s.list[id])
	}
}

// end has all holders return. The node may hear of further stores while it ends.
func (s *holders) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, h := range s.list {
		h.end()
	}
}

// cutOff ends what was forwarded to other nodes and is not answered.
func (s *holders) cutOff() {
	for _, h := range s.all() {
		h.cutOff()
	}
}

func (n *node) run(h *holder) {
	h.driver = n.driver
	n.tasks.Go(h.run)
}

// all lists the holders, by store.
func (s *holders) all() (list []*holder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.list)) {
		list = append(list, s.list[id])
	}
	return list
}

// locate implements front.Config.Locate.
func (n *node) locate(ctx context.Context, of placement.StoreID, after front.Place) (front.Place, error) {
	return n.holders.of(n, of).locate(ctx, after)
}

// locateControl is locate for requests of operators.
func (n *node) locateControl(ctx context.Context, of placement.StoreID, after front.Place) (front.Place, error) {
	return n.holders.of(n, of).locateControl(ctx, after)
}

// here implements front.Config.Here.
func (n *node) here(of placement.StoreID) http.Handler { return n.holders.of(n, of).here() }

// controls is here for requests of operators.
func (n *node) controls(of placement.StoreID) http.Handler { return n.holders.of(n, of).controls() }

// anyControls returns what serves requests of operators by a system of this node, nil if there is none.
func (n *node) anyControls() http.Handler {
	for _, h := range n.holders.all() {
		if x := h.controls(); x != nil {
			return x
		}
	}
	return nil
}
