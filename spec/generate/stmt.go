package generate

import (
	"fmt"
	"slices"
	"strings"
)

// statements writes up to n statements.
func (b *body) statements(n int) {
	for range n {
		if b.ended {
			return
		}
		b.statement()
	}
}

func (b *body) statement() {
	ways := []choice{
		{4, b.declareLocal}, {2, b.declareNarrowed}, {6, b.assign}, {3, b.writeInside}, {3, b.mutateContainer}, {2, b.increment}, {4, b.changeUnlessNull}, {6, b.nest},
		{2, b.callValue}, {1, b.check}, {3, b.copyAndWrite},
	}
	if b.indent < 4 && b.cost < costMax/2 {
		ways = append(ways, choice{3, b.branch}, choice{2, b.loop}, choice{2, b.overElements}, choice{1, b.switchOver},
			choice{1, b.matchEnum}, choice{1, b.ifPresent})
	}
	if b.loops > 0 && b.inner {
		ways = append(ways, choice{1, b.jump})
	}
	if b.actor != nil {
		ways = append(ways, choice{6, b.callActor}, choice{2, b.printSome}, choice{5, b.useTable})
		if !b.ro {
			ways = append(ways, choice{3, b.callAsync}, choice{3, b.emit}, choice{5, b.changeOwnership}, choice{3, b.callHelper})
		}
	}
	b.g.choose(ways...)
}

func (b *body) declareLocal() bool {
	g := b.g
	t := g.value(2)
	v := &variable{name: g.name(t.text[:1]), typ: t, writable: t.kind != optionalKind}
	if v.name[0] >= 'A' && v.name[0] <= 'Z' {
		v.name = g.name("v")
	}
	init := b.expr(t, 2)
	if t.kind == optionalKind {
		p, ok := b.some(false, same(t)) // a constant would narrow it
		if !ok {
			return false
		}
		init = p.text
		if p.text == p.root.name && p.root.declared >= 0 {
			return false
		}
	}
	switch {
	case g.chance(6) && t.kind != optionalKind:
		b.line("%s %s;", t.text, v.name)
		b.block("if ("+b.expr(boolType, 1)+")", 1, nil, func() { b.line("%s = %s;", v.name, init) })
		b.lines[len(b.lines)-1] += " else {"
		b.nested(1, nil, func() { b.line("%s = %s;", v.name, b.literal(t, 0)) })
		b.line("}")
	case g.chance(6) && (t.kind == intKind || t.kind == stringKind || t.kind == boolKind || t.kind == classKind):
		b.line("var %s = %s;", v.name, init)
	default:
		b.line("%s %s = %s;", g.spelt(t), v.name, init)
	}
	b.declare(v)
	return true
}

// declareNarrowed declares an optional local that is not null, so that it is read, written and called as if it were none.
func (b *body) declareNarrowed() bool {
	p, ok := b.some(false, func(t *typ) bool { return t.kind == classKind || t.kind == vectorKind || t.kind == mapKind })
	if !ok {
		return false
	}
	v := &variable{name: b.g.name("narrowed"), typ: p.typ, writable: true, narrowed: true}
	b.line("%s? %s = %s;", p.typ.text, v.name, p.text)
	b.declare(v)
	switch p.typ.kind {
	case classKind:
		return b.writePart(v.name, p.typ.class)
	case vectorKind:
		b.line("%s.push(%s);", v.name, b.expr(p.typ.elem, 1))
	default:
		b.line("%s[%s] = %s;", v.name, b.expr(p.typ.key, 1), b.expr(p.typ.elem, 1))
	}
	return true
}

// target returns a place to write, and its type.
func (b *body) target(wanted func(*typ) bool) (string, *typ, bool) {
	p, ok := b.some(true, wanted)
	if !ok {
		return "", nil, false
	}
	if b.class != nil && p.root.declared < 0 && !b.fn.mutates && b.isField(p.root) {
		return "", nil, false
	}
	return p.text, p.typ, true
}

func (b *body) isField(v *variable) bool {
	for _, f := range b.fields() {
		if f == v {
			return true
		}
	}
	return false
}

