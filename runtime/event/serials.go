package event

import "sync/atomic"

// Serials numbers the actors that are created, in blocks so that creators share no cache line.
type Serials struct {
	store StoreID
	last  atomic.Uint64
}

// SerialBlock has the numbers that one creator may give. It belongs to one goroutine.
type SerialBlock struct{ next, end uint64 }

const serialBlock = 256

// Open makes the numbers those of a store, and larger than last. It is called before the first use.
func (s *Serials) Open(store StoreID, last uint64) {
	s.store = store
	s.last.Store(last)
}

// Next returns the id of a new actor in partition p, from b or, if b is nil, from no block.
func (s *Serials) Next(b *SerialBlock, p PartitionID) ActorID {
	if b == nil {
		return s.born(p, s.last.Add(1))
	}
	if b.next == b.end {
		b.end = s.last.Add(serialBlock)
		b.next = b.end - serialBlock
	}
	b.next++
	return s.born(p, b.next)
}

func (s *Serials) born(p PartitionID, n uint64) ActorID {
	return SerialActor(p, OfStore(s.store, n))
}
