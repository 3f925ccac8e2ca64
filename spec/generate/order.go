package generate

import (
	"fmt"
	"strings"
)

// What shows in which order operands are evaluated, and what has a copy: reads beside calls that write what is read, and copies of
// what is written afterwards.

// takeText returns a method that writes every field, and what it is.
func (g *gen) takeText(fields []*variable) *method {
	m := &method{name: g.name("take"), result: intType, cost: 2, chain: 1, takes: true, params: []*variable{{name: "by", typ: intType}}}
	b := g.newBody(m)
	b.indent = 2
	for i, f := range fields {
		if i == 0 || !g.chance(4) {
			b.disturb(f.name, f.typ)
		}
	}
	b.line("return by %% 3;")
	m.text = fmt.Sprintf("\tint %s(int by) {\n%s\t}\n", m.name, b.text())
	return m
}

// disturb writes a place, in place if it has parts.
func (b *body) disturb(text string, t *typ) {
	switch t.kind {
	case intKind:
		b.line("%s = %s %% 1000 * 2 + by %% 9;", text, text)
	case floatKind:
		b.line("%s = %s / 2.0 + 1.0;", text, text)
	case boolKind:
		b.line("%s = !%s;", text, text)
	case stringKind:
		b.line("%s = \"{%s.size() %% 10}x\";", text, text)
	case durationKind:
		b.line("%s = %s / 2 + 1ms;", text, text)
	case timeKind:
		b.line("%s = %s + 1s;", text, text)
	case bytesKind:
		b.line("%s.push('t');", text)
	case vectorKind:
		b.line("%s.push(%s);", text, b.literal(t.elem, 0))
	case mapKind:
		b.line("%s[%s] = %s;", text, b.literal(t.key, 0), b.literal(t.elem, 0))
	case setKind:
		b.line("%s.insert(%s);", text, b.literal(t.elem, 0))
	case classKind:
		f := pick(b.g, t.class.fields)
		b.disturb(text+"."+f.name, f.typ)
	default:
		b.line("%s = %s;", text, b.literal(t, 0))
	}
}

// take is a call that writes what the paths lead to.
type take struct {
	call  string
	reads []path
}

// takeOf returns a call of a method that writes every field of something in reach, and these; ok is false if there is none.
func (b *body) takeOf() (t take, ok bool) {
	g := b.g
	type found struct {
		m      *method
		on     string
		fields []*variable
		root   *variable
	}
	var list []found
	add := func(methods []*method, on string, fields []*variable, root *variable) {
		for _, m := range methods {
			if m.takes && m != b.fn {
				list = append(list, found{m, on, fields, root})
			}
		}
	}
	if b.actor != nil && !b.ro {
		add(b.actor.methods, pick(g, []string{"", "this."}), b.actor.fields, nil)
	}
	if b.class != nil && b.fn.mutates {
		add(b.class.methods, pick(g, []string{"", "this."}), b.class.fields, nil)
	}
	for _, p := range b.paths(true, is(classKind)) {
		if b.class == nil || b.fn.mutates || !b.isField(p.root) {
			add(p.typ.class.methods, p.text+".", p.typ.class.fields, p.root)
		}
	}
	if len(list) == 0 {
		return take{}, false
	}
	f := pick(g, list)
	if !b.affords(f.m) {
		return take{}, false
	}
	prefix := f.on
	if prefix == "" && g.chance(2) {
		prefix = "this."
	}
	for _, v := range f.fields {
		if !v.yield && !v.typ.isReference() {
			t.reads = b.extend(t.reads, path{prefix + v.name, v.typ, v}, 1, func(*typ) bool { return true })
		}
	}
	t.call = fmt.Sprintf("%s%s(%d)", f.on, f.m.name, g.upto(9))
	return t, true
}

// read returns a path of a type that is wanted, "" if there is none.
func (t take) read(g *gen, wanted func(*typ) bool) (path, bool) {
	var list []path
	for _, p := range t.reads {
		if wanted(p.typ) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return path{}, false
	}
	return pick(g, list), true
}

