package generate

import (
	"fmt"
	"strings"
)

// planHelper makes the value class whose methods act for the actor that calls them. They are written when there are actors.
func (g *gen) planHelper() {
	c := newClassOf(fmt.Sprintf("V%d", len(g.classes)))
	c.fields = []*variable{{name: g.name("f"), typ: intType, writable: true, declared: -1}}
	g.classes = append(g.classes, c)
	g.helper = c
}

// newHelpers makes free functions and methods of values that do for an actor what it may do itself: call, issue, set and cancel
// timers, create, delete.
func (g *gen) newHelpers() {
	for range g.upto(3) {
		m := g.newHelper(nil)
		m.text = unindent(m.text)
		g.funcs = append(g.funcs, m)
		g.decls = append(g.decls, m.text)
	}
	if g.helper == nil {
		return
	}
	for range 1 + g.upto(2) {
		g.helper.methods = append(g.helper.methods, g.newHelper(g.helper))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "class %s {\n\tint %s;\n", g.helper.typ.text, g.helper.fields[0].name)
	for _, m := range g.helper.methods {
		text.WriteString(m.text)
	}
	g.decls = append(g.decls, text.String()+"}\n")
}

// newHelper makes one, of a value class or of none.
func (g *gen) newHelper(c *class) *method {
	m := &method{name: g.name("h"), class: c, acts: true, params: []*variable{{name: "k", typ: intType, declared: -1}}}
	b := g.newBody(m)
	b.class, b.indent, b.helping = c, 2, true
	b.vars = append(b.vars, &variable{name: "k", typ: intType, declared: -1})
	for range 1 + g.upto(1) {
		b.help(m)
	}
	if c != nil && g.chance(3) {
		m.mutates = true
		b.line("%s += k;", c.fields[0].name)
	}
	if g.chance(3) {
		b.assertMostly()
	}
	if g.chance(3) && m.result == nil {
		m.result = intType
		b.line("return %s;", b.expr(intType, 1))
		b.ended = true
	}
	g.finish(m, b)
	return m
}

// help writes one act of a helper.
func (b *body) help(m *method) {
	g := b.g
	name := b.timerName(timerNames)
	target := pick(g, g.actors)
	bump := target.methods[0]
	plain := func() string {
		p := &variable{name: g.name("r"), typ: target.typ, declared: -1}
		m.params = append(m.params, p)
		m.under = max(m.under, target.index)
		return p.name
	}
	yield := func() string {
		p := &variable{name: g.name("r"), typ: target.typ, yield: true, declared: -1}
		m.params = append(m.params, p)
		return p.name
	}
	switch n := g.upto(9); {
	case n < 3:
		if b.affords(&method{emits: 1, chain: bump.chain}) {
			b.line("event %s.%s(k) after %dms as %s;", yield(), bump.name, 1+g.upto(20), name)
		}
	case n < 5:
		b.line("cancel %s;", name)
	case n < 6:
		if b.affords(&method{emits: 1, chain: bump.chain}) {
			b.line("event %s.%s(k);", yield(), bump.name)
		}
	case target.index == 0: // what no class of the program may call
	case n < 8:
		b.line("%s%s.%s(k);", pick(g, []string{"", "async "}), plain(), bump.name)
		b.cost += bump.cost * b.times
	case n < 9:
		r := g.name("r")
		m.under = max(m.under, target.index)
		b.line("%s %s = %s;", target.typ.text, r, b.sureActor(target))
		b.line("%s.%s(k);", r, bump.name)
	default:
		b.line("delete %s;", plain())
	}
}

// may reports whether this body may call what acts for its actor: the actor owns, or may own, what is called.
func (b *body) may(m *method) bool {
	return !m.acts || b.actor != nil && !b.ro && (m.under == 0 || b.actor.index < m.under)
}

// timerNames are few, so that timers replace and cancel each other.
var timerNames = []string{"t", "u", "tick"}

// timerName returns the name of a timer: one of the list, as a constant or computed, or now and then any string, which may be empty.
func (b *body) timerName(list []string) string {
	g := b.g
	name := fmt.Sprintf("%q", pick(g, list))
	if !g.chance(3) {
		return name
	}
	if p, ok := b.some(false, same(stringType)); ok && g.chance(3) {
		return p.text
	}
	if x := b.nonConstant(intType); x != "" && g.chance(2) {
		return fmt.Sprintf("\"%s{%s %% 2}\"", list[0], x)
	}
	return name + ".trim()"
}
