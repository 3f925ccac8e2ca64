package generate

import (
	"fmt"
	"slices"
	"strings"
)

// table is a field of an actor that is a table. It is no value, so it is in no list of variables.
type table struct {
	name    string
	row     *class
	key     *variable
	indexes [][]*variable
}

// newTable gives an actor a table with a class of rows of its own.
func (g *gen) newTable(a *actor) {
	c := newClassOf(fmt.Sprintf("R%d", len(g.classes)))
	t := &table{name: g.name("t"), row: c}
	types := []*typ{g.keyType(), intType, g.keyType(), g.value(1)}
	if g.chance(4) {
		types[2] = pick(g, []*typ{boolType, durationType, timeType, bytesType})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "class %s {\n", c.typ.text)
	for _, u := range types {
		f := &variable{name: g.name("f"), typ: u, writable: true, declared: -1}
		c.fields = append(c.fields, f)
		fmt.Fprintf(&text, "\t%s %s;\n", u.text, f.name)
	}
	number := c.fields[1]
	m := &method{name: g.name("m"), class: c, mutates: true, cost: 1, params: []*variable{{name: "by", typ: intType}}}
	m.text = fmt.Sprintf("\tvoid %s(int by) {\n\t\t%s += by;\n\t}\n", m.name, number.name)
	text.WriteString(m.text)
	c.methods = append(c.methods, m)
	g.classes = append(g.classes, c)
	g.decls = append(g.decls, text.String()+"}\n")
	t.key = c.fields[0]
	t.indexes = [][]*variable{{number}, {c.fields[2], number}, {number, c.fields[2], t.key}}[:1+g.upto(2)]
	a.tables = append(a.tables, t)
}

// decl returns the declaration of the field.
func (t *table) decl() string {
	text := fmt.Sprintf("\ttable<%s> %s key(%s)", t.row.typ.text, t.name, t.key.name)
	for _, index := range t.indexes {
		var names []string
		for _, v := range index {
			names = append(names, v.name)
		}
		text += " index(" + strings.Join(names, ", ") + ")"
	}
	return text + ";\n"
}

// audit returns what shows all rows, by the key and by each index.
func (t *table) audit(b *body) string {
	text := fmt.Sprintf("%s={%s.size()}{%s.values()}", t.name, t.name, t.name)
	for _, index := range t.indexes {
		if index[0].typ.kind == intKind {
			text += fmt.Sprintf("{%s.range(%s, -1 << 40).size()}", t.name, index[0].name)
		} else {
			text += fmt.Sprintf("{%s.find(%s, %s)}", t.name, index[0].name, b.literal(index[0].typ, 0))
		}
	}
	return text
}

// query returns a query of the table, or all rows, and which of them are left in what order.
func (t *table) query(b *body) string {
	text := t.rows(b)
	for b.g.rng.IntN(5) < 3 {
		text += pick(b.g, []string{".reversed()", ".reversed()", ".reversed()", ".limit(1)", ".limit(3)", ".limit(max(0, " + b.expr(intType, 1) + "))"})
	}
	return text
}

// rows returns a query of the table, or all rows.
func (t *table) rows(b *body) string {
	g := b.g
	columns := slices.Clone(pick(g, append([][]*variable{{t.key}}, t.indexes...)))
	columns = columns[:1+g.upto(len(columns)-1)]
	var args []string
	for i, v := range columns {
		args = append(args, v.name, b.expr(v.typ, 1))
		if i < len(columns)-1 {
			continue
		}
		switch g.upto(4) {
		case 0:
			return fmt.Sprintf("%s.values()", t.name)
		case 1:
			return fmt.Sprintf("%s.range(%s, %s)", t.name, strings.Join(args, ", "), b.expr(v.typ, 1))
		case 2:
			return fmt.Sprintf("%s.range(%s)", t.name, strings.Join(args, ", "))
		case 3:
			return fmt.Sprintf("%s.sorted(%s)", t.name, strings.Join(args[:len(args)-1], ", "))
		}
	}
	return fmt.Sprintf("%s.find(%s)", t.name, strings.Join(args, ", "))
}

