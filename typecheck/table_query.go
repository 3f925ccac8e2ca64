package typecheck

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Query is what a call of find, range or sorted on a table asks for: rows whose columns equal values;
// for range, one more column lies between bounds, and for sorted, one more says the order. `find(destination, d)`,
// `find(destination, d, price, 3)`, `range(price, a, b)`, `range(destination, d, price, a)`, `sorted(destination, d, price)`.
type Query struct {
	// Index is the index in whose order the rows are found; nil: the key.
	Index *TableIndex
	// Columns are the first columns of the index, those of Equal in their order, then that
	// of From, or of the order.
	Columns []*Var
	Equal   []ast.Expr
	From    ast.Expr // of range; included
	To      ast.Expr // of range; excluded; nil: there is no end
}

// Values returns the arguments of a call that are values, in the order in which they are
// evaluated: all but the columns of a query and the fields of a sort.
func (c *Call) Values(x *ast.Call) []ast.Expr {
	switch {
	case c.Fields != nil:
		return nil
	case c.Query == nil:
		return x.Args
	}
	list := slices.Clone(c.Query.Equal)
	if c.Query.From != nil {
		list = append(list, c.Query.From)
	}
	if c.Query.To != nil {
		list = append(list, c.Query.To)
	}
	return list
}

// tableMethod finds the methods of tables. The arguments of find, range and sorted are read by query.
func tableMethod(t *Table, name string) (libSig, bool) {
	rows := &Vector{t.Row}
	switch name {
	case "insert":
		return libSig{InsertMethod, []Type{t.Row}, Void, true}, true
	case "put":
		return libSig{PutMethod, []Type{t.Row}, Void, true}, true
	case "get":
		return libSig{GetMethod, []Type{t.Key.typ}, &Optional{t.Row}, false}, true
	case "has":
		return libSig{HasMethod, []Type{t.Key.typ}, Bool, false}, true
	case "remove":
		return libSig{RemoveMethod, []Type{t.Key.typ}, Bool, true}, true
	case "keys":
		return libSig{KeysMethod, nil, &Vector{t.Key.typ}, false}, true
	case "values":
		return libSig{ValuesMethod, nil, rows, false}, true
	case "find":
		return libSig{FindMethod, nil, rows, false}, true
	case "range":
		return libSig{RangeMethod, nil, rows, false}, true
	case "sorted":
		return libSig{SortedMethod, nil, rows, false}, true
	case "size":
		return libSig{SizeMethod, nil, Int, false}, true
	case "clear":
		return libSig{ClearMethod, nil, Void, true}, true
	}
	return libSig{}, false
}

// query checks a call of find, range or sorted.
func (b *body) query(x *ast.Call, recv ast.Expr, t *Table, sig libSig, optional bool) operand {
	info := &Call{Kind: LibraryCall, Library: sig.id, Recv: recv, RecvType: t, Optional: optional, Result: sig.result}
	if optional {
		info.Result = makeOptional(sig.result)
	}
	q, ok := b.queryArgs(x, t, sig.id)
	if !ok {
		return operand{typ: info.Result}
	}
	info.Query = q
	for range q.Equal {
		info.Params = append(info.Params, q.Columns[len(info.Params)].typ)
	}
	last := q.Columns[len(q.Columns)-1].typ
	if q.From != nil {
		info.Params = append(info.Params, last)
	}
	if q.To != nil {
		info.Params = append(info.Params, last)
	}
	return b.recordCall(x, info)
}

// queryArgs reads columns and values: pairs of one and the other, and at the end one column: for
// range with one or two bounds, for sorted without.
func (b *body) queryArgs(x *ast.Call, t *Table, id LibraryID) (*Query, bool) {
	pairs, bounds := len(x.Args)/2, 0
	switch {
	case id == FindMethod && (len(x.Args) == 0 || len(x.Args)%2 == 1):
		return b.badQuery(x, "find takes columns and values in turn", "as in `find(destination, \"Rome\")`")
	case id == RangeMethod && len(x.Args) < 2:
		return b.badQuery(x, "range takes a column, a first value and one beyond the last", "as in `range(price, 100, 200)`; without the last one it goes to the end")
	case id == SortedMethod && len(x.Args)%2 == 0:
		if columns := columnArgs(x.Args, t); columns != nil {
			return b.badQuery(x, "one column says the order of sorted, behind columns and values in turn",
				"rows come in the order of all columns of an index: with `index("+columnNames(columns)+")` write `sorted("+columns[0].name+")`")
		}
		return b.badQuery(x, "sorted takes columns and values in turn, and at the end the column that says the order", "as in `sorted(price)`, or `sorted(destination, \"Rome\", price)`; write `.reversed()` behind it to descend")
	case id == RangeMethod:
		bounds = 1 + len(x.Args)%2
		pairs--
	}
	q := &Query{}
	ok := true
	value := func(v *Var, i int) ast.Expr {
		if v == nil {
			b.loose(x.Args[i])
			ok = false
		} else {
			b.assign(x.Args[i], v.typ, "column "+v.name)
			q.Columns = append(q.Columns, v)
		}
		return x.Args[i]
	}
	for i := range pairs {
		q.Equal = append(q.Equal, value(b.queryColumn(x.Args[2*i], t), 2*i+1))
	}
	if bounds > 0 {
		v := b.queryColumn(x.Args[2*pairs], t)
		q.From = value(v, 2*pairs+1)
		if bounds == 2 {
			if v == nil {
				b.loose(x.Args[2*pairs+2])
			} else {
				b.assign(x.Args[2*pairs+2], v.typ, "column "+v.name)
			}
			q.To = x.Args[2*pairs+2]
		}
	}
	if id == SortedMethod {
		v := b.queryColumn(x.Args[2*pairs], t)
		q.Columns, ok = append(q.Columns, v), ok && v != nil
	}
	return q, ok && b.findIndex(x, t, q)
}

