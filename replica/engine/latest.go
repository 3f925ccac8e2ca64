package engine

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
)

// latest has the last change of each key, in the order of the first ones.
type latest struct {
	list  []change
	table []uint32 // places in list, plus 1, each where the hash of its key or the search behind it leads; the length is a power of two
}

// lists are those that are not in use. To make room for all changes of a take costs two to six times as much as to note them.
var lists = sync.Pool{New: func() any { return new(latest) }}

func newLatest() *latest { return lists.Get().(*latest) }

// release gives the list back for reuse.
func (l *latest) release() {
	l.clear()
	lists.Put(l)
}

// change is one of a key.
type change struct {
	deleted    bool
	key, value []byte
}

var hashSeed = maphash.MakeSeed()

func (l *latest) add(c change) {
	if 2*len(l.list) >= len(l.table) {
		l.table = make([]uint32, max(64, 4*len(l.table)))
		for i := range l.list {
			*l.slot(l.list[i].key) = uint32(i + 1)
		}
	}
	s := l.slot(c.key)
	if *s > 0 {
		l.list[*s-1] = c
		return
	}
	l.list = append(l.list, c)
	*s = uint32(len(l.list))
}

// get returns the last change of a key, nil if there is none.
func (l *latest) get(key []byte) *change {
	if l == nil || len(l.list) == 0 {
		return nil
	}
	if s := l.slot(key); *s > 0 {
		return &l.list[*s-1]
	}
	return nil
}

// slot returns the place of a key in the table, or the empty one for it. There is an empty one.
func (l *latest) slot(key []byte) *uint32 {
	mask := uint64(len(l.table) - 1)
	for h := maphash.Bytes(hashSeed, key) & mask; ; h = (h + 1) & mask {
		if s := &l.table[h]; *s == 0 || bytes.Equal(l.list[*s-1].key, key) {
			return s
		}
	}
}

// clear forgets all, and keeps the room.
func (l *latest) clear() {
	l.forgetPlaces()
	clear(l.list)
	l.list = l.list[:0]
}

// forgetPlaces empties the table. Few keys are taken out one by one, the last one first: the search for each leads over earlier ones alone.
func (l *latest) forgetPlaces() {
	if 8*len(l.list) >= len(l.table) {
		clear(l.table)
		return
	}
	for _, c := range slices.Backward(l.list) {
		*l.slot(c.key) = 0
	}
}
