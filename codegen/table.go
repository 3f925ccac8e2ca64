package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

// A table is written and read through the runtime. The runtime is told once how the key of a row is taken out,
// and how keys and the columns of indexes are written so that rows sort by them.

// tableShapes emits the shapes of the tables of an actor class.
func (p *pkg) tableShapes(w *writer, c *typecheck.Class) {
	for _, f := range c.Fields {
		t, ok := f.Type().(*typecheck.Table)
		if !ok {
			continue
		}
		key, row := p.keyType(t.Key.Type()), p.goType(t.Row)
		w.add("// %s is what the rows of %s.%s are like.", p.gen(f, "table"), c.Name(), f.Name())
		w.add("var %s = aeonrt.TableShape[%s, %s]{", p.gen(f, "table"), key, row)
		w.add("Key: func(row *%s) %s { return %s },", row, key, p.columnAsKey(t.Key, "row"))
		w.add("PutKey: %s,", p.putKey(t.Key.Type()))
		w.add("Put: %s,", p.put(t.Row, false))
		w.add("Get: %s,", p.get(t.Row, false))
		if len(t.Indexes) > 0 {
			w.add("Indexes: []func(*aeonrt.Encoder, *%s){", row)
			for _, index := range t.Indexes {
				w.add("func(e *aeonrt.Encoder, row *%s) {", row)
				for _, v := range index.Columns {
					w.add("%s", p.writeKey(v.Type(), "e", p.columnAsKey(v, "row")))
				}
				w.add("},")
			}
			w.add("},")
			w.add("Names: []string{%s},", indexNames(t))
		}
		w.add("}")
		w.add("")
	}
}

// indexNames returns the names of the columns of each index, as strings.
func indexNames(t *typecheck.Table) string {
	var list []string
	for _, index := range t.Indexes {
		var names []string
		for _, v := range index.Columns {
			names = append(names, v.Name())
		}
		list = append(list, quote(strings.Join(names, ":")))
	}
	return strings.Join(list, ", ")
}

// columnAsKey reads a column of a row in the form of a key.
func (p *pkg) columnAsKey(v *typecheck.Var, row string) string {
	code := row + "." + p.names.obj[v]
	if v.Type() == typecheck.Bytes {
		code += ".Key()"
	}
	return code
}

// writeKey returns the statement that writes a key to the encoder e so that keys sort by it.
func (p *pkg) writeKey(t typecheck.Type, e, v string) string {
	switch t := t.(type) {
	case *typecheck.Class:
		return "aeonrt.PutKeyRef(" + e + ", " + v + ".Ref)"
	case *typecheck.Enum:
		return "aeonrt.PutKeyUint(" + e + ", " + v + ")"
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.BoolKind:
			return "aeonrt.PutKeyBool(" + e + ", " + v + ")"
		case t.Kind == typecheck.StringKind || t.Kind == typecheck.BytesKind:
			return "aeonrt.PutKeyString(" + e + ", " + v + ")"
		case typecheck.IsUnsigned(t):
			return "aeonrt.PutKeyUint(" + e + ", " + v + ")"
		}
	}
	return "aeonrt.PutKeyInt(" + e + ", " + v + ")"
}

// newObject returns the expression that makes the state of an actor: its tables know their shapes.
func (p *pkg) newObject(c *typecheck.Class) string {
	var tables []string
	for _, f := range c.Fields {
		if _, ok := f.Type().(*typecheck.Table); ok {
			tables = append(tables, p.names.obj[f]+": aeonrt.NewTable(&"+p.gen(f, "table")+")")
		}
	}
	if tables == nil {
		return "new(" + p.names.obj[c] + ")"
	}
	return "&" + p.names.obj[c] + "{" + strings.Join(tables, ", ") + "}"
}

// tableMethod lowers a method of a table that does not change it.
func (f *fn) tableMethod(c *typecheck.Call, t *typecheck.Table, recv val, args []val, result typecheck.Type) val {
	r := side(recv.code)
	switch c.Library {
	case typecheck.SizeMethod:
		return fresh(result, r+".Size()")
	case typecheck.HasMethod:
		return fresh(result, r+".Has("+f.key(t.Key.Type(), args[0])+")")
	case typecheck.GetMethod:
		key, boxed := f.key(t.Key.Type(), args[0]), ""
		if f.boxed(t.Row) {
			boxed = "aeonrt.BoxIf(" + r + ".Find(" + key + "))"
		}
		return f.taken(recv, result, "aeonrt.GetRow("+recv.code+", "+key+")", boxed)
	case typecheck.KeysMethod:
		if t.Key.Type() == typecheck.Bytes {
			return fresh(result, "aeonrt.BytesVector("+r+".Keys())")
		}
		return fresh(result, r+".Keys()")
	case typecheck.ValuesMethod:
		return fresh(result, r+".Values()")
	case typecheck.FindMethod, typecheck.RangeMethod, typecheck.SortedMethod:
		return fresh(result, r+".Select("+f.query(t, c.Query, args)+")")
	}
	panic("codegen: no emitter for the method " + c.Library.String() + " of a table")
}

// query returns the expression for what a call of find, range or sorted asks for.
func (f *fn) query(t *typecheck.Table, q *typecheck.Query, args []val) string {
	index := "aeonrt.ByKey"
	for i, x := range t.Indexes {
		if x == q.Index {
			index = itoa(i)
		}
	}
	n := len(q.Equal)
	equal, from, to := "nil", "nil", "nil"
	if n > 0 {
		equal = f.columns(q.Columns[:n], args[:n])
	}
	if q.From == nil && n > 0 {
		return "aeonrt.Equal(" + index + ", " + equal + ")"
	}
	if q.From != nil {
		from = f.columns(q.Columns[n:], args[n:n+1])
	}
	if q.To != nil {
		to = f.columns(q.Columns[n:], args[n+1:])
	}
	return "aeonrt.Range(" + index + ", " + equal + ", " + from + ", " + to + ")"
}

// columns returns a function that writes the values of columns.
func (f *fn) columns(columns []*typecheck.Var, values []val) string {
	var list []string
	e := f.temp() // no name of the program, which the values may mention
	for i, v := range columns {
		code := values[i].code
		if values[i].konst {
			values[i].typ = v.Type()
			code = f.typed(values[i])
		}
		list = append(list, f.writeKey(v.Type(), e, f.key(v.Type(), val{code: code})))
	}
	return "func(" + e + " *aeonrt.Encoder) { " + strings.Join(list, "; ") + " }"
}
