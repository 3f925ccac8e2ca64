package generate

import (
	"fmt"
	"strings"
)

// main writes the main function: it makes some actors, issues events on them, and shows at the end what has become of them.
func (g *gen) main() string {
	b := g.newBody(&method{name: "main"})
	b.client = true
	var roots []*variable
	for i := range 1 + g.upto(2)/2 {
		a := g.actors[0]
		if i > 0 {
			a = pick(g, g.actors)
		}
		roots = append(roots, b.newRoot(a, i))
	}
	if g.screen != nil {
		b.newScreenObject(roots)
		b.declareUsed(&variable{name: "screen", typ: g.screen.typ, yield: true})
		for _, r := range roots {
			for _, m := range r.typ.actor.methods {
				if len(m.params) == 1 && m.params[0].typ.kind == screenKind {
					b.line("await event %s.%s(screen);", r.name, m.name)
				}
			}
		}
		b.line("event screen.show(0, \"begin\");")
		b.settle()
	}
	steps := 3
	for _, r := range roots {
		if hoard := r.typ.actor.hoard; len(hoard) > 0 {
			b.guarded(func() { b.line("await event %s.%s();\nprint(\"filled\");", r.name, hoard[0].name) })
			b.settle()
			steps = 6
		}
	}
	b.nestLocals()
	var promises []*promise
	for range steps + g.upto(4) {
		b.clientStep(&roots, &promises)
	}
	b.redeemAll(promises)
	b.line("settle();")
	if g.test {
		b.line("advance(%dms);", 1+g.upto(20)) // the timers that are due, one by one
	} else {
		b.line("sleep(100ms);")
	}
	b.line("settle();")
	for _, r := range roots {
		b.line("try {\n\t\tprint(await event %s.audit());\n\t} catch (string why) {\n\t\tprint(\"no audit:\", why);\n\t}", r.name)
	}
	b.closeScope(0)
	if g.test {
		return "test \"generated\" {\n" + b.text() + "}\n"
	}
	return "void main() {\n" + b.text() + "}\n"
}

// newRoot writes an actor of the client's, by name or by new.
func (b *body) newRoot(a *actor, i int) *variable {
	g := b.g
	r := &variable{name: fmt.Sprintf("root%d", i), typ: a.typ, yield: true}
	made := fmt.Sprintf("actor<%s>(%s)", a.typ.text, pick(g, actorNames))
	if !a.named() || g.chance(2) {
		made = b.fresh(a)
		b.chain += a.build.chain - 1
	}
	b.line("%s %s = %s;", a.typ.text, r.name, made)
	b.settle()
	b.declareUsed(r)
	return r
}

// again deletes an actor, and mostly makes another one, of the same name if it can have one.
func (b *body) again(r *variable) {
	b.guarded(func() { b.line("delete %s;", r.name) })
	if b.g.chance(4) {
		return
	}
	made := ""
	if r.typ.actor.named() {
		made = fmt.Sprintf("actor<%s>(%s)", r.typ.text, pick(b.g, actorNames[:2]))
	} else {
		made = b.fresh(r.typ.actor)
	}
	b.guarded(func() { b.line("%s = %s;", r.name, made) })
	b.settle()
}

// passTime lets timers become due while other events are under way.
func (b *body) passTime() {
	pass := "sleep"
	if b.g.test && b.g.chance(2) {
		pass = "advance"
	}
	b.settle()
	b.line("%s(%dms);", pass, 1+b.g.upto(8))
	b.settle()
}

// burst issues events on one actor of which none is awaited.
func (b *body) burst(r *variable) {
	m := r.typ.actor.methods[0]
	for range 2 + b.g.upto(2) {
		b.line("event %s.%s(%s);", r.name, m.name, b.literal(intType, 0))
		for _, check := range r.typ.actor.methods {
			if strings.HasPrefix(check.name, "check") && b.g.chance(2) {
				b.line("event %s.%s();", r.name, check.name)
			}
		}
	}
	b.chain += 3
}

// declareUsed adds a local that need not be used.
func (b *body) declareUsed(v *variable) {
	v.declared = -1
	b.vars = append(b.vars, v)
}

func (b *body) settle() {
	if b.g.profile == Sequential {
		b.line("settle();")
	}
}

// clientStep writes one step of main: an event, a new actor, or some computing of its own.
func (b *body) clientStep(roots *[]*variable, promises *[]*promise) {
	g := b.g
	switch n := g.upto(15); {
	case n == 0:
		b.guarded(func() { b.statements(1 + g.upto(1)) })
		return
	case n == 1 && len(*roots) < 3:
		*roots = append(*roots, b.newRoot(pick(g, g.actors), len(*roots)))
		return
	case n == 2 && g.chance(2):
		b.again(pick(g, *roots))
		return
	case n == 3:
		b.passTime()
		return
	case n == 4 && g.profile == Concurrent && b.chain <= 4:
		b.burst(pick(g, *roots))
		return
	case n == 5 && g.chance(2):
		b.guarded(func() {
			b.line("%s(%s, \"{%s}\");", pick(g, []string{"assert", "require"}), b.condition(), b.expr(intType, 1))
		})
		return
	case n >= 14 && len(*promises) > 0:
		b.redeem(pick(g, *promises))
		return
	}
	r := pick(g, *roots)
	if r.typ.actor.upend != nil && g.chance(3) {
		b.upends(r)
		return
	}
	m := pick(g, r.typ.actor.methods)
	if hoard := r.typ.actor.hoard; len(hoard) > 0 && !g.chance(3) {
		m = pick(g, hoard)
	}
	args, ok := b.arguments(m, 1, true)
	if !ok {
		return
	}
	call := fmt.Sprintf("event %s.%s(%s)", r.name, m.name, args)
	if g.profile == Concurrent && b.chain+m.chain <= 7 && g.chance(2) {
		b.chain += m.chain
		if g.chance(3) {
			b.line("%s;", call)
			return
		}
		*promises = append(*promises, b.keep(m.result, call))
		return
	}
	if g.profile == Sequential && g.chance(4) {
		p := b.keep(m.result, call)
		b.settle()
		b.redeem(p)
		*promises = append(*promises, p)
		return
	}
	switch {
	case m.result == nil:
		b.guarded(func() { b.line("await %s;", call) })
	case refOf(m.result) != nil:
		b.guarded(func() {
			v := g.name("r")
			b.line("%s %s = await %s;", m.result.text, v, call)
			b.line("print(%q, await event %s.audit());", v, v)
		})
	case g.profile == Sequential && m.chain > 1: // callbacks print, too
		b.guarded(func() {
			v := g.name("r")
			b.line("%s %s = await %s;", m.result.text, v, call)
			b.line("settle();")
			b.line("print(%q, %s);", m.name, v)
		})
	default:
		b.guarded(func() { b.line("print(%q, await %s);", m.name, call) })
	}
	b.settle()
}

// guarded writes something within try, mostly.
func (b *body) guarded(content func()) {
	if b.g.chance(12) {
		content()
		return
	}
	b.line("try {")
	b.nested(1, nil, content)
	why := b.g.name("why")
	b.line("} catch (string %s) {\n%s\tprint(\"failed:\", %s);\n%s}", why, b.tabs(), why, strings.Repeat("\t", b.indent))
}
