package engine

import (
	"encoding/binary"
	"fmt"
)

// changes are those of a batch or a group as bytes, one behind the other:
//
//	'd' KEY        delete
//	'r' FROM TO    delete the range
//	's' KEY VALUE  set
//
// Each of KEY, VALUE, FROM and TO has its length in front, as a uvarint.
type changes []byte

const (
	kindDelete = 'd'
	kindRange  = 'r'
	kindSet    = 's'
)

func (c changes) add(kind byte, key, value []byte) changes {
	c = append(c, kind)
	c = append(binary.AppendUvarint(c, uint64(len(key))), key...)
	if kind != kindDelete {
		c = append(binary.AppendUvarint(c, uint64(len(value))), value...)
	}
	return c
}

// next returns the first change, and what is behind it. The key and the value are parts of c.
func (c changes) next() (kind byte, key, value []byte, rest changes, err error) {
	kind, rest = c[0], c[1:]
	if key, rest, err = rest.bytes(); err != nil {
		return 0, nil, nil, nil, err
	}
	switch kind {
	case kindDelete:
		return kind, key, nil, rest, nil
	case kindRange, kindSet:
		value, rest, err = rest.bytes()
		return kind, key, value, rest, err
	}
	return 0, nil, nil, nil, fmt.Errorf("%q is no kind of a change", kind)
}

func (c changes) bytes() ([]byte, changes, error) {
	n, size := binary.Uvarint(c)
	if size <= 0 || n > uint64(len(c)-size) {
		return nil, nil, fmt.Errorf("a change ends early")
	}
	c = c[size:]
	return c[:n:n], c[n:], nil
}

// batch implements store.Batch.
type batch struct{ changes changes }

func (b *batch) Set(key, value []byte)       { b.changes = b.changes.add(kindSet, key, value) }
func (b *batch) Delete(key []byte)           { b.changes = b.changes.add(kindDelete, key, nil) }
func (b *batch) DeleteRange(from, to []byte) { b.changes = b.changes.add(kindRange, from, to) }
func (b *batch) Size() int                   { return len(b.changes) }
func (b *batch) Discard()                    { b.changes = nil }
