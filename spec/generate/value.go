package generate

import (
	"fmt"
	"strings"
)

// newClass makes a value class.
func (g *gen) newClass() {
	c := newClassOf(fmt.Sprintf("V%d", len(g.classes)))
	var text strings.Builder
	fmt.Fprintf(&text, "class %s {\n", c.typ.text)
	for range 1 + g.upto(2) {
		f := &variable{name: g.name("f"), typ: g.value(1), writable: true, declared: -1}
		c.fields = append(c.fields, f)
		fmt.Fprintf(&text, "\t%s %s;\n", f.typ.text, f.name)
	}
	if g.chance(2) {
		text.WriteString(g.nests(c))
	}
	g.classes = append(g.classes, c)
	if g.chance(2) {
		m := g.takeText(c.fields)
		m.class, m.mutates = c, true
		c.methods = append(c.methods, m)
		text.WriteString(m.text)
	}
	for range g.upto(3) {
		m := &method{name: g.name("m"), class: c, mutates: g.chance(2)}
		switch {
		case g.chance(4):
			m.result = c.typ
		case !m.mutates || g.chance(2):
			m.result = g.value(1)
		}
		g.write(m, func(b *body) { b.class = c })
		c.methods = append(c.methods, m)
		text.WriteString(m.text)
	}
	g.decls = append(g.decls, text.String()+"}\n")
}

// newFunc makes a free function, or one that calls itself a few times.
func (g *gen) newFunc() {
	m := &method{name: g.name("f"), result: g.value(1)}
	if g.chance(4) {
		m.result, m.cost = intType, 12
		m.params = []*variable{{name: "n", typ: intType}}
		m.text = fmt.Sprintf("int %s(int n) {\n\tif (n <= 0) {\n\t\treturn %d;\n\t}\n\treturn %s(n %% 8 - 1) * 2 + n;\n}\n", m.name, g.upto(4), m.name)
	} else {
		g.write(m, func(*body) {})
		m.text = unindent(m.text)
	}
	g.funcs = append(g.funcs, m)
	g.decls = append(g.decls, m.text)
}

func unindent(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n\t", "\n"), "\t")
}

// write gives a method its parameters, if it has none yet, and its body.
func (g *gen) write(m *method, set func(*body)) {
	if m.params == nil {
		for range g.upto(2) {
			m.params = append(m.params, &variable{name: g.name("p"), typ: g.value(1), declared: -1})
		}
	}
	b := g.newBody(m)
	set(b)
	b.indent = 2
	for _, p := range m.params {
		v := *p
		v.declared, v.writable = -1, p.typ.kind != optionalKind && p.typ.kind != actorKind
		b.vars = append(b.vars, &v)
	}
	size := 1 + g.upto(3)
	if m.actor == nil {
		size = g.upto(2)
	}
	b.statements(size)
	g.finish(m, b)
}

// finish ends a body with what it returns, and writes the method.
func (g *gen) finish(m *method, b *body) {
	if m.mutates && m.class != nil && !b.ended {
		b.assign()
	}
	if m.result != nil && !b.ended {
		b.line("return %s;", b.resultValue(m))
	}
	b.closeScope(0)
	m.cost, m.emits, m.chain = b.cost+1, b.emits, b.chain+1
	var params []string
	for _, p := range m.params {
		params = append(params, p.decl())
	}
	head := "void"
	if m.result != nil {
		head = m.result.text
	}
	if m.ro && m.actor != nil {
		head = "ro " + head
	}
	m.text = fmt.Sprintf("\t%s %s(%s) {\n%s\t}\n", head, m.name, strings.Join(params, ", "), b.text())
}

// resultValue returns what a method returns.
func (b *body) resultValue(m *method) string {
	if m.class != nil && m.result == m.class.typ && b.g.chance(2) {
		return "this"
	}
	return b.expr(m.result, 2)
}

// newConst makes a constant.
func (g *gen) newConst() {
	c := &variable{name: fmt.Sprintf("K%d", len(g.consts)), typ: pick(g, []*typ{intType, intType, stringType, durationType, floatType}), declared: -1}
	value := map[kind][]string{intKind: {"7", "1 << 5 - 3", "-1"}, stringKind: {`"const" + "ant"`, "`c`"}, durationKind: {"3 * 2s", "1h / 7"}, floatKind: {"1.5", "2"}}
	g.consts = append(g.consts, c)
	g.decls = append(g.decls, fmt.Sprintf("const %s %s = %s;\n", c.typ.text, c.name, pick(g, value[c.typ.kind])))
}
