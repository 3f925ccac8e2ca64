package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// An edit turns the rows of a chunk into other rows. It has the rows that are new or have another value, and
// the keys of those that have gone, in the order of the keys. A pack is a file of any number of edits.

// packHead begins every pack: what it is, and in which version.
const packHead = "aeon edits 1\n"

const (
	// packBytesMax is where a pack ends. To read a chunk is to read the packs of its edits, so they are small.
	packBytesMax = 1 << 20
	// editedBytesMin is how large a chunk is to be edited: a smaller one is sent faster than two files are read.
	editedBytesMin = 4 << 10
)

var errRows = errors.New("it is no run of rows")

// cursor reads rows, of a chunk or of an edit, one by one.
type cursor struct {
	rest       []byte
	edit       bool
	key, value []byte
	gone       bool // of an edit: there is no such row any more
	ok         bool // there is a row
	err        error
}

// chunkRows returns a cursor at the first row of a chunk.
func chunkRows(chunk []byte) *cursor {
	rest, ok := bytes.CutPrefix(chunk, []byte(chunkHead))
	c := &cursor{rest: rest}
	if !ok {
		c.rest, c.err = nil, errRows
		return c
	}
	c.next()
	return c
}

func editRows(edit []byte) *cursor {
	c := &cursor{rest: edit, edit: true}
	c.next()
	return c
}

// next goes to the next row.
func (c *cursor) next() {
	if c.ok = len(c.rest) > 0 && c.err == nil; !c.ok {
		c.key = nil
		return
	}
	n := c.uint()
	if c.gone = false; c.edit {
		c.gone, n = n&1 == 1, n>>1
	}
	if c.key, c.value = c.part(n), nil; !c.gone {
		c.value = c.part(c.uint())
	}
	c.ok = c.err == nil
}

func (c *cursor) uint() uint64 {
	n, size := binary.Uvarint(c.rest)
	if size <= 0 {
		c.err, c.rest = errRows, nil
		return 0
	}
	c.rest = c.rest[size:]
	return n
}

func (c *cursor) part(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.err, c.rest = errRows, nil
		return nil
	}
	p := c.rest[:n]
	c.rest = c.rest[n:]
	return p
}

func appendPart(b, part []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

func appendEdit(b, key, value []byte, gone bool) []byte {
	n := uint64(len(key)) << 1
	if gone {
		return append(binary.AppendUvarint(b, n|1), key...)
	}
	return appendPart(append(binary.AppendUvarint(b, n), key...), value)
}

// both calls f with the two cursors at each key that one of them has, in order; a cursor that does not have the key is
// nil.
func both(a, b *cursor, f func(a, b *cursor)) error {
	for a.ok || b.ok {
		order := 0
		switch {
		case !b.ok:
			order = -1
		case !a.ok:
			order = 1
		default:
			order = bytes.Compare(a.key, b.key)
		}
		switch {
		case order < 0:
			f(a, nil)
			a.next()
		case order > 0:
			f(nil, b)
			b.next()
		default:
			f(a, b)
			a.next()
			b.next()
		}
	}
	return errors.Join(a.err, b.err)
}

// diff returns the edit that turns one chunk into another.
func diff(was, is []byte) (edit []byte, err error) {
	err = both(chunkRows(was), chunkRows(is), func(a, b *cursor) {
		switch {
		case b == nil:
			edit = appendEdit(edit, a.key, nil, true)
		case a == nil || !bytes.Equal(a.value, b.value):
			edit = appendEdit(edit, b.key, b.value, false)
		}
	})
	return edit, err
}

// apply returns a chunk with an edit.
func apply(chunk, edit []byte) ([]byte, error) {
	out := make([]byte, 0, len(chunk)+len(edit))
	out = append(out, chunkHead...)
	err := both(chunkRows(chunk), editRows(edit), func(a, b *cursor) {
		if b == nil {
			b = a
		}
		if !b.gone {
			out = appendPart(appendPart(out, b.key), b.value)
		}
	})
	return out, err
}

// compose returns the edit that does what two do, one after the other.
func compose(first, second []byte) (edit []byte, err error) {
	err = both(editRows(first), editRows(second), func(a, b *cursor) {
		if b == nil {
			b = a
		}
		edit = appendEdit(edit, b.key, b.value, b.gone)
	})
	return edit, err
}
