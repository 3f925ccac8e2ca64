package order

import (
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Serials numbers the actors that are created, in blocks so that creators share no cache line.
type Serials struct{ last atomic.Uint64 }

// SerialBlock has the numbers that one creator may give.
type SerialBlock struct{ next, end uint64 }

const serialBlock = 256

// Open makes all numbers larger than last. It is called before the first use.
func (s *Serials) Open(last uint64) { s.last.Store(last) }

// Next returns the id of a new actor in partition p, from b or, if b is nil, from no block.
func (s *Serials) Next(b *SerialBlock, p event.PartitionID) event.ActorID {
	if b == nil {
		return event.SerialActor(p, s.last.Add(1))
	}
	if b.next == b.end {
		b.end = s.last.Add(serialBlock)
		b.next = b.end - serialBlock
	}
	b.next++
	return event.SerialActor(p, b.next)
}
