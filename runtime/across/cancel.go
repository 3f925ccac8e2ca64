package across

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// A chain that a client has begun may have its next step in any store. When the client cancels it, the client's store tells all stores, in each session
// that begins before it knows the end of the chain. A store cancels the step that it has, and remembers the chain for a step that comes later.

// cancelledMax is how many of the chains that were cancelled a store remembers: the last ones. A step of one that is forgotten goes on.
const cancelledMax = 1 << 12

// clientChains are chains of clients, of any store.
type clientChains struct {
	mu struct {
		sync.Mutex // a leaf; what it guards is called without it
		here       map[event.EventID]*chainHere
		cancelled  map[event.EventID]struct{}
		ring       []event.EventID // those in cancelled, in the order in which they came
		oldest     int             // in ring, when that is full
	}
	told map[event.EventID]event.Chain // that clients of this store have cancelled, and whose ends are not known; guarded by the mutex of the store
}

// chainHere is a chain with steps in this store: one, or another beside one that is just ending.
type chainHere struct {
	cancel order.Cancellation
	steps  int
}

// JoinChain returns by what the steps of a chain in this store are cancelled whose end is awaited in another one, or in this one, which it has left
// meanwhile. A request, which cancels no step, is not told from a client: nor do rows tell them apart. LeaveChain follows.
func (s *Store) JoinChain(first event.EventID) *order.Cancellation {
	c := &s.chains.mu
	c.Lock()
	h := c.here[first]
	if h == nil {
		h = &chainHere{}
		c.here[first] = h
	}
	h.steps++
	_, cancelled := c.cancelled[first]
	c.Unlock()
	if cancelled {
		h.cancel.Cancel()
	}
	return &h.cancel
}

// LeaveChain ends what JoinChain has begun.
func (s *Store) LeaveChain(first event.EventID) {
	c := &s.chains.mu
	c.Lock()
	defer c.Unlock()
	h := c.here[first]
	// Invariant: what leaves a chain has joined it.
	assert.That(h != nil, "across: a chain is left that has no step here")
	if h.steps--; h.steps == 0 {
		delete(c.here, first)
	}
}

// CancelChain has a chain cancelled, which a client of this store has begun, wherever its next step is. EndChain follows.
func (s *Store) CancelChain(ch event.Chain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chains.told[ch.First] = ch
	for _, to := range s.reached() {
		s.send(to, &Message{Kind: Cancelled, Chain: ch})
	}
}

// EndChain says that the end of a chain is known, which may have been cancelled.
func (s *Store) EndChain(first event.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.chains.told, first)
}

// cancelled cancels what this store has of a chain, and remembers that. It is called without mu.
func (s *Store) cancelled(first event.EventID) {
	c := &s.chains.mu
	c.Lock()
	if _, known := c.cancelled[first]; !known {
		c.cancelled[first] = struct{}{}
		if len(c.ring) < cancelledMax {
			c.ring = append(c.ring, first)
		} else {
			delete(c.cancelled, c.ring[c.oldest])
			c.ring[c.oldest], c.oldest = first, (c.oldest+1)%cancelledMax
		}
	}
	h := c.here[first]
	c.Unlock()
	if h != nil {
		h.cancel.Cancel()
	}
}