func (b *body) assign() bool {
	g := b.g
	text, t, ok := b.target(func(t *typ) bool { return t.kind != optionalKind || b.actor != nil })
	if ok && slices.ContainsFunc(b.vars, func(v *variable) bool { return v.narrowed && v.name == text }) {
		return false
	}
	if !ok {
		return false
	}
	value := b.expr(t, 2)
	if value == text {
		return false
	}
	op := "="
	switch t.kind {
	case intKind, floatKind:
		if g.chance(5) {
			b.line("%s %s;", text, pick(g, rareOps[t.kind]))
			return true
		}
		op = pick(g, []string{"=", "+=", "-=", "=", "*="})
	case stringKind:
		op = pick(g, []string{"=", "+="})
	}
	if (t.kind == vectorKind || t.kind == mapKind) && g.chance(2) {
		index := g.index()
		if t.kind == mapKind {
			index = b.expr(t.key, 1)
		} else if g.chance(2) {
			index = fmt.Sprintf("len(%s) - 1", text)
		}
		b.line("%s[%s] = %s;", text, index, b.expr(t.elem, 2))
		return true
	}
	b.line("%s %s %s;", text, op, value)
	return true
}

func (b *body) increment() bool {
	text, _, ok := b.target(is(intKind))
	if !ok {
		return false
	}
	b.line("%s%s;", text, pick(b.g, []string{"++", "--"}))
	return true
}

func (b *body) mutateContainer() bool {
	text, t, ok := b.target(func(t *typ) bool {
		return t.kind == vectorKind || t.kind == mapKind || t.kind == setKind || t.kind == bytesKind
	})
	if !ok {
		return false
	}
	b.mutate(text, t)
	return true
}

// mutate changes a container in place.
func (b *body) mutate(text string, t *typ) {
	g := b.g
	switch t.kind {
	case vectorKind:
		switch n := g.upto(9); {
		case n < 5:
			b.line("%s.push(%s);", text, b.expr(t.elem, 2))
		case n < 6:
			b.line("%s.pop();", text)
		case n < 7:
			b.line("%s.insert(0, %s);", text, b.expr(t.elem, 1))
		case n < 8 && t.elem.ordered():
			b.line("%s.sort();", text)
		case n < 8 && t.elem.kind == classKind && t.elem.class.orderly() != "":
			b.line("%s.sort(%s);", text, t.elem.class.orderly())
		case n < 9:
			b.line("%s.remove(%s);", text, g.index())
		default:
			b.line("%s.clear();", text)
		}
	case mapKind:
		switch n := g.upto(7); {
		case n < 5:
			b.line("%s[%s] = %s;", text, b.expr(t.key, 1), b.expr(t.elem, 2))
		case n < 7:
			b.line("%s.remove(%s);", text, b.expr(t.key, 1))
		default:
			b.line("%s.clear();", text)
		}
	case setKind:
		if g.chance(8) {
			b.line("%s.clear();", text)
			return
		}
		b.line("%s.%s(%s);", text, pick(g, []string{"insert", "insert", "insert", "remove"}), b.expr(t.elem, 1))
	case bytesKind:
		b.line("%s%s", text, pick(g, []string{".push('x');", ".push('x');", "[0] = 'y';", ".pop();", ".clear();"}))
	}
}

func (b *body) callValue() bool {
	list := b.valueCallees(func(*method) bool { return true })
	if len(list) == 0 {
		return false
	}
	s := b.call(pick(b.g, list), 1)
	if s == "" {
		return false
	}
	b.line("%s;", s)
	return true
}

// callHelper calls what acts for the actor.
func (b *body) callHelper() bool {
	list := b.valueCallees(func(m *method) bool { return m.acts })
	if len(list) == 0 {
		return false
	}
	s := b.call(pick(b.g, list), 1)
	if s == "" {
		return false
	}
	b.line("%s;", s)
	return true
}

