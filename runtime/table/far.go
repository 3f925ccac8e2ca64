package table

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
)

// rowSpace has the rows of a table in the store; indexSpace has the entries of an index.
const rowSpace = "e"

func indexSpace(i int) string { return string(binary.BigEndian.AppendUint16([]byte{'x'}, uint16(i))) }

// allIndexes is the space of all indexes.
const allIndexes = "x"

// far reads the rows of a table that are stored. Whoever uses it holds the actor, so that nobody
// commits another change meanwhile.
type far[T any] struct {
	elements *image.Elements
	decode   func(*codec.Decoder) T
}

// get returns a row that is stored, and whether there is one.
func (f *far[T]) get(key string) (v *T, ok bool) {
	ok = f.elements.Get(rowSpace, key, func(d *codec.Decoder) {
		x := f.decode(d)
		v = &x
	})
	return v, ok
}

// must is get for a row that an index has.
func (f *far[T]) must(key, space, entry string) *T {
	v, ok := f.get(key)
	if !ok {
		f.elements.Damaged(space, entry, "there is no such row")
	}
	return v
}

// scanBoth is scan where some rows are stored: of two rows of one key that counts which lies
// over the other.
func (c *content[T]) scanBoth(q Query, yield func(*T) bool) {
	if q.to != "" && q.from >= q.to {
		return
	}
	near := c.nearScan(q)
	space := rowSpace
	if q.index != ByKey {
		space = indexSpace(q.index)
	}
	scan := c.far.elements.Scan(space, q.from, q.to)
	defer scan.Close()
	over, overOK := near()
	under, underOK := c.nextFar(scan, q.index)
	for overOK || underOK {
		if overOK && (!underOK || over.at < under.at) {
			if r, _ := c.rows.get(over.key); !yield(&r.val) {
				return
			}
			over, overOK = near()
			continue
		}
		v := under.val
		if v == nil {
			v = c.far.must(under.key, space, under.at)
		}
		if !yield(v) {
			return
		}
		under, underOK = c.nextFar(scan, q.index)
	}
}

// place is where a row comes in a scan: at, the bytes that the scan sorts by, and its key.
type place[T any] struct {
	at, key string
	val     *T // nil if it was not read
}

// nearScan returns what yields the places of the rows in memory.
func (c *content[T]) nearScan(q Query) (next func() (place[T], bool)) {
	if q.index != ByKey {
		at := c.indexes[q.index].seek(q.from)
		return func() (p place[T], ok bool) {
			item, ok := at.next()
			return place[T]{at: item.key, key: item.v}, ok && (q.to == "" || item.key < q.to)
		}
	}
	at := c.rows.seek(q.from)
	return func() (p place[T], ok bool) {
		for {
			item, ok := at.next()
			if !ok || q.to != "" && item.key >= q.to {
				return p, false
			}
			if !item.v.gone {
				return place[T]{at: item.key, key: item.key}, true
			}
		}
	}
}

// nextFar returns the next stored row over which none lies in memory.
func (c *content[T]) nextFar(scan *image.ElementScan, index int) (p place[T], ok bool) {
	for {
		at, ok := scan.Next()
		if !ok {
			return p, false
		}
		p = place[T]{at: at, key: at}
		if index != ByKey {
			scan.Value(func(d *codec.Decoder) { p.key = d.String() })
		}
		if _, over := c.rows.get(p.key); over {
			continue
		}
		if index == ByKey {
			scan.Value(func(d *codec.Decoder) {
				v := c.far.decode(d)
				p.val = &v
			})
		}
		return p, true
	}
}
