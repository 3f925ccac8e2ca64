package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// What a program asks of a table is read from its index only as far as it is wanted: a loop reads row by row, and
// `.reversed()` and `.limit(n)` behind a query become part of it.

const allRows = "aeonrt.AllRows"

// chain is a query of a table and what is asked of its result.
type chain struct {
	call  *ast.Call // of the table
	info  *typecheck.Call
	back  bool
	limit ast.Expr // nil: all rows
}

// chainOf returns the chain that x is, if it is one.
func (f *fn) chainOf(x ast.Expr) (q chain, ok bool) {
	call, isCall := ast.Unparen(x).(*ast.Call)
	if !isCall {
		return q, false
	}
	c := f.info.Calls[call]
	if c.Kind != typecheck.LibraryCall {
		return q, false
	}
	if _, table := c.RecvType.(*typecheck.Table); table {
		return chain{call: call, info: c}, c.Query != nil || c.Library == typecheck.ValuesMethod
	}
	if c.Library != typecheck.ReversedMethod && c.Library != typecheck.LimitMethod {
		return q, false
	}
	if q, ok = f.chainOf(c.Recv); !ok || q.limit != nil {
		return q, false
	}
	if c.Library == typecheck.LimitMethod {
		q.limit = call.Args[0]
	} else {
		q.back = !q.back
	}
	return q, true
}

// rowQuery returns the table that x asks for rows, and what it asks for, if it is a chain.
func (f *fn) rowQuery(x ast.Expr) (table, query string, ok bool) {
	q, ok := f.chainOf(x)
	if !ok {
		return "", "", false
	}
	t := q.info.RecvType.(*typecheck.Table)
	values := append([]ast.Expr{q.info.Recv}, q.info.Values(q.call)...)
	var vals []val
	if q.limit != nil && f.writes(q.limit)&fields != 0 { // the rows are those before that
		for _, v := range f.reads(values...) {
			if !v.stable && !v.konst {
				v = f.spill(v)
			}
			vals = append(vals, v)
		}
		table = f.temp()
		f.w.add("%s := %s.Snapshot()", table, side(vals[0].code))
		vals = append(vals, f.expr(q.limit))
	} else {
		if q.limit != nil {
			values = append(values, q.limit)
		}
		vals = f.reads(values...)
		table = side(vals[0].code)
	}
	query = allRows
	if q.info.Query != nil {
		query = f.query(t, q.info.Query, vals[1:len(values)])
	}
	if q.back {
		query += ".Reversed()"
	}
	if q.limit != nil {
		query += ".Limit(" + vals[len(vals)-1].code + ")"
	}
	return table, query, true
}

// rowLoop returns the sequence of the rows that a loop over a table, or over what a query finds in it, goes
// through, if it is one.
func (f *fn) rowLoop(s *ast.ForEach) (seq string, ok bool) {
	table, query, ok := f.rowQuery(s.X)
	if !ok {
		if _, ok = f.info.TypeOf(s.X).(*typecheck.Table); !ok {
			return "", false
		}
		table, query = side(f.expr(s.X).code), allRows
	}
	if f.info.CopyLoops[s] {
		table += ".Snapshot()"
	}
	if query == allRows {
		return table + ".All()", true
	}
	return table + ".Rows(" + query + ")", true
}

// orderBy returns the function that orders objects of a class by fields.
func (f *fn) orderBy(class typecheck.Type, fields []*typecheck.Var) string {
	code := "func(a, b *" + f.goType(class) + ") int { "
	for i, v := range fields {
		name := f.names.obj[v]
		order := "a." + name + ".Compare(b." + name + ")"
		if t := v.Type(); typecheck.IsNumeric(t) || isText(t) {
			order = "aeonrt.Compare(a." + name + ", b." + name + ")"
		}
		if i == len(fields)-1 {
			code += "return " + order + " }"
		} else {
			code += "if n := " + order + "; n != 0 { return n }; "
		}
	}
	return code
}
