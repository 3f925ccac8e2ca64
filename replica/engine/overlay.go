package engine

import (
	"bytes"

	"github.com/RaduBerinde/btreemap"

	"github.com/aeon-lang/aeon/runtime/store"
)

// overlay has changes as they lie over a state that may have them, too. It is not safe for concurrent use; a copy of it is of its own.
//
// Most rows are looked for by their keys, if at all, before they are dropped. So changes go into a hash table, and from there into the order of
// their keys when something needs that.
//
// Invariant: an entry of fresh is newer than the one of rows with its key, and an entry of either is newer than every range that covers its key. So
// a key that has one is as the newest entry says, one that a range covers is deleted, and any other is as the state has it.
type overlay struct {
	fresh *latest // nil: it is empty, as it is in what a snapshot shares
	rows  *btreemap.BTreeMap[[]byte, row]
	// ranges are those that were deleted, by where they begin.
	// Invariant: no two of them have a key in common. So the last one that begins at or before a key is the only one that may cover it.
	ranges *btreemap.BTreeMap[[]byte, []byte]
}

// row is the newest change of a key.
type row struct {
	deleted bool
	value   []byte
}

func newOverlay() *overlay {
	return &overlay{rows: btreemap.New[[]byte, row](32, bytes.Compare), ranges: btreemap.New[[]byte, []byte](32, bytes.Compare)}
}

// copy returns one that does not change with o. Nothing else may use o meanwhile.
func (o *overlay) copy() *overlay {
	o.order()
	return &overlay{rows: o.rows.Clone(), ranges: o.ranges.Clone()}
}

// order puts all changes into the order of their keys.
func (o *overlay) order() {
	if o.fresh == nil {
		return
	}
	for _, c := range o.fresh.list {
		o.rows.ReplaceOrInsert(c.key, row{c.deleted, c.value})
	}
	o.release()
}

// release gives back the table, which is not used any more.
func (o *overlay) release() {
	if o.fresh != nil {
		o.fresh.release()
		o.fresh = nil
	}
}

// add adds the changes of a batch. It keeps parts of c.
func (o *overlay) add(c changes) error {
	for len(c) > 0 {
		kind, key, value, rest, err := c.next()
		switch {
		case err != nil:
			return err
		case kind != kindRange:
			if o.fresh == nil {
				o.fresh = newLatest()
			}
			o.fresh.add(change{kind == kindDelete, key, value})
		case bytes.Compare(key, value) < 0:
			o.order()
			o.deleteRange(key, value)
		}
		c = rest
	}
	return nil
}

// deleteRange adds a range, which takes the place of the rows and the ranges in it.
func (o *overlay) deleteRange(from, to []byte) {
	drop(o.rows, from, to)
	for begin, end := range o.ranges.Descend(btreemap.LT(from), btreemap.Min[[]byte]()) {
		if bytes.Compare(end, from) >= 0 {
			from = begin
			to = longer(to, end)
		}
		break
	}
	for _, end := range o.ranges.Descend(btreemap.LE(to), btreemap.GE(from)) {
		to = longer(to, end)
		break
	}
	drop(o.ranges, from, to)
	o.ranges.ReplaceOrInsert(from, to)
}

// longer returns the end of a range that goes as far as either.
func longer(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return b
	}
	return a
}

// drop deletes the keys k with from <= k < to.
func drop[V any](m *btreemap.BTreeMap[[]byte, V], from, to []byte) {
	var covered [][]byte
	for k := range m.Ascend(btreemap.GE(from), btreemap.LT(to)) {
		covered = append(covered, k)
	}
	for _, k := range covered {
		m.Delete(k)
	}
}

// get returns what o says of a key; known is false if that is nothing.
func (o *overlay) get(key []byte) (value []byte, found, known bool) {
	if c := o.fresh.get(key); c != nil {
		return c.value, !c.deleted, true
	}
	if _, r, is := o.rows.Get(key); is {
		return r.value, !r.deleted, true
	}
	return nil, false, o.covers(key)
}

// covers reports whether a deleted range covers a key.
func (o *overlay) covers(key []byte) bool {
	if o.ranges.Len() == 0 {
		return false
	}
	for _, end := range o.ranges.Descend(btreemap.LE(key), btreemap.Min[[]byte]()) {
		return bytes.Compare(key, end) < 0
	}
	return false
}

// scan returns an iterator over what o, whose changes are in order and which does not change, and an iterator over what is below it have together.
func (o *overlay) scan(below store.Iterator, from, to []byte) store.Iterator {
	if o.rows.Len() == 0 && o.ranges.Len() == 0 {
		return below
	}
	return &iterator{over: o, below: below, from: from, to: to}
}

// ahead is how many rows an iterator takes of the overlay at once.
const ahead = 16

// iterator goes over what an overlay and what is below it have together. The overlay does not change.
type iterator struct {
	over     *overlay
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
