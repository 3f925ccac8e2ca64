package table

import (
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
)

// rowSpace has the rows of a table in the store; indexSpace has the entries of an index.
const rowSpace = "e"

func indexSpace(i int) string { return string(binary.BigEndian.AppendUint16([]byte{'x'}, uint16(i))) }

// allIndexes is the space of all indexes.
const allIndexes = "x"

// far reads the rows of a table that are stored. Its caller holds the actor, so that no other
// change is committed meanwhile. What value.Tally says of loads holds for it.
type far struct {
	elements *image.Elements
	decode   func(*codec.Decoder) *row
}

// get returns a row that is stored, nil if there is none.
func (f *far) get(key string) (r *row) {
	f.elements.Get(rowSpace, key, func(d *codec.Decoder) { r = f.decode(d) })
	return r
}

// must is get for a row that an index has.
func (f *far) must(key, space, entry string) *row {
	r := f.get(key)
	if r == nil {
		f.elements.Damaged(space, entry, "there is no such row")
	}
	return r
}

// What a row takes in memory besides its content: with its place in the tree, and for each entry.
const (
	rowMemory   = 256
	entryMemory = 128
)

// now returns what is in the table, for reading.
func (b *Body) now() *content {
	if b.far == nil {
		return &b.content
	}
	if c := b.whole.Load(); c != nil {
		return c
	}
	from, l := b.far.elements.Load(b.count, rowMemory+entryMemory*len(b.indexes))
	if l == nil {
		return &b.content
	}
	defer l.End()
	c := b.gather(from, l.Fits)
	if c == nil {
		return &b.content
	}
	b.whole.Store(c)
	return c
}

// own takes over what a reader has brought into memory. A write begins with it.
func (b *Body) own() {
	if c := b.whole.Load(); c != nil {
		b.replace(*c)
	}
}

// gather returns the content with all stored rows, which it reads by from, in memory; nil if fits says that they are
// too large. It writes nothing that other goroutines read: rows over those that are stored are the same in both.
func (b *Body) gather(from *image.Elements, fits func() bool) *content {
	n := &Body{shape: b.shape, epoch: b.epoch}
	n.indexes, n.count, n.changed = make([]tree[string], len(b.indexes)), b.count, b.changed
	c := b.content
	c.far = &far{from, b.far.decode}
	whole := true
	c.scan(AllRows, func(r *row) bool {
		key := b.keyOf(r.val)
		if _, over := c.rows.get(key); over {
			for i, entry := range r.entries {
				n.indexes[i].set(n.epoch, entry, key)
			}
		} else {
			r.epoch = n.epoch
			n.list(key, r, nil)
		}
		n.rows.set(n.epoch, key, r)
		whole = fits()
		return whole
	})
	if !whole {
		return nil
	}
	return &n.content
}

// scanBoth is scan where some rows are stored. Of two rows of one key, the one that lies
// over the other counts. A scan of all rows must find as many as there should be.
func (c *content) scanBoth(q Query, visit func(*row) bool) {
	n := 0
	yield := func(r *row) bool {
		n++
		return visit(r)
	}
	if q.to != "" && q.from >= q.to {
		return
	}
	near := c.nearScan(q)
	space := rowSpace
	if q.index != ByKey {
		space = indexSpace(q.index)
	}
	scan := c.far.elements.Scan(space, q.from, q.to, q.back)
	defer scan.Close()
	over, overOK := near()
	under, underOK := c.nextFar(scan, q.index)
	for overOK || underOK {
		if overOK && (!underOK || over.at < under.at != q.back) {
			if r, _ := c.rows.get(over.key); !yield(r) {
				return
			}
			over, overOK = near()
			continue
		}
		r := under.row
		if r == nil {
			r = c.far.must(under.key, space, under.at)
		}
		if !yield(r) {
			return
		}
		under, underOK = c.nextFar(scan, q.index)
	}
	if q.from == "" && q.to == "" && n != c.count {
		c.far.elements.Damaged("", "", fmt.Sprintf("it has %d rows, and should have %d", n, c.count))
	}
}

// place is where a row comes in a scan: at, the bytes that the scan sorts by, and its key.
type place struct {
	at, key string
	row     *row // nil if it was not read
}

// nearScan returns what yields the places of the rows in memory.
func (c *content) nearScan(q Query) (next func() (place, bool)) {
	if q.index != ByKey {
		s := c.indexes[q.index].section(q)
		return func() (p place, ok bool) {
			item, ok := s.next()
			return place{at: item.key, key: item.v}, ok
		}
	}
	s := c.rows.section(q)
	return func() (p place, ok bool) {
		for {
			item, ok := s.next()
			if !ok {
				return p, false
			}
			if !item.v.gone {
				return place{at: item.key, key: item.key}, true
			}
		}
	}
}

// nextFar returns the next stored row over which none lies in memory.
func (c *content) nextFar(scan *image.ElementScan, index int) (p place, ok bool) {
	for {
		at, ok := scan.Next()
		if !ok {
			return p, false
		}
		p = place{at: at, key: at}
		if index != ByKey {
			scan.Value(func(d *codec.Decoder) { p.key = d.String() })
		}
		if _, over := c.rows.get(p.key); over {
			continue
		}
		if index == ByKey {
			scan.Value(func(d *codec.Decoder) { p.row = c.far.decode(d) })
		}
		return p, true
	}
}
