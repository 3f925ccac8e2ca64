package engine

import (
	"bytes"
	"slices"

	"github.com/RaduBerinde/btreemap"

	"github.com/aeon-lang/aeon/runtime/store"
)

// overlay has what was applied and is not in the state yet, as it lies over the state. It is not safe for concurrent use; a copy
// of it is of its own.
//
// Invariant: an entry of rows is newer than every range that covers its key. So a key that has one is as the entry says, one
// that a range covers is deleted, and any other is as the state has it.
type overlay struct {
	rows   *btreemap.BTreeMap[[]byte, row]
	ranges []span
}

// row is the newest change of a key.
type row struct {
	group   uint64 // the number of the group that has made it
	deleted bool
	value   []byte
}

// span is a deleted range.
type span struct {
	group    uint64
	from, to []byte
}

func newOverlay() overlay { return overlay{rows: btreemap.New[[]byte, row](32, bytes.Compare)} }

// copy returns one that does not change with o. Nothing else may use o meanwhile.
func (o *overlay) copy() overlay { return overlay{o.rows.Clone(), slices.Clone(o.ranges)} }

// add adds the changes of a batch that joins a group. It keeps parts of c.
func (o *overlay) add(group uint64, c changes) error {
	for len(c) > 0 {
		kind, key, value, rest, err := c.next()
		if err != nil {
			return err
		}
		if kind == kindRange {
			var covered [][]byte
			for k := range o.rows.Ascend(btreemap.GE(key), btreemap.LT(value)) {
				covered = append(covered, k)
			}
			for _, k := range covered {
				o.rows.Delete(k)
			}
			o.ranges = append(o.ranges, span{group, key, value})
		} else {
			o.rows.ReplaceOrInsert(key, row{group, kind == kindDelete, value})
		}
		c = rest
	}
	return nil
}

// drop takes out what the changes of a group have put there, and no later one has replaced: the state has it now.
func (o *overlay) drop(group uint64, c changes) error {
	o.ranges = slices.DeleteFunc(o.ranges, func(s span) bool { return s.group == group })
	for len(c) > 0 {
		kind, key, _, rest, err := c.next()
		if err != nil {
			return err
		}
		if kind != kindRange {
			if _, r, is := o.rows.Get(key); is && r.group == group {
				o.rows.Delete(key)
			}
		}
		c = rest
	}
	return nil
}

// get returns what o says of a key; known is false if that is nothing.
func (o *overlay) get(key []byte) (value []byte, found, known bool) {
	if _, r, is := o.rows.Get(key); is {
		return r.value, !r.deleted, true
	}
	return nil, false, o.covers(key)
}

// covers reports whether a deleted range covers a key.
func (o *overlay) covers(key []byte) bool {
	for i := range o.ranges {
		if s := &o.ranges[i]; bytes.Compare(s.from, key) <= 0 && bytes.Compare(key, s.to) < 0 {
			return true
		}
	}
	return false
}

// ahead is how many rows an iterator takes of the overlay at once.
const ahead = 16

// iterator goes over what an overlay and a state have together. The overlay does not change.
type iterator struct {
	over     overlay
	below    store.Iterator
	from, to []byte
	err      error

	way     int // 0: not begun; 1 ascending, -1 descending
	rows    []pair
	more    bool // there may be rows behind these
	has     bool // below is at a row that is still to come
	present pair
}

// pair is a key with its row.
type pair struct {
	key []byte
	row
}

// Next implements store.Iterator.
func (i *iterator) Next() bool { return i.step(1) }

// Prev implements store.Iterator.
func (i *iterator) Prev() bool { return i.step(-1) }

func (i *iterator) step(way int) bool {
	if i.way == 0 {
		i.way, i.more = way, bytes.Compare(i.from, i.to) < 0
		i.has = i.more && i.advance()
	}
	for {
		if len(i.rows) == 0 && i.more {
			i.fill()
		}
		switch over := len(i.rows) > 0; {
		case !over && !i.has:
			return false
		case over && (!i.has || i.way*bytes.Compare(i.rows[0].key, i.below.Key()) <= 0):
			i.present = i.rows[0]
			i.rows = i.rows[1:]
			if i.has && bytes.Equal(i.present.key, i.below.Key()) {
				i.has = i.advance()
			}
			if !i.present.deleted {
				return true
			}
		default:
			i.present = pair{key: bytes.Clone(i.below.Key()), row: row{value: bytes.Clone(i.below.Value())}}
			i.has = i.advance()
			if !i.over.covers(i.present.key) {
				return true
			}
		}
	}
}

func (i *iterator) advance() bool {
	if i.way > 0 {
		return i.below.Next()
	}
	return i.below.Prev()
}

// fill takes the next rows of the overlay.
func (i *iterator) fill() {
	i.more = false
	take := func(key []byte, r row) bool {
		if len(i.rows) == ahead {
			i.more = true
			return false
		}
		i.rows = append(i.rows, pair{key, r})
		return true
	}
	i.rows = i.rows[:0]
	if i.way > 0 {
		i.over.rows.AscendFunc(btreemap.GE(i.from), btreemap.LT(i.to), take)
	} else {
		i.over.rows.DescendFunc(btreemap.LT(i.to), btreemap.GE(i.from), take)
	}
	if n := len(i.rows); n > 0 && i.way > 0 {
		i.from = append(bytes.Clone(i.rows[n-1].key), 0)
	} else if n > 0 {
		i.to = i.rows[n-1].key
	}
}

// Key implements store.Iterator.
func (i *iterator) Key() []byte { return i.present.key }

// Value implements store.Iterator.
func (i *iterator) Value() []byte { return i.present.value }

// Close implements store.Iterator.
func (i *iterator) Close() error {
	if err := i.below.Close(); i.err == nil {
		i.err = err
	}
	return i.err
}