// columnArgs returns the columns of t that arguments name, each once; nil if they do not.
func columnArgs(args []ast.Expr, t *Table) (columns []*Var) {
	for _, a := range args {
		id, ok := a.(*ast.Ident)
		i := -1
		if ok {
			i = slices.IndexFunc(t.Row.Fields, func(v *Var) bool { return v.name == id.Name })
		}
		if i < 0 || slices.Contains(columns, t.Row.Fields[i]) {
			return nil
		}
		columns = append(columns, t.Row.Fields[i])
	}
	return columns
}

// brokenQuery checks the values of find, range and sorted on a table whose declaration was reported,
// where names of columns are none of variables; false if recv is no such table.
func (b *body) brokenQuery(x *ast.Call, recv ast.Expr, name ast.Name) bool {
	var v *Var
	switch r := ast.Unparen(recv).(type) {
	case *ast.Ident, *ast.Field:
		v, _ = b.info.Uses[r].(*Var)
	}
	if v == nil || v.Field() == nil || !slices.Contains([]string{"find", "range", "sorted"}, name.Text) {
		return false
	}
	if _, table := v.Field().Type.(*ast.TableType); !table {
		return false
	}
	for _, a := range x.Args {
		if _, column := a.(*ast.Ident); !column {
			b.loose(a)
		} else if obj, ok := b.lookup(a.(*ast.Ident), nil).(*Var); ok {
			obj.Used = true
		}
	}
	return true
}

func (b *body) badQuery(x *ast.Call, msg, help string) (*Query, bool) {
	b.report(diag.New(diag.TableQuery, x.Span(), "%s", msg).WithHelp("%s", help))
	return nil, false
}

// queryColumn is an argument that names a column; nil if it does not. It hides variables of
// the same name.
func (b *body) queryColumn(x ast.Expr, t *Table) *Var {
	id, ok := x.(*ast.Ident)
	if !ok {
		b.report(diag.New(diag.TableQuery, x.Span(), "the name of a column stands here, and a value behind it").
			WithHelp("columns are fields of %s: %s", t.Row.name, columnNames(t.Row.Fields)))
		return nil
	}
	v := b.column(diag.TableColumn, t.Row, ast.Name{Loc: id.Loc, Text: id.Name})
	if v != nil && !IsKey(v.typ) {
		if t.broken {
			return nil
		}
		b.report(diag.New(diag.TableQuery, x.Span(), "rows are not found by %s: it is %s, and no column of an index", v.name, aType(v.typ)).
			WithHelp("go over the rows, and look at each: `for (%s row : …) { … }`", t.Row.name))
		return nil
	}
	return v
}

// findIndex chooses the index of a query: that with just its columns, or else the first one
// that begins with them. The key is the first of all.
func (b *body) findIndex(x *ast.Call, t *Table, q *Query) bool {
	if len(q.Columns) == 1 && q.Columns[0] == t.Key {
		return true
	}
	for _, index := range t.Indexes {
		if len(index.Columns) >= len(q.Columns) && slices.Equal(index.Columns[:len(q.Columns)], q.Columns) &&
			(q.Index == nil || len(index.Columns) == len(q.Columns)) {
			q.Index = index
		}
	}
	if q.Index != nil {
		return true
	}
	if t.broken {
		return false
	}
	d := diag.New(diag.TableQuery, x.Span(), "no index of this table begins with %s", columnNames(q.Columns))
	have := []string{"key(" + t.Key.name + ")"}
	for _, index := range t.Indexes {
		have = append(have, "index("+columnNames(index.Columns)+")")
	}
	b.report(d.WithHelp("declare `index(%s)` behind the name of the table, which has %s", columnNames(q.Columns), strings.Join(have, " ")))
	return false
}
