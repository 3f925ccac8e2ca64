package memengine

import (
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Counting is a Reader that counts what is read by it. Any goroutine may use it.
type Counting struct {
	store.Reader
	gets, scanned atomic.Int64
}

// Gets returns how many rows were asked for by their keys.
func (c *Counting) Gets() int64 { return c.gets.Load() }

// Scanned returns how many rows were gone over, the end of each scan included.
func (c *Counting) Scanned() int64 { return c.scanned.Load() }

// Reads returns both together.
func (c *Counting) Reads() int64 { return c.Gets() + c.Scanned() }

// Reset begins anew.
func (c *Counting) Reset() {
	c.gets.Store(0)
	c.scanned.Store(0)
}

// Get implements store.Reader.
func (c *Counting) Get(key, buf []byte) ([]byte, bool, error) {
	c.gets.Add(1)
	return c.Reader.Get(key, buf)
}

// Scan implements store.Reader.
func (c *Counting) Scan(from, to []byte) store.Iterator {
	return &countingIterator{c.Reader.Scan(from, to), c}
}

type countingIterator struct {
	store.Iterator
	c *Counting
}

func (i *countingIterator) Next() bool {
	i.c.scanned.Add(1)
	return i.Iterator.Next()
}

func (i *countingIterator) Prev() bool {
	i.c.scanned.Add(1)
	return i.Iterator.Prev()
}
