package generate

import (
	"fmt"
	"strings"
)

// callActor writes a sync call of a method, of this actor or one below it.
func (b *body) callActor() bool {
	list := b.plainCallees(func(m *method) bool { return true })
	if len(list) == 0 {
		return false
	}
	c := pick(b.g, list)
	if strings.HasSuffix(c.on, "!.") && c.m.result == nil && b.g.chance(2) {
		c.on = strings.TrimSuffix(c.on, "!.") + "?."
	}
	s := b.call(c, 1)
	if s == "" {
		return false
	}
	b.line("%s;", s)
	return true
}

// callAsync writes an async call.
func (b *body) callAsync() bool {
	list := b.plainCallees(func(m *method) bool { return true })
	if len(list) == 0 {
		return false
	}
	c := pick(b.g, list)
	if c.on == "" {
		c.on = "this."
	}
	s := b.call(c, 1)
	if s == "" {
		return false
	}
	b.line("async %s;", s)
	return true
}

// emit writes a sub-event, at once or after some time, or a callback.
func (b *body) emit() bool {
	g := b.g
	if g.chance(10) {
		b.line("cancel %s;", b.timerName(timerNames))
		return true
	}
	after := ""
	if b.actor.tick != "" && g.chance(3) && b.times == 1 && b.periodic() {
		return true
	}
	if g.chance(4) {
		after = fmt.Sprintf(" after %dms", 1+g.upto(20))
		if g.chance(3) {
			after += " as " + b.timerName(timerNames[:2])
		}
	}
	for _, f := range b.actor.fields {
		if f.typ.kind == optionalKind && f.typ.elem.kind == screenKind && g.chance(2) && b.affords(&method{emits: 1, chain: g.screen.show.chain}) {
			if after != "" && g.chance(4) {
				after = fmt.Sprintf(" after %dms every %dms as \"tick\"", 1+g.upto(5), 40+g.upto(20))
			}
			b.line("event %s?.show(%s, %s)%s;", f.name, b.expr(intType, 1), b.expr(stringType, 1), after)
			return true
		}
	}
	var list []callee
	for _, a := range g.actors {
		r, ok := b.reference(a, true)
		if !ok {
			continue
		}
		for _, m := range a.methods {
			list = append(list, callee{m: m, on: r + "."})
		}
	}
	if len(list) == 0 {
		return false
	}
	c := pick(g, list)
	args, ok := b.arguments(c.m, 1, true)
	if !ok || !b.affords(&method{emits: 1, chain: c.m.chain}) {
		return false
	}
	b.line("event %s%s(%s)%s;", c.on, c.m.name, args, after)
	return true
}

// periodic writes a timer that ticks until it has counted to three: the method that it calls cancels it.
func (b *body) periodic() bool {
	a := b.actor
	if a.tick == "" || !b.affords(&method{emits: 1, chain: 3}) {
		return false
	}
	b.line("event this.%s() after %dms every %dms as \"tick\";", a.tick, 1+b.g.upto(5), 2+b.g.upto(5))
	return true
}

// newTick writes the method that periodic timers call.
func (g *gen) newTick(a *actor) {
	a.tick = g.name("tick")
	counter := g.name("ticks")
	a.fields = append(a.fields, &variable{name: counter, typ: intType, declared: -1})
	limit := 100
	if g.chance(4) {
		limit = 2 // ticks fail until something else cancels them
	}
	a.tickText = fmt.Sprintf("\tvoid %s() {\n\t\t%s++;\n\t\tassert(%s < %d, \"it goes on\");\n\t\tif (%s %% 3 == 0) {\n\t\t\tcancel \"tick\";\n\t\t}\n\t}\n",
		a.tick, counter, counter, limit, counter)
}

// changeOwnership writes a change of what the actor owns.
func (b *body) changeOwnership() bool {
	g := b.g
	if len(b.actor.owned) == 0 {
		return false
	}
	f := pick(g, b.actor.owned)
	t := refOf(f.typ)
	if t == b.actor && (b.building || t.needsNew() && b.times > 1) {
		return false
	}
	value := ""
	if r, ok := b.reference(t, false); ok && g.chance(3) {
		value = r
	} else if value = b.fresh(t); value == "" {
		return false
	}
	switch f.typ.kind {
	case actorKind:
		b.line("%s = %s;", f.name, value)
	case optionalKind:
		switch g.upto(3) {
		case 0:
			b.line("%s = null;", f.name)
		case 1:
			b.deleteOwned(f)
		default:
			b.line("%s = %s;", f.name, value)
		}
	case vectorKind:
		switch g.upto(5) {
		case 0:
			b.line("%s.pop();", f.name)
		case 1:
			b.line("%s.clear();", f.name)
		case 2:
			b.deleteOwned(f)
		default:
			b.line("%s.push(%s);", f.name, value)
		}
	case mapKind:
		if g.chance(4) {
			b.line("%s.remove(%s);", f.name, b.keyOf(f.typ.key))
		} else {
			b.line("%s[%s] = %s;", f.name, b.keyOf(f.typ.key), value)
		}
	}
	return true
}

// deleteOwned writes a deletion of what a field may hold that is null or a vector.
func (b *body) deleteOwned(f *variable) {
	v, t := b.g.name("r"), refOf(f.typ).typ.text
	switch f.typ.kind {
	case optionalKind:
		b.line("if (%s %s = %s) {\n%s\tdelete %s;\n%s\t%s = null;\n%s}", t, v, f.name, b.tabs(), v, b.tabs(), f.name, b.tabs())
	case vectorKind:
		b.line("%s %s = %s.pop();\n%sdelete %s;", t, v, f.name, b.tabs(), v)
	}
}

func (b *body) tabs() string { return strings.Repeat("\t", b.indent) }