// number returns an int that is made of what a call writes.
func (t take) number(b *body) string {
	g := b.g
	p, ok := t.read(g, func(u *typ) bool { return u.kind != optionalKind })
	if !ok {
		return ""
	}
	ways := []string{"str($).size()", "\"{$}\".size()"}
	switch p.typ.kind {
	case intKind:
		ways = []string{"$", "$", "(-$)", "min($, 9)", "abs($)"}
	case sizedKind:
		ways = []string{"int($)"}
	case floatKind:
		ways = append(ways, "int($)")
	case durationKind:
		ways = []string{"int($ / 1ms)"}
	case timeKind:
		ways = []string{"$.second()", "int(($ - time(0)) / 1s)"}
	case stringKind:
		ways = []string{"len($)", "$.size()", "int($[len($) - 1])", "bytes($).size()"}
	case vectorKind:
		ways = append(ways, "len($)", "$.size()")
		if p.typ.elem.kind == intKind {
			ways = append(ways, "$[0]", "$[len($) - 1]")
		}
	case mapKind:
		ways = append(ways, "len($)", "$.size()", "len($.keys())")
		if p.typ.elem.kind == intKind {
			ways = append(ways, "($.get("+b.literal(p.typ.key, 0)+") ?? 7)")
		}
	case setKind, bytesKind:
		ways = append(ways, "len($)", "$.size()")
	}
	return strings.ReplaceAll(pick(g, ways), "$", p.text)
}

// beside returns an expression of a type whose operands read what a call between them writes; "" if there is none.
func (b *body) beside(t *typ) string {
	g := b.g
	k, ok := b.takeOf()
	if !ok {
		return ""
	}
	var ways []string
	n, m := k.number(b), k.number(b)
	x, _ := k.read(g, func(*typ) bool { return true })
	y, same := k.read(g, same(t))
	if n == "" {
		return ""
	}
	switch t.kind {
	case intKind:
		ways = append(ways, "($n + $c)", "($c - $n)", "($n * 2 + $c)", "max($n, $c)", "[$n, $c, $m][0]", "($n + $c + $m)", "[$n: $c + 1].keys()[0]", "($n % 5 << abs($c))")
	case stringKind:
		ways = append(ways, `"{$x}{$c}{$x}"`, `"{$n}{$c}"`, "(str($x) + str($c))", `[str($x), str($c), "{$x}"].join(";")`, `("{$x}:" + "{$c}")`, "str([$n, $c, $m])")
		if same {
			ways = append(ways, `("<{$y}" + "{$c}")`, `("{$y}" + str($c))`, `(str($y) + "{$c}")`, `("{$y}{$x}" + "{$y}{$c}")`, `$y.replace("a", "{$c}")`, "($y + str($c))", "$y[:min(len($y), abs($c))]")
		}
	case boolKind:
		ways = append(ways, "($n < $c)", "($n == $c + $m)", "(str($x) == str($c * 0) + str($x))", "(($n > 2) == ($c > 1))")
		if v, ok := k.read(g, func(u *typ) bool { return u.kind == vectorKind && u.elem.kind == intKind }); ok {
			ways = append(ways, v.text+".contains($c)", v.text+".contains("+v.text+"[$c * 0])")
		}
		if v, ok := k.read(g, func(u *typ) bool { return u.kind != optionalKind }); ok {
			ways = append(ways, "("+v.text+" == ["+v.text+"][$c * 0])")
		}
	case floatKind:
		ways = append(ways, "(float($n) + float($c))")
		if same {
			ways = append(ways, "($y + float($c))", "(float($c) - $y)", "min($y, float($c))")
		}
	case durationKind:
		if same {
			ways = append(ways, "($y + 1ms * $c)", "(1s * $c - $y)", "max($y, 2ms * $c)")
		}
	case timeKind:
		if same {
			ways = append(ways, "($y + 1ms * $c)", "(1ms * $c + $y)", "max($y, time($c))")
		}
	case classKind:
		ways = append(ways, k.object(b, t.class))
	case vectorKind:
		if t.elem.kind == intKind {
			ways = append(ways, "[$n, $c, $m]")
		}
		if e, ok := k.read(g, func(u *typ) bool { return u.text == t.elem.text }); ok && t.elem.kind != optionalKind {
			ways = append(ways, "["+e.text+", ["+e.text+"][$c * 0]]")
		}
		if same {
			ways = append(ways, "$y[:min(len($y), abs($c))]", "$y.limit(abs($c))")
		}
	}
	if same && t.kind != optionalKind {
		ways = append(ways, "[$y][$c * 0]", "[$y, $y][abs($c) % 2]")
	}
	if len(ways) == 0 {
		return ""
	}
	return strings.NewReplacer("$n", n, "$m", m, "$c", k.call, "$x", x.text, "$y", y.text).Replace(pick(g, ways))
}

