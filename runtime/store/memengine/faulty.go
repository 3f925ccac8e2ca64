package memengine

import (
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Faulty is a Reader one of whose reads fails, as those of a disk do: the read of a row by its key, or one below a
// scan, which then ends and says so when it is closed. Any goroutine may use it.
type Faulty struct {
	store.Reader
	Err   error
	Left  atomic.Int64 // how many reads succeed before
	Fails atomic.Int64 // how many have failed; all that come later do

	told atomic.Pointer[error]
}

// Fail is what a store.Store has: it is told why an actor cannot be read.
func (f *Faulty) Fail(err error) { f.told.CompareAndSwap(nil, &err) }

// Told returns the first error that Fail was called with.
func (f *Faulty) Told() error {
	if err := f.told.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *Faulty) fails() bool {
	if f.Left.Add(-1) >= 0 {
		return false
	}
	f.Fails.Add(1)
	return true
}

// Get implements store.Reader.
func (f *Faulty) Get(key, buf []byte) ([]byte, bool, error) {
	if f.fails() {
		return buf, false, f.Err
	}
	return f.Reader.Get(key, buf)
}

// Scan implements store.Reader.
func (f *Faulty) Scan(from, to []byte) store.Iterator {
	return &faultyIterator{Iterator: f.Reader.Scan(from, to), f: f}
}

type faultyIterator struct {
	store.Iterator
	f   *Faulty
	err error
}

func (i *faultyIterator) Next() bool { return i.goesOn() && i.Iterator.Next() }

func (i *faultyIterator) Prev() bool { return i.goesOn() && i.Iterator.Prev() }

func (i *faultyIterator) goesOn() bool {
	if i.err == nil && i.f.fails() {
		i.err = i.f.Err
	}
	return i.err == nil
}

func (i *faultyIterator) Close() error {
	err := i.Iterator.Close()
	if i.err != nil {
		return i.err
	}
	return err
}
