package table

import (
	"github.com/aeon-lang/aeon/runtime/value"
)

// Undo is as in package value: before each write whoever logs it asks the table for a record
// that restores what is about to be lost. A row that has a record in the log needs no other.
// Beyond a number of records that grows with the table, one that restores everything, in
// constant time, takes the place of more.

// notesMin is how many records a log may keep of however small a table.
const notesMin = 16

// rowUndo takes back one write of a row.
type rowUndo[K comparable, T any] struct {
	b   *body[K, T]
	key string
	old *row[T] // nil if there was none
}

// Undo implements value.Undo.
func (u *rowUndo[K, T]) Undo() {
	b := u.b
	b.write()
	if r, ok := b.rows.get(u.key); ok && !r.gone {
		b.unlist(r)
		b.count--
	}
	if u.old == nil {
		b.rows.delete(b.epoch, u.key) // and none is stored
		return
	}
	for i, entry := range u.old.entries {
		b.indexes[i].set(b.epoch, entry, u.key)
	}
	b.rows.set(b.epoch, u.key, u.old)
	b.count++
}

// contentUndo takes back everything that was done since the table was like this.
type contentUndo[K comparable, T any] struct {
	b   *body[K, T]
	old content[T]
}

// Undo implements value.Undo.
func (u *contentUndo[K, T]) Undo() { u.b.content = u.old }

// watch prepares the table for records of log.
func (b *body[K, T]) watch(log uint64) {
	if b.log != log {
		b.log, b.notes, b.free = log, 0, false
	}
}

// Free reports whether log needs no record of any row.
func (t Table[K, T]) Free(log uint64) bool {
	t.body.watch(log)
	return t.body.free
}

// Noted reports whether u, one of the last records of a log, restores the row of this key.
func (t Table[K, T]) Noted(u value.Undo, key string) bool {
	x, ok := u.(*rowUndo[K, T])
	return ok && x.b == t.body && x.key == key
}

// Note returns what log, for which the table is not free, needs before the row of this key is
// written or removed.
func (t Table[K, T]) Note(log uint64, key string) value.Undo {
	b := t.body
	b.watch(log)
	if int(b.notes) >= notesMin+b.count/4 {
		b.free = true
		return b.record()
	}
	b.notes++
	u := &rowUndo[K, T]{b: b, key: key}
	if r, ok := b.near(key); ok {
		u.old = &row[T]{val: r.val, entries: r.entries}
	}
	return u
}

// record returns a record of all that is there.
func (b *body[K, T]) record() value.Undo {
	u := &contentUndo[K, T]{b, b.content.copy()}
	b.epoch++
	return u
}

// Empty removes all rows, and returns what log needs for that, nil for nothing.
func (t Table[K, T]) Empty(log uint64) (u value.Undo) {
	b := t.body
	b.watch(log)
	if !b.free {
		b.free = true
		u = b.record()
	}
	t.Clear()
	return u
}
