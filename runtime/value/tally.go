package value

import (
	"math"
	"sync/atomic"
)

// A container whose elements are read from the store comes into memory when reading it has cost about as much as
// reading all of it would: when as many rows have been read as it has elements. This is no write. A reader may do it
// beside other readers, and publishes the body that it has made for them; a writer takes that body over first. A load
// that turns out to be larger than expected, with no memory left for it, is given up, and begins anew after as many
// reads; so loads never cost more than what has been read before.

// Budget is the memory that containers may come into. Any goroutine may use it.
type Budget interface {
	// Take reports whether there is room for so many bytes more. They count until Settle.
	Take(bytes int64) bool
	// Settle says that what was taken is on the heap, or garbage, from now on.
	Settle(bytes int64)
}

// Tally counts what is read of a container, and decides when that has been enough. Any goroutine may use it.
type Tally struct {
	budget      Budget       // nil: the container stays where it is
	rows, bytes atomic.Int64 // read since the last load; rows are far below zero while there is one
}

// NewTally returns the tally of a container that may come into memory within a budget; if that is nil, it may not.
func NewTally(b Budget) *Tally { return &Tally{budget: b} }

// Read notes that a row of so many bytes, with its key, was read.
func (t *Tally) Read(bytes int) {
	t.rows.Add(1)
	t.bytes.Add(int64(bytes))
}

// Due returns a load that is to begin now, of a container of size elements that take each bytes in memory besides their
// content; nil if it is too early, another load is under way, or there is no room.
func (t *Tally) Due(size, each int) *Loading {
	n := t.rows.Load()
	if n < int64(max(size, 1)) || t.budget == nil || !t.rows.CompareAndSwap(n, whileLoading) {
		return nil
	}
	l := &Loading{of: t, each: int64(each)}
	if !l.take(l.memory(int64(size), int64(size)*(t.bytes.Swap(0)/n+1))) {
		l.End()
		return nil
	}
	return l
}

// whileLoading is what rows begin with while a load of the container is under way.
const whileLoading = math.MinInt64 / 2

// byteMemory is how many bytes one of a row takes in memory. What is made of it is a struct whose numbers take
// all their bytes, and texts of their own.
const byteMemory = 3

// Loading is a container on its way into memory. It belongs to the reader that has begun it.
type Loading struct {
	Tally // of what the load itself reads
	of    *Tally
	each  int64
	taken int64
}

func (l *Loading) memory(rows, bytes int64) int64 { return rows*l.each + bytes*byteMemory }

func (l *Loading) take(bytes int64) bool {
	ok := l.of.budget.Take(bytes)
	if ok {
		l.taken += bytes
	}
	return ok
}

// Fits reports whether there is room for what was read so far. If not, the load is to be given up.
func (l *Loading) Fits() bool {
	return l.memory(l.rows.Load(), l.bytes.Load()) <= l.taken || l.take(l.taken)
}

// End must be called when the load is over.
func (l *Loading) End() {
	l.of.budget.Settle(l.taken)
	l.of.bytes.Store(0)
	l.of.rows.Store(0)
}
