// Package table holds the value of a field of type table<T>: rows by their key, in its order,
// with indexes that follow whatever is written.
//
// Rows and entries of indexes are found by bytes that sort as the columns do, written by
// the codec's functions for keys. A table is not copied by its program, so it is written in
// place. A loop over a table that is written during the loop goes over a copy, made in constant
// time.
//
// A large table of an actor in a store has one stored row for each of its rows, and one for each entry of an
// index. When the actor is loaded, only the number of rows is read. What a program asks for is read then, and what an
// event writes lies over what is stored until it commits. A table that has been read as often as it has rows comes into
// memory, where there is room for it.
//
// A reader of a table holds its actor for reading, as many readers may at a time; a writer holds it for writing.
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
//
// Go compiles a generic type once more for each type of rows, with all of its methods. So Table has
// those that every program may need; the others are functions, and what need not know the type is
// in Body.
type Table[K comparable, T any] struct{ body *Body }

// Body is a table whatever the types of its keys and rows.
//
// Invariant: for each row that is not gone, indexes[i] has one item, row.entries[i], whose value
// is the key of the row in bytes. A row whose epoch is not that of the body, and what is in
// it, is never written. Without far, rows has all rows, and none that is gone. Whole, if it is set, has the
// rows that content has, and no far; then content is not written.
type Body struct {
	shape shape
	content
	whole  atomic.Pointer[content] // what readers have brought into memory since the last write
	epoch  uint64
	shared atomic.Bool // a snapshot was taken at this epoch

	log   uint64 // the undo log that has seen the last logged write
	notes uint32 // records of the table in log
	free  bool   // log has a copy of all that was there, and needs no more records
}

// shape is what a Shape says. An any is a pointer to the value of a row.
type shape interface {
	putKey(e *codec.Encoder, v any)
	putColumns(e *codec.Encoder, index int, v any)
	put(e *codec.Encoder, v any)
	get(d *codec.Decoder) *row
	copy(v any) *row
	names() []string
}

func (s *Shape[K, T]) putKey(e *codec.Encoder, v any)            { s.PutKey(e, s.Key(v.(*T))) }
func (s *Shape[K, T]) putColumns(e *codec.Encoder, i int, v any) { s.Indexes[i](e, v.(*T)) }
func (s *Shape[K, T]) put(e *codec.Encoder, v any)               { s.Put(e, *v.(*T)) }
func (s *Shape[K, T]) get(d *codec.Decoder) *row                 { return newRow(s.Get(d)) }
func (s *Shape[K, T]) copy(v any) *row                           { return newRow(*v.(*T)) }
func (s *Shape[K, T]) names() []string                           { return s.Names }

// content is what is in a table. A copy of it stays as it is if the epoch of the body changes.
type content struct {
	rows    tree[*row]
	indexes []tree[string]
	far     *far    // the rows that are stored; rows and indexes lie over them
	count   int     // of all rows
	changed changes // since the last commit
}

type row struct {
	epoch   uint64
	gone    bool     // there is no row of the key, whatever is stored
	val     any      // a pointer to the value
	entries []string // one per index; never written
}

// rowOf is the memory of a row with its value.
type rowOf[T any] struct {
	row
	val T
}

// newRow returns a row that is in no table.
func newRow[T any](v T) *row {
	r := &rowOf[T]{val: v}
	r.row.val = &r.val
	return &r.row
}

// New returns an empty table.
func New[K comparable, T any](shape *Shape[K, T]) Table[K, T] {
	return Table[K, T]{&Body{shape: shape, content: content{indexes: make([]tree[string], len(shape.Indexes))}}}
}

// Body returns the table without its types.
func (t Table[K, T]) Body() *Body { return t.body }

func shapeOf[K comparable, T any](t Table[K, T]) *Shape[K, T] { return t.body.shape.(*Shape[K, T]) }

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

// keyIn writes the bytes of a key, which are valid until the scratch is used again.
func (s *scratch) keyIn(put func(*codec.Encoder)) []byte {
	put(s.start())
	s.buf = s.enc.Data()
	return s.buf
}

// entryOf writes the bytes by which index i finds a row.
func (b *Body) entryOf(s *scratch, i int, v any, key string) []byte {
	b.shape.putColumns(s.start(), i, v)
	s.buf = append(s.enc.Data(), key...)
	return s.buf
}

