// Package memengine is an Engine in memory, as simple as it can be: tests use it where the
// disk does not matter, and to crash at any point between two batches.
package memengine

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Engine implements store.Engine. It remembers what the batches since the last Sync have replaced, so that
// Crash can lose them.
type Engine struct {
	mu struct {
		sync.Mutex
		rows     rows
		pending  []replaced // by the batches applied since the last Sync, in order
		ends     []int      // where in pending what each of these has replaced ends
		shared   bool       // rows.values is a snapshot's, too
		volatile bool       // no crash leaves anything: pending and ends stay empty
		closed   bool
		applied  int
		failWith error // of Apply and Sync, from now on
	}
}

// rows is the content: a map, and its keys in order, which are found when they are needed.
type rows struct {
	values map[string]string
	keys   []string
	sorted bool
}

// change is one entry of a batch.
type change struct {
	kind       kind
	key, value int // how many bytes of the text of the batch they take; the value of a range is where it ends
}

type kind byte

const (
	set kind = iota
	remove
	removeRange
)

// replaced is a row as it was before a change.
type replaced struct {
	key, value string
	was        bool // there
}

// New returns an empty engine.
func New() *Engine { return from(map[string]string{}) }

// NewVolatile returns an empty engine that is not to crash: it is as fast as a store in memory can be.
func NewVolatile() *Engine {
	e := New()
	e.mu.volatile = true
	return e
}

func from(values map[string]string) *Engine {
	e := &Engine{}
	e.mu.rows.values = values
	return e
}

var errClosed = errors.New("memengine: the engine is closed")

// Crash returns an engine that has what a crash at this moment may leave: everything
// synced, and the first of the batches applied since. kept returns how many of these
// are left, of how many there are. The engine itself goes on.
func (e *Engine) Crash(kept func(unsynced int) int) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	assert.That(!e.mu.volatile, "memengine: an engine crashes that is not to")
	values := maps.Clone(e.mu.rows.values)
	left := 0
	if n := kept(len(e.mu.ends)); n > 0 {
		left = e.mu.ends[n-1]
	}
	for _, r := range slices.Backward(e.mu.pending[left:]) {
		if r.was {
			values[r.key] = r.value
		} else {
			delete(values, r.key)
		}
	}
	return from(values)
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

// used are batches that were applied, or discarded.
var used = sync.Pool{New: func() any { return new(batch) }}

// NewBatch implements store.Engine.
func (e *Engine) NewBatch() store.Batch {
	b := used.Get().(*batch)
	b.over = false
	return b
}

// Apply implements store.Engine.
func (e *Engine) Apply(b store.Batch) error {
	defer b.Discard()
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
	if e.mu.applied++; e.mu.volatile {
		e.mu.rows.apply(b.(*batch), nil)
		return nil
	}
	e.mu.rows.apply(b.(*batch), func(r replaced) { e.mu.pending = append(e.mu.pending, r) })
	e.mu.ends = append(e.mu.ends, len(e.mu.pending))
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
	clear(e.mu.pending)
	e.mu.pending, e.mu.ends = e.mu.pending[:0], e.mu.ends[:0]
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
	return from(maps.Clone(e.mu.rows.values))
}

// apply performs the changes of a batch, and tells note, unless that is nil, what they replace. The values and keys that a snapshot has are not written to.
func (r *rows) apply(b *batch, note func(replaced)) {
	replace := func(key string, is bool, value string) {
		if note != nil {
			before, was := r.values[key]
			note(replaced{key, before, was})
		}
		n := len(r.values)
		if is {
			r.values[key] = value
		} else {
			delete(r.values, key)
		}
		r.sorted = r.sorted && len(r.values) == n
	}
	text := string(b.text) // one piece of memory for all keys and values
	for _, c := range b.changes {
		key, value := text[:c.key], text[c.key:c.key+c.value]
		text = text[c.key+c.value:]
		if c.kind != removeRange {
			replace(key, c.kind == set, value)
			continue
		}
		for k := range r.values {
			if key <= k && k < value {
				replace(k, false, "")
			}
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
	values map[string]string
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
func (i *iterator) Value() []byte { return []byte(i.view.values[i.keys[i.at]]) }

// Close implements store.Iterator.
func (i *iterator) Close() error { return i.view.err }

type batch struct {
	text    []byte // the keys and values of all changes
	changes []change
	over    bool // it was applied, or discarded
}

func (b *batch) add(k kind, key, value []byte) {
	b.text = append(append(b.text, key...), value...)
	b.changes = append(b.changes, change{k, len(key), len(value)})
}

// Set implements store.Batch.
func (b *batch) Set(key, value []byte) { b.add(set, key, value) }

// Delete implements store.Batch.
func (b *batch) Delete(key []byte) { b.add(remove, key, nil) }

// DeleteRange implements store.Batch.
func (b *batch) DeleteRange(from, to []byte) { b.add(removeRange, from, to) }

// Size implements store.Batch.
func (b *batch) Size() int { return len(b.text) }

// keptMax is how many bytes of text, and how many changes, a used batch keeps room for.
const keptMax = 4096

// Discard implements store.Batch.
func (b *batch) Discard() {
	// Invariant: a batch is used up once. It may be another goroutine's afterwards.
	assert.That(!b.over, "memengine: a batch is applied or discarded twice")
	b.over = true
	if cap(b.text) > keptMax || cap(b.changes) > keptMax {
		return
	}
	b.text, b.changes = b.text[:0], b.changes[:0]
	used.Put(b)
}
