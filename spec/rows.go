package spec

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// rows is a table<T> ([TABLE]): its rows in ascending order of their keys, and nothing else. Indexes
// are looked for, not kept: find, range and sorted look at every row.
type rows struct {
	of   *typecheck.Table
	list []*structure
}

const msgKeyWritten = "the key of a row cannot be changed"

func (r *rows) key(row *structure) value { return row.fields[r.of.Key.Index] }

func (r *rows) find(k value) (int, bool) {
	return slices.BinarySearchFunc(r.list, k, func(row *structure, k value) int { return compare(r.key(row), k) })
}

func (r *rows) get(k value) (*structure, bool) {
	i, ok := r.find(k)
	if !ok {
		return nil, false
	}
	return r.list[i], true
}

// put returns the table with the row, which replaces one of the same key.
func (r *rows) put(row *structure) *rows {
	i, ok := r.find(r.key(row))
	list := slices.Clone(r.list)
	if ok {
		list[i] = row
	} else {
		list = slices.Insert(list, i, row)
	}
	return &rows{r.of, list}
}

func (r *rows) without(k value) (*rows, bool) {
	i, ok := r.find(k)
	if !ok {
		return r, false
	}
	return &rows{r.of, slices.Delete(slices.Clone(r.list), i, i+1)}, true
}

// vector returns what f makes of each row.
func (r *rows) vector(f func(*structure) value) *vector {
	v := &vector{elems: make([]value, len(r.list))}
	for i, row := range r.list {
		v.elems[i] = f(row)
	}
	return v
}

func wholeRow(row *structure) value { return row }

// rewrite replaces the row of key k by what change makes of it, which must have the same key.
func (r *rows) rewrite(f *frame, at ast.Node, k value, change func(value) value) *rows {
	row := change(f.element(at, r, k)).(*structure)
	if compare(r.key(row), k) != 0 {
		f.fail(at, msgKeyWritten)
	}
	return r.put(row)
}

// query is find, range or sorted: the rows whose columns are as wanted, in the order of the index.
func (r *rows) query(q *typecheck.Query, args []value) *vector {
	column := func(row *structure, i int) value { return row.fields[q.Columns[i].Index] }
	n := len(q.Equal)
	found := slices.Clone(r.list)
	found = slices.DeleteFunc(found, func(row *structure) bool {
		for i := range n {
			if compare(column(row, i), args[i]) != 0 {
				return true
			}
		}
		return q.From != nil && compare(column(row, n), args[n]) < 0 || q.To != nil && compare(column(row, n), args[n+1]) >= 0
	})
	if q.Index != nil {
		// Stable: rows with equal columns stay in the order of their keys.
		slices.SortStableFunc(found, func(a, b *structure) int { return compareBy(q.Index.Columns, a, b) })
	}
	return (&rows{r.of, found}).vector(wholeRow)
}

// rowsMethod is a method of a table that does not change it.
func rowsMethod(c *typecheck.Call, r *rows, args []value) value {
	switch c.Library {
	case typecheck.HasMethod:
		_, ok := r.find(args[0])
		return ok
	case typecheck.GetMethod:
		if row, ok := r.get(args[0]); ok {
			return row
		}
		return nil
	case typecheck.KeysMethod:
		return r.vector(r.key)
	case typecheck.ValuesMethod:
		return r.vector(wholeRow)
	case typecheck.FindMethod, typecheck.RangeMethod, typecheck.SortedMethod:
		return r.query(c.Query, args)
	}
	panic(bug{"no rule for the method " + c.Library.String()})
}

// changeRows is a method of a table that changes it.
func (f *frame) changeRows(x *ast.Call, id typecheck.LibraryID, r *rows, args []value) (changed, result value) {
	switch id {
	case typecheck.InsertMethod:
		row := args[0].(*structure)
		if _, ok := r.find(r.key(row)); ok {
			f.fail(x, "duplicate key "+keyText(r.key(row)))
		}
		return r.put(row), nil
	case typecheck.PutMethod:
		return r.put(args[0].(*structure)), nil
	case typecheck.RemoveMethod:
		return r.without(args[0])
	case typecheck.ClearMethod:
		return &rows{of: r.of}, nil
	}
	panic(bug{"no rule for the method " + id.String()})
}
