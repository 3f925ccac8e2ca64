// Package memengine is an Engine in memory, as simple as it can be: tests use it where the
// disk does not matter, and to crash at any point between two batches.
package memengine

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Engine implements store.Engine. It remembers the batches since the last Sync, so that
// Crash can lose them.
type Engine struct {
	mu struct {
		sync.Mutex
		rows     rows
		pending  [][]change // applied since the last Sync, in order
		durable  map[string][]byte
		shared   bool // rows.values is a snapshot's, too
		closed   bool
		applied  int
		failWith error // of Apply and Sync, from now on
	}
}

// rows is the content: a map, and its keys in order, which are found when they are needed.
type rows struct {
	values map[string][]byte
	keys   []string
	sorted bool
}

// change is one entry of a batch.
type change struct {
	key   string
	to    string // of a range; then value is nil
	value []byte // nil: delete
	many  bool
}

// New returns an empty engine.
func New() *Engine { return from(map[string][]byte{}) }

func from(values map[string][]byte) *Engine {
	e := &Engine{}
	e.mu.rows.values = values
	e.mu.durable = maps.Clone(values)
	return e
}

var errClosed = errors.New("memengine: the engine is closed")

// Crash returns an engine that has what a crash at this moment may leave: everything
// synced, and the first of the batches applied since. kept returns how many of these
// are left, of how many there are. The engine itself goes on.
func (e *Engine) Crash(kept func(unsynced int) int) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := rows{values: maps.Clone(e.mu.durable)}
	for _, b := range e.mu.pending[:kept(len(e.mu.pending))] {
		r.apply(b)
	}
	return from(r.values)
}

// Fail makes every later Apply and Sync return err.
func (e *Engine) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.failWith = err
}

// Applied returns the number of batches that were applied.
func (e *Engine) Applied() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.applied
}

// NewBatch implements store.Engine.
func (e *Engine) NewBatch() store.Batch { return &batch{} }

// Apply implements store.Engine.
func (e *Engine) Apply(b store.Batch) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.mu.closed:
		return errClosed
	case e.mu.failWith != nil:
		return e.mu.failWith
	}
	if e.mu.shared {
		e.mu.rows.values, e.mu.shared = maps.Clone(e.mu.rows.values), false
	}
	changes := b.(*batch).changes
	e.mu.rows.apply(changes)
	e.mu.pending = append(e.mu.pending, changes)
	e.mu.applied++
	return nil
}

// Sync implements store.Engine.
func (e *Engine) Sync() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.mu.closed:
		return errClosed
	case e.mu.failWith != nil:
		return e.mu.failWith
	}
	r := rows{values: e.mu.durable}
	for _, b := range e.mu.pending {
		r.apply(b)
	}
	e.mu.pending = nil
	return nil
}

// Get implements store.Reader.
func (e *Engine) Get(key, buf []byte) ([]byte, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.closed {
		return buf, false, errClosed
	}
	v, ok := e.mu.rows.values[string(key)]
	return append(buf, v...), ok, nil
}

// Scan implements store.Reader.
func (e *Engine) Scan(from, to []byte) store.Iterator { return e.snapshot().Scan(from, to) }

// Snapshot implements store.Engine.
func (e *Engine) Snapshot() store.Snapshot { return e.snapshot() }

func (e *Engine) snapshot() *view {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.closed {
		return &view{err: errClosed}
	}
	e.mu.rows.sort()
	e.mu.shared = true
	return &view{values: e.mu.rows.values, keys: e.mu.rows.keys}
}

// Close implements store.Engine.
func (e *Engine) Close() error {
	if err := e.Sync(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.closed = true
	return nil
}

// Reopen returns an engine with the content of one that was closed.
func (e *Engine) Reopen() *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	return from(maps.Clone(e.mu.durable))
}

// apply performs changes. The values and keys that a snapshot has are not written to.
func (r *rows) apply(changes []change) {
	for _, c := range changes {
		switch {
		case c.many:
			for k := range r.values {
				if c.key <= k && k < c.to {
					delete(r.values, k)
					r.sorted = false
				}
			}
		case c.value == nil:
			if _, ok := r.values[c.key]; ok {
				delete(r.values, c.key)
				r.sorted = false
			}
		default:
			if _, ok := r.values[c.key]; !ok {
				r.sorted = false
			}
			r.values[c.key] = c.value
		}
	}
}

func (r *rows) sort() {
	if !r.sorted {
		r.keys = slices.Sorted(maps.Keys(r.values))
		r.sorted = true
	}
}

// view is a snapshot.
type view struct {
	values map[string][]byte
	keys   []string
	err    error
}

// Get implements store.Reader.
func (v *view) Get(key, buf []byte) ([]byte, bool, error) {
	value, ok := v.values[string(key)]
	return append(buf, value...), ok, v.err
}

// Scan implements store.Reader.
func (v *view) Scan(from, to []byte) store.Iterator {
	lo, _ := slices.BinarySearch(v.keys, string(from))
	hi, _ := slices.BinarySearch(v.keys, string(to))
	return &iterator{view: v, keys: v.keys[lo:max(lo, hi)]}
}

// Close implements store.Snapshot.
func (v *view) Close() error { return nil }

type iterator struct {
	view *view
	keys []string
	at   int // the place of the present one, once begun
	on   bool
}

// Next implements store.Iterator.
func (i *iterator) Next() bool {
	if i.on {
		i.at++
	}
	i.on = true
	return i.at < len(i.keys)
}

// Prev implements store.Iterator.
func (i *iterator) Prev() bool {
	if !i.on {
		i.at = len(i.keys)
	}
	i.on = true
	i.at--
	return i.at >= 0
}

// Key implements store.Iterator.
func (i *iterator) Key() []byte { return []byte(i.keys[i.at]) }

// Value implements store.Iterator.
func (i *iterator) Value() []byte { return bytes.Clone(i.view.values[i.keys[i.at]]) }

// Close implements store.Iterator.
func (i *iterator) Close() error { return i.view.err }

type batch struct {
	changes []change
	size    int
}

func (b *batch) add(c change) {
	b.changes = append(b.changes, c)
	b.size += len(c.key) + len(c.to) + len(c.value)
}

// Set implements store.Batch.
func (b *batch) Set(key, value []byte) {
	b.add(change{key: string(key), value: append(make([]byte, 0, len(value)), value...)})
}

// Delete implements store.Batch.
func (b *batch) Delete(key []byte) { b.add(change{key: string(key)}) }

// DeleteRange implements store.Batch.
func (b *batch) DeleteRange(from, to []byte) {
	b.add(change{key: string(from), to: string(to), many: true})
}

// Size implements store.Batch.
func (b *batch) Size() int { return b.size }

// Discard implements store.Batch.
func (b *batch) Discard() {}
