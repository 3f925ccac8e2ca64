package generate

import (
	"fmt"
	"slices"
)

// chainMethods writes methods that end with tail calls.
func (g *gen) chainMethods(a *actor) {
	if g.chance(2) {
		g.chainLoop(a)
	}
	for range g.upto(2) {
		g.chainStep(a)
	}
}

// chainLoop writes a method that goes on with itself a few times.
func (g *gen) chainLoop(a *actor) {
	m := &method{name: g.name("loop"), actor: a, tails: true, result: g.value(1), params: []*variable{{name: "left", typ: intType}}}
	if g.chance(2) {
		m.result = nil
	}
	if slices.Contains(a.below(), a) {
		return // the steps could want actors that other chains keep
	}
	b := g.newBody(m)
	b.actor, b.indent = a, 2
	b.vars = append(b.vars, &variable{name: "left", typ: intType, declared: -1})
	if g.chance(2) {
		b.statement()
	}
	if !b.affords(&method{emits: 1, chain: 2}) || b.ended {
		return
	}
	b.line("%s += left;", a.fields[0].name)
	if g.chance(3) {
		b.assertMostly()
	}
	ends := "left <= 0 || left > 2"
	if g.chance(3) {
		ends = "left > 2 || left < 1"
	}
	b.block("if ("+ends+")", 1, nil, func() {
		switch {
		case m.result != nil:
			b.line("return %s;", b.resultValue(m))
		case g.chance(3):
			b.line("abort \"the end of %s\";", m.name)
		default:
			b.line("return;")
		}
	})
	b.line("tail %s%s(left - 1);", pick(g, []string{"", "this."}), m.name)
	b.ended = true
	g.finish(m, b)
	a.methods = append(a.methods, m)
}

// chainStep writes a method that goes on with another one, of this actor or another.
func (g *gen) chainStep(a *actor) {
	m := &method{name: g.name("step"), actor: a, tails: true, params: []*variable{{name: g.name("p"), typ: g.value(1)}}}
	b := g.newBody(m)
	b.actor, b.indent = a, 2
	b.vars = append(b.vars, &variable{name: m.params[0].name, typ: m.params[0].typ, declared: -1})
	c, ok := b.nextStep()
	if !ok {
		return
	}
	if m.result = c.m.result; g.rng.IntN(3) > 0 {
		b.statements(g.upto(2))
	}
	args, ok := b.arguments(c.m, 1, true)
	if !ok || b.ended || !b.affords(&method{emits: 1, chain: c.m.chain}) {
		return
	}
	if g.chance(3) {
		b.assertMostly()
	}
	if m.result == nil && g.chance(4) {
		b.block("if ("+b.condition()+")", 1, nil, func() { b.line("return;") })
	}
	last := fmt.Sprintf("tail %s%s(%s);", c.on, c.m.name, args)
	if len(a.tables) > 0 && g.chance(2) {
		b.leaveRows(pick(g, a.tables), last)
	}
	b.line("%s", last)
	b.ended = true
	g.finish(m, b)
	a.methods = append(a.methods, m)
}

// leaveRows writes a loop over rows that a tail call may leave.
func (b *body) leaveRows(t *table, last string) {
	v := &variable{name: b.g.name("e"), typ: t.row.typ, declared: -1}
	b.block(fmt.Sprintf("for (%s %s : %s)", t.row.typ.text, v.name, t.query(b)), 4, []*variable{v}, func() {
		b.line("%s += %s.%s %% 5;", b.actor.fields[0].name, v.name, t.row.fields[1].name)
		b.block("if ("+b.condition()+")", 1, nil, func() { b.line("%s", last) })
	})
}

// nextStep returns a method that a chain can go on with from here.
func (b *body) nextStep() (callee, bool) {
	var list []callee
	fits := func(m *method) bool { return m.result == nil || refOf(m.result) == nil }
	if !slices.Contains(b.actor.below(), b.actor) {
		for _, m := range b.actor.methods {
			if fits(m) {
				list = append(list, callee{m: m, on: pick(b.g, []string{"", "this."})})
			}
		}
	}
	for _, a := range b.g.actors {
		r, ok := b.reference(a, true)
		if !ok || r == "this" {
			continue
		}
		for _, m := range a.methods {
			if fits(m) {
				list = append(list, callee{m: m, on: fmt.Sprintf("%s.", r)})
			}
		}
	}
	if len(list) == 0 {
		return callee{}, false
	}
	return pick(b.g, list), true
}