func (b *body) check() bool {
	x := b.condition()
	if b.inner && b.g.chance(4) {
		b.line("abort \"gone wrong at {%s}\";", b.expr(intType, 1))
		b.ended = true
		return true
	}
	if b.g.chance(5) {
		b.line("assert(%s);", x)
		return true
	}
	if b.g.chance(3) {
		b.line("require(%s, \"must hold: {%s}\");", x, b.expr(stringType, 1))
	} else {
		b.line("require(%s || %s, %q);", x, b.condition(), "one of both")
	}
	return true
}

// assertMostly writes an assertion that fails now and then.
func (b *body) assertMostly() {
	x := b.nonConstant(intType)
	if x == "" {
		return
	}
	b.line("%s(%s %% 7 != %d, \"%s of {%s}\");", pick(b.g, []string{"assert", "require"}), x, 1+b.g.upto(5), b.g.name("check"), x)
}

// condition returns a bool that is no constant, if anything is in reach.
func (b *body) condition() string {
	for range 4 {
		if s := b.boolOperator(1); s != "" {
			return s
		}
	}
	return b.expr(boolType, 2)
}

func (b *body) branch() bool {
	b.block("if ("+b.condition()+")", 1, nil, func() { b.statements(1 + b.g.upto(2)) })
	if b.g.chance(6) {
		b.lines[len(b.lines)-1] += " else if (" + b.condition() + ") {"
		b.nested(1, nil, func() { b.statements(1) })
		b.line("}")
	}
	if b.g.chance(2) {
		b.lines[len(b.lines)-1] += " else {"
		b.nested(1, nil, func() { b.statements(1 + b.g.upto(1)) })
		b.line("}")
	}
	return true
}

// loop writes a loop over numbers, which ends after three rounds at the latest.
func (b *body) loop() bool {
	g := b.g
	rounds := 1 + g.upto(2)
	i := &variable{name: g.name("i"), typ: intType, declared: -1}
	forward := func() {}
	content := func() {
		forward()
		b.loops++
		b.statements(1 + g.upto(2))
		b.loops--
	}
	switch g.upto(3) {
	case 3:
		forever := pick(g, []string{"for (;;)", "while (true)", "for (int %s = 0;; %s++)"})
		if strings.Contains(forever, "%s") {
			forever = fmt.Sprintf(forever, i.name, i.name)
		} else {
			b.line("int %s = 0;", i.name)
		}
		b.block(forever, rounds, []*variable{i}, func() {
			if !strings.Contains(forever, i.name) {
				b.line("%s++;", i.name)
			}
			b.line("if (%s > %d) {\n\t\t\t\tbreak;\n\t\t\t}", i.name, rounds)
			content()
		})
	case 0:
		if g.chance(2) {
			if g.chance(2) {
				i.typ = pick(g, sizedTypes)
			}
			forward = func() { b.forward(i) }
		}
		b.block(fmt.Sprintf("for (%s %s = 0 upto %d)", i.typ.text, i.name, rounds), rounds, []*variable{i}, content)
	case 1:
		b.block(fmt.Sprintf("for (int %s = 0; %s < %d; %s++)", i.name, i.name, rounds, i.name), rounds, []*variable{i}, content)
	default:
		b.line("int %s = 0;", i.name)
		b.block(fmt.Sprintf("while (%s < %d && %s)", i.name, rounds, b.condition()), rounds, []*variable{i}, func() {
			b.line("%s++;", i.name)
			content()
		})
		b.vars = append(b.vars, i)
	}
	return true
}

