package table

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Query is a range of rows in the order of an index, or of the key, or in the opposite order; all of
// them, or the first ones.
type Query struct {
	index    int
	from, to string // to is excluded; empty for no end
	back     bool
	limited  bool
	limit    int64
}

// ByKey is the number of the key where that of an index stands.
const ByKey = -1

// Columns writes the values of some columns, as Shape.Indexes does.
type Columns func(*codec.Encoder)

// Equal asks for the rows whose first columns equal those that equal writes.
func Equal(index int, equal Columns) Query {
	from := write(nil, equal)
	return Query{index: index, from: string(from), to: after(from)}
}

// Range asks for the rows whose first columns equal those that equal writes, if it is not nil, and
// whose next column lies between from, included, and to, excluded. A bound that is nil is none.
func Range(index int, equal, from, to Columns) Query {
	prefix := write(nil, equal)
	q := Query{index: index, from: string(write(prefix, from))}
	switch {
	case to != nil:
		q.to = string(write(prefix, to))
	case equal != nil:
		q.to = after(prefix)
	}
	return q
}

// Reversed asks for the rows of q, which has no limit, from the last to the first.
func (q Query) Reversed() Query {
	q.back = !q.back
	return q
}

// Limit asks for the first n rows of q, or faults if n is negative.
func (q Query) Limit(n int64) Query {
	value.CheckLimit(n)
	q.limited, q.limit = true, n
	return q
}

// write returns prefix with the columns behind it.
func write(prefix []byte, columns Columns) []byte {
	var e codec.Encoder
	e.Append(slices.Clone(prefix))
	if columns != nil {
		columns(&e)
	}
	return e.Data()
}

// after returns the first bytes behind all that begin with prefix. No key is made of bytes
// that are all 255.
func after(prefix []byte) string {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return string(end[:i+1])
		}
	}
	return ""
}

// scan yields the rows of a query, in order, until yield returns false. The table must not be
// written meanwhile.
func (b *Body) scan(q Query, yield func(*row) bool) {
	if !q.limited {
		b.now().scan(q, yield)
		return
	}
	left := q.limit
	if left == 0 {
		return
	}
	b.now().scan(q, func(r *row) bool {
		left--
		return yield(r) && left > 0
	})
}

func (c *content) scan(q Query, yield func(*row) bool) {
	if c.far != nil {
		c.scanBoth(q, yield)
		return
	}
	if q.index == ByKey {
		for s := c.rows.section(q); ; {
			if item, ok := s.next(); !ok || !yield(item.v) {
				return
			}
		}
	}
	for s := c.indexes[q.index].section(q); ; {
		item, ok := s.next()
		if !ok {
			return
		}
		if r, _ := c.rows.get(item.v); !yield(r) {
			return
		}
	}
}

// AllRows asks for all rows, in the order of their keys.
var AllRows = Query{index: ByKey}
