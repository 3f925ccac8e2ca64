// Package table holds the value of a field of type table<T>: rows by their key, in its order,
// with indexes that follow whatever is written.
//
// Rows and entries of indexes are found by bytes that sort as the columns do, written by
// the codec's functions for keys. A table is not copied by its program, so it is written in
// place; a loop that goes over one which is written meanwhile takes a snapshot of it, in
// constant time.
//
// A table of a durable actor that has grown large has a row in the store for each of its own
// and for each entry of an index. When the actor is loaded nothing of it is read but how many rows there are. What a program
// asks for is read then, and what an event writes lies over what is stored until it commits.
//
// Whoever reads a table holds its actor for reading, and many may at a time; whoever writes it
// holds it for writing.
package table

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// The faults of tables; that of a missing key is as for maps.
const (
	MsgDuplicate  = "duplicate key "
	MsgKeyWritten = "the key of a row cannot be changed"
)

// Shape is what the rows of one field are like. Generated code has one per table.
type Shape[K comparable, T any] struct {
	// Key returns the key of a row.
	Key func(*T) K
	// PutKey writes a key so that keys sort by it.
	PutKey func(*codec.Encoder, K)
	// Put and Get write and read a row.
	Put func(*codec.Encoder, T)
	Get func(*codec.Decoder) T
	// Indexes write the columns of each index so that rows sort by them; Names has the names of
	// these columns.
	Indexes []func(*codec.Encoder, *T)
	Names   []string
}

// Table is the value table<T>. Make it with New. Its copies are the same table.
type Table[K comparable, T any] struct{ body *body[K, T] }

// Invariant: for each row that is not gone, indexes[i] has one item, row.entries[i], whose value
// is the key of the row in bytes. A row whose epoch is not that of the body, and what is in
// it, is never written. Without far, rows has all rows, and none that is gone.
type body[K comparable, T any] struct {
	shape *Shape[K, T]
	content[T]
	epoch  uint64
	shared atomic.Bool // a snapshot was taken at this epoch

	log   uint64 // the undo log that has seen the last logged write
	notes uint32 // records of the table in log
	free  bool   // log has a copy of all that was there, and needs no more records
}

// content is what is in a table. A copy of it stays as it is if the epoch of the body changes.
type content[T any] struct {
	rows    tree[*row[T]]
	indexes []tree[string]
	far     *far[T] // the rows that are stored; rows and indexes lie over them
	count   int     // of all rows
	changed changes // since the last commit
}

type row[T any] struct {
	epoch   uint64
	gone    bool // there is no row of the key, whatever is stored
	val     T
	entries []string // one per index; never written
}

// New returns an empty table.
func New[K comparable, T any](shape *Shape[K, T]) Table[K, T] {
	return Table[K, T]{&body[K, T]{shape: shape, content: content[T]{indexes: make([]tree[string], len(shape.Indexes))}}}
}

// scratch is where the bytes of keys are written.
type scratch struct {
	enc codec.Encoder
	buf []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// start returns an encoder that appends to memory of the scratch.
func (s *scratch) start() *codec.Encoder {
	s.enc.Append(s.buf[:0])
	return &s.enc
}

// keyOf writes the bytes of a key, which are valid until the scratch is used again.
func (b *body[K, T]) keyOf(s *scratch, k K) []byte {
	b.shape.PutKey(s.start(), k)
	s.buf = s.enc.Data()
	return s.buf
}

// entryOf writes the bytes by which index i finds a row.
func (b *body[K, T]) entryOf(s *scratch, i int, v *T, key string) []byte {
	b.shape.Indexes[i](s.start(), v)
	s.buf = append(s.enc.Data(), key...)
	return s.buf
}

// key returns the bytes of a key.
func (b *body[K, T]) key(k K) string {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	return string(b.keyOf(s, k))
}

// lookup is find by the key itself.
func (b *body[K, T]) lookup(k K) (v *T, ok bool) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	key := b.keyOf(s, k)
	if r, ok := b.rows.get(string(key)); ok {
		return &r.val, !r.gone
	}
	if b.far == nil {
		return nil, false
	}
	return b.far.get(string(key))
}

// find returns the row of a key, and whether there is one.
func (c *content[T]) find(key string) (v *T, ok bool) {
	if r, ok := c.rows.get(key); ok {
		return &r.val, !r.gone
	}
	if c.far == nil {
		return nil, false
	}
	return c.far.get(key)
}

// near returns the row of a key, which lies in rows then, and whether there is one. It is for
// whoever is about to write the row.
func (b *body[K, T]) near(key string) (r *row[T], ok bool) {
	if r, ok := b.rows.get(key); ok {
		return r, !r.gone
	}
	if b.far == nil {
		return nil, false
	}
	v, ok := b.far.get(key)
	b.write()
	r = &row[T]{epoch: b.epoch, gone: !ok}
	if ok {
		r.val = *v
		b.list(key, r, nil)
	}
	b.rows.set(b.epoch, key, r)
	return r, ok
}

// Size returns the number of rows.
func (t Table[K, T]) Size() int64 { return int64(t.body.count) }

// Has reports whether there is a row of key k.
func (t Table[K, T]) Has(k K) bool {
	_, ok := t.body.lookup(k)
	return ok
}

// Find returns the row of key k, and whether there is one.
func (t Table[K, T]) Find(k K) (row T, ok bool) {
	v, ok := t.body.lookup(k)
	if ok {
		row = *v
	}
	return row, ok
}

// At returns the row of key k, or faults when there is none.
func (t Table[K, T]) At(k K) T {
	v, ok := t.body.lookup(k)
	if !ok {
		failMissing(k)
	}
	return *v
}

//go:noinline
func failMissing(k any) { value.Fail("missing key " + value.KeyText(k)) }