// object returns a new object of parts that the call writes, which stands beside them if it can.
func (t take) object(b *body, c *class) string {
	var args []string
	called := false
	for i, f := range c.fields {
		p, ok := t.read(b.g, same(f.typ))
		switch {
		case f.typ.kind == intKind && !called && i > 0:
			args, called = append(args, t.call), true
		case ok:
			args = append(args, p.text)
		default:
			args = append(args, b.literal(f.typ, 0))
		}
	}
	text := fmt.Sprintf("new %s(%s)", c.typ.text, strings.Join(args, ", "))
	if !called {
		return "[" + text + "][" + t.call + " * 0]"
	}
	return text
}

// weighMethod writes a method that keeps what such expressions yield, and returns it.
func (g *gen) weighMethod(a *actor) {
	m := &method{name: g.name("weigh"), actor: a, result: stringType, params: []*variable{}}
	b := g.newBody(m)
	b.actor, b.indent = a, 2
	text := ""
	for range 3 + g.upto(3) {
		t := pick(g, []*typ{intType, stringType, boolType, floatType, g.value(1), g.value(2)})
		x := b.beside(t)
		if x == "" {
			continue
		}
		v := &variable{name: g.name("v"), typ: t, declared: -1}
		b.line("%s %s = %s;", t.text, v.name, x)
		b.vars = append(b.vars, v)
		text += " {" + v.name + "}"
	}
	if text == "" {
		return
	}
	b.line("return \"%s\";", text[1:])
	b.ended = true
	g.finish(m, b)
	a.methods = append(a.methods, m)
}

// copyAndWrite writes a copy of something with parts, then one of the two, and puts what it has copied elsewhere.
func (b *body) copyAndWrite() bool {
	g := b.g
	text, t, ok := b.target(func(t *typ) bool {
		return t.kind == vectorKind || t.kind == mapKind || t.kind == setKind || t.kind == bytesKind
	})
	if !ok {
		return false
	}
	from, u := text, t
	if t.kind == vectorKind && (t.elem.kind == vectorKind || t.elem.kind == mapKind) && g.chance(2) { // a part, which is written where it is
		from, u = text+"[len("+text+") - 1]", t.elem
	}
	v := &variable{name: g.name("was"), typ: u, writable: true}
	b.line("%s %s = %s;", u.text, v.name, from)
	b.declare(v)
	for range 1 + g.upto(1) {
		b.mutate(pick(g, []string{from, from, v.name}), u)
	}
	if w, ok := b.some(true, same(u)); ok && g.chance(2) && w.text != v.name && !b.fixed(w) {
		b.line("%s = %s;", w.text, v.name)
		b.mutate(pick(g, []string{from, v.name, w.text}), u)
	}
	if g.chance(4) {
		b.line("require(%s, \"{%s}\");", b.condition(), v.name)
	}
	return true
}

// fixed reports whether a path leads to what the method must not write.
func (b *body) fixed(p path) bool {
	return b.class != nil && !b.fn.mutates && b.isField(p.root) || p.root.narrowed && p.text == p.root.name
}