// useTable writes a statement that reads or writes a table.
func (b *body) useTable() bool {
	if len(b.actor.tables) == 0 {
		return false
	}
	g, t := b.g, pick(b.g, b.actor.tables)
	ways := []choice{{2, func() bool { return b.overRows(t) }}, {2, func() bool { return b.listRows(t) }}, {1, func() bool { return b.ifRow(t) }}}
	if !b.ro {
		ways = append(ways, choice{6, func() bool { return b.writeTable(t) }})
	}
	return g.choose(ways...)
}

// rowKey returns one of few keys, so that rows meet.
func (b *body) rowKey(t *table) string {
	switch t.key.typ.kind {
	case intKind, sizedKind, stringKind, enumKind:
		return b.keyOf(t.key.typ)
	}
	return b.literal(t.key.typ, 0)
}

// newRow returns a new row, often with one of few keys.
func (b *body) newRow(t *table) string {
	var args []string
	for _, f := range t.row.fields {
		if f == t.key && !b.g.chance(3) {
			args = append(args, b.rowKey(t))
		} else {
			args = append(args, b.expr(f.typ, 1))
		}
	}
	return fmt.Sprintf("new %s(%s)", t.row.typ.text, strings.Join(args, ", "))
}

func (b *body) writeTable(t *table) bool {
	g := b.g
	key := b.rowKey(t)
	switch n := g.upto(19); {
	case n < 7:
		b.line("%s.put(%s);", t.name, b.newRow(t))
	case n < 9:
		b.line("%s.insert(%s);", t.name, b.newRow(t))
	case n < 11:
		b.line("%s.remove(%s);", t.name, key)
	case n < 18:
		write := func() { b.writeRow(t, key) }
		if g.chance(6) {
			write() // may miss the row
		} else {
			b.block(fmt.Sprintf("if (%s.has(%s))", t.name, key), 1, nil, write)
		}
	case n < 19 && !g.chance(3):
		return false
	default:
		b.line("%s.clear();", t.name)
	}
	return true
}

// writeRow writes a part of a row in place.
func (b *body) writeRow(t *table, key string) {
	g := b.g
	f := pick(g, t.row.fields[1:])
	place := fmt.Sprintf("%s[%s].%s", t.name, key, f.name)
	switch {
	case g.chance(5):
		b.line("%s[%s].%s(%s);", t.name, key, t.row.methods[0].name, b.expr(intType, 1))
	case f.typ.kind == intKind && g.chance(2):
		b.line("%s %s %s;", place, pick(g, []string{"+=", "-="}), b.expr(intType, 1))
	case f.typ.kind == vectorKind && g.chance(2):
		b.line("%s.push(%s);", place, b.expr(f.typ.elem, 1))
	default:
		b.line("%s = %s;", place, b.expr(f.typ, 1))
	}
}

// overRows writes a loop over rows, which may change meanwhile.
func (b *body) overRows(t *table) bool {
	if b.times > 3 || b.cost > costMax/2 || b.indent >= 4 {
		return false
	}
	over := t.name
	if !b.g.chance(4) {
		over = t.query(b)
	}
	v := &variable{name: b.g.name("e"), typ: t.row.typ, declared: -1, writable: true}
	b.block(fmt.Sprintf("for (%s %s : %s)", t.row.typ.text, v.name, over), 4, []*variable{v}, func() {
		b.loops++
		if !b.ro && b.g.chance(3) {
			b.line("%s[%s.%s].%s++;", t.name, v.name, t.key.name, t.row.fields[1].name) // which another round may have removed
		}
		if owned := b.actor.owned; !b.ro && len(owned) > 0 && !b.g.chance(3) {
			b.deleteOwned(pick(b.g, owned))
		}
		b.statements(1 + b.g.upto(1))
		b.loops--
	})
	return true
}

// listRows keeps what a query finds.
func (b *body) listRows(t *table) bool {
	v := &variable{name: b.g.name("v"), typ: vectorOf(t.row.typ), writable: true}
	init := t.query(b)
	b.line("%s %s = %s;", v.typ.text, v.name, init)
	b.declare(v)
	return true
}

// ifRow looks for a row.
func (b *body) ifRow(t *table) bool {
	if b.indent >= 4 {
		return false
	}
	v := &variable{name: b.g.name("p"), typ: t.row.typ, declared: -1}
	b.block(fmt.Sprintf("if (%s %s = %s.get(%s))", t.row.typ.text, v.name, t.name, b.rowKey(t)), 1, nil, func() {
		b.declare(v)
		b.statements(1 + b.g.upto(1))
	})
	return true
}