// key returns the bytes of the key that put writes.
func key(put func(*codec.Encoder)) string {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	return string(s.keyIn(put))
}

// keyOf returns the bytes of the key of a row with this value.
func (b *Body) keyOf(v any) string { return key(func(e *codec.Encoder) { b.shape.putKey(e, v) }) }

// lookup returns the row of the key that put writes, nil if there is none.
func (b *Body) lookup(put func(*codec.Encoder)) *row {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	return b.find(string(s.keyIn(put)))
}

// find returns the row of a key, nil if there is none.
func (b *Body) find(key string) *row { return b.now().find(key) }

func (c *content) find(key string) *row {
	switch r, ok := c.rows.get(key); {
	case ok && !r.gone:
		return r
	case !ok && c.far != nil:
		return c.far.get(key)
	}
	return nil
}

// near returns the row of a key, which lies in rows then, and whether there is one. It
// prepares a write of the row.
func (b *Body) near(key string) (r *row, ok bool) {
	b.own()
	if r, ok := b.rows.get(key); ok {
		return r, !r.gone
	}
	if b.far == nil {
		return nil, false
	}
	r = b.far.get(key)
	b.write()
	if ok = r != nil; ok {
		r.epoch = b.epoch
		b.list(key, r, nil)
	} else {
		r = &row{epoch: b.epoch, gone: true}
	}
	b.rows.set(b.epoch, key, r)
	return r, ok
}

// Size returns the number of rows.
func (b *Body) Size() int64 { return int64(b.count) }

// put adds a row or replaces the one of its key.
func (b *Body) put(key string, r *row) {
	var old []string
	if was, ok := b.near(key); ok {
		old = was.entries
	} else {
		b.count++
	}
	b.write()
	b.changed.note(key, old)
	r.epoch = b.epoch
	b.list(key, r, old)
	b.rows.set(b.epoch, key, r)
}

// RemoveAt takes a row out that is there.
func (b *Body) RemoveAt(key string) {
	r, _ := b.near(key)
	b.write()
	b.changed.note(key, r.entries)
	b.unlist(r)
	b.count--
	if b.far != nil {
		b.rows.set(b.epoch, key, &row{epoch: b.epoch, gone: true})
	} else {
		b.rows.delete(b.epoch, key)
	}
}

// writable returns the row of a key, which there is, to be written in place; copied says that other
// copies may refer to the containers of its value.
func (b *Body) writable(key string) (r *row, copied bool) {
	r, _ = b.near(key)
	b.write()
	b.changed.note(key, r.entries)
	if r.epoch == b.epoch {
		return r, false
	}
	entries := r.entries
	r = b.shape.copy(r.val)
	r.epoch, r.entries = b.epoch, entries
	b.rows.set(b.epoch, key, r)
	return r, true
}

// sameKey faults unless a row has the key that it had.
func (b *Body) sameKey(v any, key string) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if string(s.keyIn(func(e *codec.Encoder) { b.shape.putKey(e, v) })) != key {
		value.Fail(MsgKeyWritten)
	}
}

// Clear removes all rows.
func (b *Body) Clear() {
	b.replace(content{indexes: make([]tree[string], len(b.indexes)), changed: b.changed.all()})
}

// replace gives the table another content.
func (b *Body) replace(c content) {
	b.content = c
	b.whole.Store(nil)
}

// write prepares for a write: what snapshots have seen stays.
func (b *Body) write() {
	if b.shared.Load() {
		b.shared.Store(false)
		b.epoch++
	}
}

// list brings the indexes from the old entries of a row, nil for none, to those that it has now.
func (b *Body) list(key string, r *row, old []string) {
	if len(b.indexes) == 0 {
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	r.entries = old
	for i := range b.indexes {
		bytes := b.entryOf(s, i, r.val, key)
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
func (b *Body) unlist(r *row) {
	for i, entry := range r.entries {
		b.indexes[i].delete(b.epoch, entry)
	}
}

// copy returns the content as it is now; its caller makes the epoch change before the next
// write.
func (c *content) copy() content {
	d := *c
	d.indexes = slices.Clone(c.indexes)
	return d
}

// snapshot returns the table as it is now, for reading, in constant time.
func (b *Body) snapshot() *Body {
	if !b.shared.Load() {
		b.shared.Store(true)
	}
	return &Body{shape: b.shape, content: b.now().copy()}
}

//go:noinline
func failMissing(k any) { value.Fail("missing key " + value.KeyText(k)) }
