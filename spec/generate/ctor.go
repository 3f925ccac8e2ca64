package generate

import (
	"fmt"
	"strings"
)

// planCtor gives a class the parameters of its constructor: values, and actors of classes further down the ownership graph, which
// the constructor touches.
func (g *gen) planCtor(a *actor) {
	a.build = &method{name: a.typ.text, actor: a, cost: 1, chain: 1, params: []*variable{}}
	if !g.chance(2) {
		return // it can have a name
	}
	for range g.upto(1) {
		a.build.params = append(a.build.params, &variable{name: g.name("p"), typ: g.value(1), declared: -1})
	}
	for range 1 + g.upto(2)/2 {
		if below := g.actors[a.index+1:]; len(below) > 0 {
			p := &variable{name: g.name("r"), typ: pick(g, below).typ, yield: g.chance(4), declared: -1}
			if !p.yield && g.chance(4) {
				p.typ = vectorOf(p.typ)
			}
			a.build.params = append(a.build.params, p)
		}
	}
}

// named reports whether actors of the class can have names. In the sequential profile their constructor issues nothing: it runs
// in the first event of a name, which may issue something itself, and the two could run in either order.
func (a *actor) named() bool {
	return len(a.build.params) == 0 && (a.g.profile != Sequential || a.build.emits == 0)
}

// needsNew reports whether making an actor of the class makes others.
func (a *actor) needsNew() bool {
	for _, f := range a.owned {
		if f.typ.kind == actorKind {
			return true
		}
	}
	return len(a.build.params) > 0
}

// fresh returns an expression that makes an actor, with what its constructor takes; "" if that is more than the body may do.
func (b *body) fresh(a *actor) string {
	if !b.client && !b.affords(&method{cost: 3 + a.build.cost, emits: a.build.emits, chain: a.build.chain - 1}) {
		return ""
	}
	var args []string
	for _, p := range a.build.params {
		arg := ""
		switch t := refOf(p.typ); {
		case t == nil:
			arg = b.expr(p.typ, 1)
		case p.typ.kind == vectorKind:
			for range 1 + b.g.upto(1) {
				item := b.actorArgument(t, b.client)
				if item == "" {
					return ""
				}
				arg += ", " + item
			}
			arg = "[" + arg[2:] + "]"
		default:
			arg = b.actorArgument(t, p.yield || b.client)
		}
		if arg == "" {
			return ""
		}
		args = append(args, arg)
	}
	return fmt.Sprintf("new %s(%s)", a.typ.text, strings.Join(args, ", "))
}

// actorArgument returns an actor that there is, or a new one.
func (b *body) actorArgument(t *actor, yield bool) string {
	if r, ok := b.reference(t, yield); ok && !b.g.chance(3) {
		return r
	}
	text := b.fresh(t)
	if b.client && b.g.profile == Sequential && t.build.chain > 1 {
		// What the constructor has issued would run beside the event that gets the actor.
		v := b.g.name("r")
		b.line("%s %s = %s;", t.typ.text, v, text)
		b.settle()
		return v
	}
	return text
}

// ctor writes the constructor, with the initial values of the fields that it does not set.
func (g *gen) ctor(a *actor) {
	b := g.newBody(a.build)
	b.indent, b.building = 2, true
	for _, p := range a.build.params {
		v := *p
		b.vars = append(b.vars, &v)
	}
	var text strings.Builder
	for _, f := range a.fields {
		yield := ""
		if f.yield {
			yield = "yield "
		}
		fmt.Fprintf(&text, "\t%s%s %s%s;\n", yield, f.typ.text, f.name, b.initialise(a, f))
	}
	for _, t := range a.tables {
		text.WriteString(t.decl())
		for range g.upto(3) {
			b.line("%s.put(%s);", t.name, b.newValue(t.row, 0))
		}
	}
	for _, e := range a.extras {
		fmt.Fprintf(&text, "\t%s;\n", e.decl)
		if e.build != nil {
			e.build(b)
		}
	}
	b.actor = a
	for _, p := range b.vars {
		if refOf(p.typ) != nil {
			b.touch(p)
		}
	}
	// Seldom, as a constructor that fails mostly ends the program before anything else has happened.
	if g.chance(15) {
		b.assertMostly()
	}
	if g.chance(5) {
		b.statements(1)
	}
	b.closeScope(0)
	if len(b.lines) > 0 || len(a.build.params) > 0 || g.chance(2) {
		var params []string
		for _, p := range a.build.params {
			params = append(params, p.decl())
		}
		fmt.Fprintf(&text, "\t%s(%s) {\n%s\t}\n", a.typ.text, strings.Join(params, ", "), strings.TrimLeft(b.text(), "\n"))
	}
	a.build.cost, a.build.emits, a.build.chain = b.cost+1, b.emits, b.chain+1
	a.ctorText = text.String()
}

