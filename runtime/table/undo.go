package table

import (
	"github.com/aeon-lang/aeon/runtime/value"
)

// Undo is as in package value: before each write the code that logs it asks the table for a
// record that restores what is about to be lost. A row that has a record in the log needs no
// other. Beyond a number of records that grows with the table, one that restores everything,
// in constant time, takes the place of more.

// notesMin is how many records a log may keep of however small a table.
const notesMin = 16

// rowUndo takes back one write of a row.
type rowUndo struct {
	b   *Body
	key string
	old *row // nil if there was none
}

// Undo implements value.Undo.
func (u *rowUndo) Undo() {
	b := u.b
	b.own()
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
type contentUndo struct {
	b   *Body
	old content
}

// Undo implements value.Undo.
func (u *contentUndo) Undo() { u.b.replace(u.old) }

// watch prepares the table for records of log.
func (b *Body) watch(log uint64) {
	if b.log != log {
		b.log, b.notes, b.free = log, 0, false
	}
}

// Free reports whether log needs no record of any row.
func (b *Body) Free(log uint64) bool {
	b.watch(log)
	return b.free
}

// Noted reports whether u, one of the last records of a log, restores the row of this key.
func (b *Body) Noted(u value.Undo, key string) bool {
	x, ok := u.(*rowUndo)
	return ok && x.b == b && x.key == key
}

// Note returns what log, for which the table is not free, needs before the row of this key is
// written or removed.
func (b *Body) Note(log uint64, key string) value.Undo {
	b.watch(log)
	if int(b.notes) >= notesMin+b.count/4 {
		b.free = true
		return b.record()
	}
	b.notes++
	u := &rowUndo{b: b, key: key}
	if r, ok := b.near(key); ok {
		u.old = b.shape.copy(r.val)
		u.old.entries = r.entries
	}
	return u
}

// record returns a record of all that is there.
func (b *Body) record() value.Undo {
	u := &contentUndo{b, b.content.copy()}
	b.epoch++
	return u
}

// Empty removes all rows, and returns what log needs for that, nil for nothing.
func (b *Body) Empty(log uint64) (u value.Undo) {
	b.watch(log)
	if !b.free {
		b.free = true
		u = b.record()
	}
	b.Clear()
	return u
}