// orderly returns the fields of a class by which objects can be sorted, with commas.
func (c *class) orderly() string {
	var names []string
	for _, f := range c.fields {
		if f.typ.ordered() {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

// overElements writes a loop over a container, which may change meanwhile.
func (b *body) overElements() bool {
	g := b.g
	p, ok := b.some(false, func(t *typ) bool { return t.kind == vectorKind || t.kind == setKind || t.kind == mapKind })
	if !ok || b.times > 3 {
		return false
	}
	over, elem := p.text, p.typ.elem
	if p.typ.kind == mapKind && g.chance(2) {
		k, v := &variable{name: g.name("e"), typ: p.typ.key, declared: -1}, &variable{name: g.name("e"), typ: elem, declared: -1, writable: elem.kind != optionalKind}
		b.block(fmt.Sprintf("for (%s %s, %s %s : %s)", k.typ.text, k.name, elem.text, v.name, over), 4, []*variable{k, v}, func() {
			b.loops++
			b.statements(1 + g.upto(1))
			b.loops--
		})
		return true
	}
	if p.typ.kind == mapKind {
		over, elem = over+".keys()", p.typ.key
	}
	v := &variable{name: g.name("e"), typ: elem, declared: -1, writable: elem.kind != optionalKind}
	b.block(fmt.Sprintf("for (%s %s : %s)", elem.text, v.name, over), 4, []*variable{v}, func() {
		b.loops++
		b.statements(1 + g.upto(1))
		b.loops--
	})
	return true
}

func (b *body) jump() bool {
	b.block("if ("+b.condition()+")", 1, nil, func() { b.line("%s;", pick(b.g, []string{"break", "continue"})) })
	return true
}

func (b *body) switchOver() bool {
	t := pick(b.g, []*typ{intType, stringType, intType, stringType, boolType, sizedTypes[1], durationType})
	x := b.nonConstant(t)
	if x == "" {
		return false
	}
	cases := []string{"0", "1, 2", "7"}
	if t == stringType {
		cases = []string{`"a"`, `"bc", "12"`, `""`}
	}
	switch t {
	case boolType:
		cases = []string{"true", b.condition(), "false"}
	case durationType:
		cases = []string{"1ms", "90s, 2h", "0s"}
	}
	loops := b.loops
	b.loops = 0 // break would leave the switch
	b.line("switch (%s) {", x)
	for _, c := range append(cases[:1+b.g.upto(2)], "") {
		if c == "" {
			b.line("default:")
		} else {
			b.line("case %s:", c)
		}
		b.nested(1, nil, func() {
			if b.g.chance(5) {
				b.block("if ("+b.condition()+")", 1, nil, func() { b.line("break;") })
			}
			b.statements(1 + b.g.upto(1))
		})
	}
	b.line("}")
	b.loops = loops
	return true
}

func (b *body) matchEnum() bool {
	p, ok := b.some(false, is(enumKind))
	if !ok {
		return false
	}
	loops := b.loops
	b.loops = 0
	b.line("match (%s) {", p.text)
	values := p.typ.enum.values
	switch b.g.upto(4) {
	case 0:
		values = append([]string{values[0] + ", " + values[1]}, values[2:]...)
	case 1:
		values = []string{values[0], ""}
	}
	for _, v := range values {
		if v == "" {
			b.line("default:")
		} else {
			b.line("case %s:", v)
		}
		b.nested(1, nil, func() { b.statements(1) })
	}
	b.line("}")
	b.loops = loops
	return true
}

// ifPresent looks into an optional.
func (b *body) ifPresent() bool {
	g := b.g
	p, ok := b.some(false, func(t *typ) bool { return t.kind == optionalKind || t.kind == mapKind })
	if !ok || p.typ.elem.kind == actorKind {
		return false
	}
	text := p.text
	if p.typ.kind == mapKind {
		text = fmt.Sprintf("%s.get(%s)", text, b.expr(p.typ.key, 1))
	} else if !strings.Contains(text, ".") && !b.isField(p.root) {
		return false
	}
	elem := p.typ.elem
	if elem.kind == optionalKind { // the values of a map: what get yields is null for two reasons
		elem = elem.elem
	}
	v := &variable{name: g.name("p"), typ: elem, declared: -1}
	b.block(fmt.Sprintf("if (%s %s = %s)", elem.text, v.name, text), 1, nil, func() {
		b.declare(v)
		b.statements(1 + g.upto(1))
	})
	return true
}

func (b *body) printSome() bool {
	if b.g.chance(5) {
		b.line("log(%s, %s);", b.expr(b.g.scalar(), 1), b.literal(stringType, 0))
		return true
	}
	if b.g.profile == Concurrent && !b.g.chance(6) {
		return false
	}
	p, ok := b.some(false, func(*typ) bool { return true })
	if !ok {
		return false
	}
	b.line("print(%q, %s, %s);", b.g.name("at"), p.text, b.expr(b.g.scalar(), 2))
	return true
}