// initialise sets a field in the constructor, or returns what stands behind its declaration.
func (b *body) initialise(a *actor, f *variable) string {
	g, t := b.g, refOf(f.typ)
	if t == a || f.yield {
		return ""
	}
	switch {
	case f.typ.kind == actorKind:
		b.line("%s = %s;", f.name, b.sureActor(t))
	case t != nil && g.rng.IntN(3) == 0:
	case t != nil && f.typ.kind == optionalKind:
		b.line("%s = %s;", f.name, b.sureActor(t))
	case t != nil && f.typ.kind == vectorKind:
		b.line("%s = [%s, %s];", f.name, b.sureActor(t), b.sureActor(t))
	case t != nil:
		b.line("%s[%s] = %s;", f.name, b.keyOf(f.typ.key), b.sureActor(t))
	case f.typ.kind == optionalKind && g.chance(2):
	case g.chance(2):
		return " = " + b.literal(f.typ, 0)
	default:
		b.line("%s = %s;", f.name, b.literal(f.typ, 0))
	}
	return ""
}

// sureActor returns a new actor, or one that the constructor was given: it has to have one.
func (b *body) sureActor(t *actor) string {
	for _, v := range b.vars {
		if v.typ == t.typ && !v.yield && b.g.chance(2) {
			return v.name
		}
	}
	if text := b.fresh(t); text != "" {
		return text
	}
	args := []string{} // beyond what the event should do: the smallest that there is
	for _, p := range t.build.params {
		switch u := refOf(p.typ); {
		case u == nil:
			args = append(args, b.literal(p.typ, 0))
		case p.typ.kind == vectorKind:
			args = append(args, "new "+p.typ.text+"()")
		default:
			args = append(args, b.sureActor(u))
		}
	}
	return fmt.Sprintf("new %s(%s)", t.typ.text, strings.Join(args, ", "))
}

// touch uses an actor, or some, that a constructor was given.
func (b *body) touch(p *variable) {
	g, t := b.g, refOf(p.typ)
	m := t.methods[0] // bump
	on := p.name
	switch {
	case p.yield:
		if b.affords(&method{emits: 1, chain: m.chain}) {
			b.line("event %s.%s(%s);", on, m.name, b.expr(intType, 1))
		}
		return
	case p.typ.kind == vectorKind && g.chance(2):
		e := g.name("e")
		b.block(fmt.Sprintf("for (%s %s : %s)", t.typ.text, e, on), 2, nil, func() {
			b.line("%s%s.%s(%s);", pick(g, []string{"", "async "}), e, m.name, b.literal(intType, 0))
		})
		return
	case p.typ.kind == vectorKind:
		on += "[" + g.index() + "]"
	}
	switch g.upto(4) {
	case 0:
		b.line("async %s.%s(%s);", on, m.name, b.expr(intType, 1))
	case 1:
		b.line("%s += %s.%s(%s);", b.actor.fields[0].name, on, m.name, b.literal(intType, 0))
	case 2:
		b.line("require(%s.audit().size() > 3, \"nothing to see\");", on)
	default:
		b.line("%s.%s(%s);", on, m.name, b.expr(intType, 1))
	}
	b.store(p)
}

// store keeps an actor that a constructor was given, if there is a field for it.
func (b *body) store(p *variable) {
	for _, f := range b.actor.owned {
		if p.typ.kind != actorKind || refOf(f.typ) != p.typ.actor || b.g.chance(2) {
			continue
		}
		switch f.typ.kind {
		case vectorKind:
			b.line("%s.push(%s);", f.name, p.name)
		case mapKind:
			b.line("%s[%s] = %s;", f.name, b.keyOf(f.typ.key), p.name)
		default:
			b.line("%s = %s;", f.name, p.name)
		}
	}
}

// decl returns the declaration of a parameter.
func (v *variable) decl() string {
	if v.yield {
		return "yield " + v.typ.text + " " + v.name
	}
	return v.typ.text + " " + v.name
}
