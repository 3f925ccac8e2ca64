package store

import (
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Numbers gives numbers, ascending, each once in the life of a store: they have the number of the start in front of a count. A start
// that has used up its count takes the number of another start. The zero value gives those of a system that keeps nothing.
type Numbers struct {
	last  atomic.Uint64
	count uint64        // the bits of the count; 0: all
	next  func() uint64 // the number of another start, with what is in front of the count, durable; nil: there is none
	mu    sync.Mutex    // held while another start is taken
}

// Bits of numbers: event.StoreBits of the store, as many as are left of the start, and those of the count.
const (
	idCountBits       = 30
	sequenceCountBits = 40
)

// startsMax is how many starts ids can tell apart.
const startsMax = 1<<(event.CountBits-idCountBits) - 1

// IDs has n, which has given none, give ids: numbers that no other store gives.
func (s *Store) IDs(n *Numbers) {
	n.open(idCountBits, func(start uint64) uint64 { return event.OfStore(s.meta.number, start<<idCountBits) }, s)
}

// Sequence has n, which has given none, give numbers that ascend from start to start. Other stores give the same ones.
func (s *Store) Sequence(n *Numbers) {
	n.open(sequenceCountBits, func(start uint64) uint64 { return start << sequenceCountBits }, s)
}

func (n *Numbers) open(bits uint, first func(start uint64) uint64, s *Store) {
	assert.That(n.last.Load() == 0, "numbers were given before they belonged to a store")
	n.count = 1<<bits - 1
	n.next = func() uint64 { return first(s.nextStart()) }
	n.last.Store(first(s.Starts()))
}

// Next returns the next number.
func (n *Numbers) Next() uint64 {
	for {
		last := n.last.Load()
		if n.next != nil && last&n.count == n.count {
			n.extend(last)
		} else if n.last.CompareAndSwap(last, last+1) {
			return last + 1
		}
	}
}

// extend goes on with the numbers of another start behind last, which is the end of those that there were.
func (n *Numbers) extend(last uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last.Load() != last {
		return // another goroutine has done it
	}
	first := n.next()
	// Invariant: numbers ascend.
	assert.That(first > last, "number %x after %x", first, last)
	n.last.Store(first)
}