// Insert adds a row, or faults when there is one of its key.
func (t Table[K, T]) Insert(v T) { t.PutAt(t.NewKey(&v), v) }

// NewKey returns the bytes of the key of a row that is to be inserted, or faults when there
// is a row of that key.
func (t Table[K, T]) NewKey(v *T) string {
	k := t.body.shape.Key(v)
	key, ok := t.Key(k)
	if ok {
		value.Fail(MsgDuplicate + value.KeyText(k))
	}
	return key
}

// KeyOf returns the bytes of the key of a row.
func (t Table[K, T]) KeyOf(v *T) string { return t.body.key(t.body.shape.Key(v)) }

// RowKey returns the key of a row.
func (t Table[K, T]) RowKey(v *T) K { return t.body.shape.Key(v) }

// Key returns the bytes of a key, and whether there is a row of it.
func (t Table[K, T]) Key(k K) (key string, ok bool) {
	key = t.body.key(k)
	_, ok = t.body.find(key)
	return key, ok
}

// MustKey returns the bytes of a key, or faults when there is no row of it.
func (t Table[K, T]) MustKey(k K) string {
	key, ok := t.Key(k)
	if !ok {
		failMissing(k)
	}
	return key
}

// Put adds a row or replaces the one of its key.
func (t Table[K, T]) Put(v T) { t.PutAt(t.KeyOf(&v), v) }

// PutAt is Put for a row whose key has these bytes.
func (t Table[K, T]) PutAt(key string, v T) {
	b := t.body
	var old []string
	if r, ok := b.near(key); ok {
		old = r.entries
	} else {
		b.count++
	}
	b.write()
	b.changed.note(key, old)
	r := &row[T]{epoch: b.epoch, val: v}
	b.list(key, r, old)
	b.rows.set(b.epoch, key, r)
}

// Replace replaces the row of key k, or faults when there is none, or v has another key.
func (t Table[K, T]) Replace(k K, v T) { t.ReplaceAt(t.MustKey(k), v) }

// ReplaceAt is Replace for a row that is there.
func (t Table[K, T]) ReplaceAt(key string, v T) {
	t.body.sameKey(&v, key)
	t.PutAt(key, v)
}

// Remove takes the row of key k out, and reports whether there was one.
func (t Table[K, T]) Remove(k K) bool {
	key, ok := t.Key(k)
	if ok {
		t.RemoveAt(key)
	}
	return ok
}

// RemoveAt takes a row out that is there.
func (t Table[K, T]) RemoveAt(key string) {
	b := t.body
	r, _ := b.near(key)
	b.write()
	b.changed.note(key, r.entries)
	b.unlist(r)
	b.count--
	if b.far != nil {
		b.rows.set(b.epoch, key, &row[T]{epoch: b.epoch, gone: true})
	} else {
		b.rows.delete(b.epoch, key)
	}
}

// Update applies f to the row of key k in place, or faults when there is none, or f gives it
// another key. It is how a path such as flights[k].price is written.
func Update[K comparable, T any](t Table[K, T], k K, f func(*T)) { t.UpdateAt(t.MustKey(k), f) }

// UpdateAt is Update for a row that is there.
func (t Table[K, T]) UpdateAt(key string, f func(*T)) {
	b := t.body
	r, _ := b.near(key)
	b.write()
	b.changed.note(key, r.entries)
	if r.epoch != b.epoch {
		r = &row[T]{epoch: b.epoch, val: r.val, entries: r.entries}
		value.MarkShared(&r.val)
		b.rows.set(b.epoch, key, r)
	}
	f(&r.val)
	b.sameKey(&r.val, key)
	b.list(key, r, r.entries)
}

// sameKey faults unless a row has the key that it had.
func (b *body[K, T]) sameKey(v *T, key string) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if string(b.keyOf(s, b.shape.Key(v))) != key {
		value.Fail(MsgKeyWritten)
	}
}

// Clear removes all rows.
func (t Table[K, T]) Clear() {
	b := t.body
	b.content = content[T]{indexes: make([]tree[string], len(b.indexes)), changed: b.changed.all()}
}

// write prepares for a write: what snapshots have seen stays.
func (b *body[K, T]) write() {
	if b.shared.Load() {
		b.shared.Store(false)
		b.epoch++
	}
}

// list brings the indexes from the old entries of a row, nil for none, to those that it has now.
func (b *body[K, T]) list(key string, r *row[T], old []string) {
	if len(b.indexes) == 0 {
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	r.entries = old
	for i := range b.indexes {
		bytes := b.entryOf(s, i, &r.val, key)
		if old != nil && old[i] == string(bytes) {
			continue
		}
		entry := string(bytes)
		switch {
		case old == nil && i == 0:
			r.entries = make([]string, len(b.indexes))
		case old != nil && &r.entries[0] == &old[0]:
			r.entries = slices.Clone(old)
		}
		if old != nil {
			b.indexes[i].delete(b.epoch, old[i])
		}
		b.indexes[i].set(b.epoch, entry, key)
		r.entries[i] = entry
	}
}

// unlist takes a row out of all indexes.
func (b *body[K, T]) unlist(r *row[T]) {
	for i, entry := range r.entries {
		b.indexes[i].delete(b.epoch, entry)
	}
}

// copy returns the content as it is now; whoever calls it sees to it that the epoch changes
// before the next write.
func (c *content[T]) copy() content[T] {
	d := *c
	d.indexes = slices.Clone(c.indexes)
	return d
}

// Snapshot returns the table as it is now, for reading, in constant time.
func (t Table[K, T]) Snapshot() Table[K, T] {
	b := t.body
	if !b.shared.Load() {
		b.shared.Store(true)
	}
	return Table[K, T]{&body[K, T]{shape: b.shape, content: b.content.copy()}}
}
