package across

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// A step that comes to a store behind the cancellation of its chain is cancelled, as are those that are there. A store remembers the last chains that were cancelled, and
// nothing of a chain whose steps have left it.
func TestStepsThatComeBehindACancellation(t *testing.T) {
	s := Open(Config{Stores: 1})
	chain := func(n uint64) event.EventID { return event.EventID{Origin: 1, Seq: n} }
	isCancelled := func(c *order.Cancellation) bool { return c.Context().Err() != nil }
	there, beside := s.JoinChain(chain(0)), s.JoinChain(chain(0))
	other := s.JoinChain(chain(1))
	s.cancelled(chain(0))
	s.cancelled(chain(0))
	if !isCancelled(there) || !isCancelled(beside) || isCancelled(other) {
		t.Errorf("cancelled are %v, %v, and of another chain %v", isCancelled(there), isCancelled(beside), isCancelled(other))
	}
	s.LeaveChain(chain(0))
	s.LeaveChain(chain(0))
	s.LeaveChain(chain(1))
	for n := range uint64(cancelledMax - 1) {
		s.cancelled(chain(n + 2))
	}
	comes := func(n uint64) bool {
		defer s.LeaveChain(chain(n))
		return isCancelled(s.JoinChain(chain(n)))
	}
	if !comes(0) || !comes(cancelledMax) || comes(1) {
		t.Errorf("of the steps that come behind, cancelled are %v, %v, and of another chain %v", comes(0), comes(cancelledMax), comes(1))
	}
	s.cancelled(chain(1))
	if comes(0) || !comes(1) || !comes(2) {
		t.Errorf("when there is one too many to remember, cancelled are %v, %v and %v", comes(0), comes(1), comes(2))
	}
	if c := &s.chains.mu; len(c.here) > 0 || len(c.cancelled) != cancelledMax {
		t.Errorf("the store knows %d chains with steps and %d that were cancelled", len(c.here), len(c.cancelled))
	}
}
