package generate

import (
	"fmt"
	"strings"
)

// expr returns an expression of the given type, at most depth operators deep.
func (b *body) expr(t *typ, depth int) string {
	g := b.g
	var text string
	set := func(s string) bool { text = s; return true }
	leaf := choice{6, func() bool {
		p, ok := b.some(false, same(t))
		return ok && set(p.text)
	}}
	call := choice{2, func() bool {
		s := b.resultOf(t, depth)
		return s != "" && set(s)
	}}
	ways := []choice{leaf}
	if depth > 0 {
		ways = append(ways, choice{3, func() bool { return set(b.beside(t)) && text != "" }}, call, choice{6, func() bool { return set(b.compound(t, depth-1)) && text != "" }})
		if t.kind != optionalKind {
			ways = append(ways, choice{2, func() bool { return set(b.fromContainer(t, depth-1)) && text != "" }})
		}
	}
	if t.kind == intKind || t.kind == stringKind || t.kind == boolKind || depth <= 0 {
		ways = append(ways, choice{3, func() bool { return set(b.literal(t, depth)) }})
	}
	if g.choose(ways...) {
		return text
	}
	return b.literal(t, depth)
}

// literal returns a value of a type that needs nothing else, or little.
func (b *body) literal(t *typ, depth int) string {
	g := b.g
	inner := func(t *typ) string {
		if depth > 0 {
			return b.expr(t, depth-1)
		}
		return b.literal(t, 0)
	}
	for _, c := range g.consts {
		if c.typ == t && g.chance(3) {
			return c.name
		}
	}
	switch t.kind {
	case intKind:
		return fmt.Sprint(g.rng.IntN(12))
	case sizedKind:
		return fmt.Sprintf("%s(%d)", t.text, g.rng.IntN(9))
	case floatKind:
		return fmt.Sprintf("%d.%d", g.rng.IntN(9), g.rng.IntN(4)*25)
	case boolKind:
		return pick(g, []string{"true", "false"})
	case stringKind:
		return pick(g, []string{`"a"`, `"bc"`, `""`, `"d-e"`, `"12"`, "`raw{x}`", `"\{q\}\t"`, `"\xff"`, `"é\xc3("`})
	case durationKind:
		return pick(g, []string{"1ms", "90s", "2h", "250us"})
	case timeKind:
		return pick(g, []string{"time(0)", "time(90)", "time(1700000000123456789)", "time(-1)"})
	case bytesKind:
		return fmt.Sprintf("bytes(%q)", pick(g, []string{"", "k", "xyz", "\xfe"}))
	case enumKind:
		return pick(g, t.enum.values)
	case classKind:
		return b.newValue(t.class, depth)
	case vectorKind:
		items := make([]string, 1+g.upto(2))
		for i := range items {
			items[i] = inner(t.elem)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case mapKind, setKind:
		return b.container(t, inner)
	case optionalKind:
		if g.chance(2) {
			return "null"
		}
		return inner(t.elem)
	}
	panic("no literals of " + t.text)
}

// container returns a map or set, mostly an empty one. Keys that are constants differ.
func (b *body) container(t *typ, inner func(*typ) string) string {
	if !b.g.chance(3) {
		return "new " + t.text + "()"
	}
	part := func(key string) string { return key }
	key := t.elem
	if t.kind == mapKind {
		key = t.key
		part = func(key string) string { return key + ": " + inner(t.elem) }
	}
	return "[" + part(inner(key)) + "]"
}

func (b *body) newValue(c *class, depth int) string {
	var args []string
	for _, f := range c.fields {
		if depth > 0 {
			args = append(args, b.expr(f.typ, depth-1))
		} else {
			args = append(args, b.literal(f.typ, 0))
		}
	}
	return fmt.Sprintf("new %s(%s)", c.typ.text, strings.Join(args, ", "))
}

// nonConstant returns an int that is not a constant, so that operators on it are not folded; "" if there is none.
func (b *body) nonConstant(t *typ) string {
	if p, ok := b.some(false, same(t)); ok {
		return p.text
	}
	return ""
}

// compound returns an operator or a conversion with a result of the type; "" if there is none.
func (b *body) compound(t *typ, depth int) string {
	switch t.kind {
	case intKind:
		return b.intOperator(depth)
	case sizedKind, floatKind:
		return b.numberOperator(t, depth)
	case boolKind:
		return b.boolOperator(depth)
	case stringKind:
		return b.stringOperator(depth)
	case durationKind:
		if x := b.nonConstant(t); x != "" {
			return pick(b.g, []string{x + " + 1ms", x + " * 2", "2s - " + x, x + " / 3", x + " % 7ms", "-" + x, "max(" + x + ", 5ms)", "(now() - now())"})
		}
	case timeKind:
		if x := b.nonConstant(t); x != "" {
			return pick(b.g, []string{x + " + 1s", x + " - 90s", "max(" + x + ", time(7))", "(parseTime(str(" + x + ")) ?? time(3))"})
		}
	case bytesKind:
		return b.bytesOperator(depth)
	case enumKind:
	case vectorKind:
		return b.vectorOperator(t, depth)
	case classKind, optionalKind, mapKind, setKind:
		return b.literal(t, depth)
	}
	return ""
}

func (b *body) intOperator(depth int) string {
	g := b.g
	x := b.nonConstant(intType)
	y := b.expr(intType, depth)
	switch n := g.upto(21); {
	case n > 17:
		if text := b.rareInt(x, y); text != "" {
			return text
		}
	case n < 8 && x != "":
		op := pick(g, []string{"+", "-", "*", "+", "-", "&", "|", "^"})
		if g.chance(2) {
			x, y = y, x
		}
		return fmt.Sprintf("(%s %s %s)", x, op, y)
	case n < 10 && x != "":
		return fmt.Sprintf("(%s %s %s)", x, pick(g, []string{"/", "%"}), pick(g, []string{"2", "3", "7", "10"}))
	case n == 10 && x != "":
		return fmt.Sprintf("(%s %s %s)", y, pick(g, []string{"/", "%"}), x) // may divide by zero
	case n == 11 && x != "":
		return fmt.Sprintf("(%s << %d)", x, g.upto(4))
	case n == 12 && x != "":
		return fmt.Sprintf("(-%s)", x)
	case n == 13 && x != "":
		return fmt.Sprintf("%s(%s, %s)", pick(g, []string{"min", "max"}), x, y)
	case n == 14 && x != "":
		return fmt.Sprintf("abs(%s)", x)
	case n == 15:
		if p, ok := b.some(false, is(sizedKind)); ok {
			return fmt.Sprintf("int(%s)", p.text)
		}
	case n == 16:
		return fmt.Sprintf("(%s.parseInt() ?? %s)", b.receiver(stringType, depth), y)
	}
	sized := func(t *typ) bool {
		return t.kind == vectorKind || t.kind == mapKind || t.kind == setKind || t.kind == stringKind || t.kind == bytesKind
	}
	if p, ok := b.some(false, sized); ok {
		if g.chance(2) {
			return fmt.Sprintf("len(%s)", p.text)
		}
		return p.text + ".size()"
	}
	return ""
}

// receiver returns an expression that a method can be called on.
func (b *body) receiver(t *typ, depth int) string {
	if p, ok := b.some(false, same(t)); ok {
		return p.text
	}
	return "(" + b.expr(t, depth) + ")"
}

func (b *body) numberOperator(t *typ, depth int) string {
	x := b.nonConstant(t)
	if x == "" {
		if i := b.nonConstant(intType); i != "" {
			if t.kind == floatKind {
				return fmt.Sprintf("float(%s)", i)
			}
			return fmt.Sprintf("%s(abs(%s %% 100))", t.text, i)
		}
		return ""
	}
	if b.g.chance(3) {
		if text := b.rareNumber(t, x); text != "" {
			return text
		}
	}
	if b.g.chance(3) {
		return fmt.Sprintf("%s(%s, %s)", pick(b.g, []string{"min", "max"}), x, b.expr(t, depth))
	}
	return fmt.Sprintf("(%s %s %s)", x, pick(b.g, []string{"+", "-", "*"}), b.expr(t, depth))
}

func (b *body) boolOperator(depth int) string {
	g := b.g
	switch n := g.upto(10); {
	case n == 10:
		if text := b.rareBool(depth); text != "" {
			return text
		}
	case n < 4:
		t := pick(g, []*typ{intType, intType, stringType, floatType, durationType, timeType})
		if x := b.nonConstant(t); x != "" {
			return fmt.Sprintf("(%s %s %s)", x, pick(g, []string{"<", "<=", ">", ">=", "==", "!="}), b.expr(t, depth))
		}
	case n < 6:
		if x := b.nonConstant(boolType); x != "" {
			return fmt.Sprintf("(%s %s %s)", x, pick(g, []string{"&&", "||"}), b.expr(boolType, depth))
		}
	case n == 6:
		if x := b.nonConstant(boolType); x != "" {
			return "!" + x
		}
	case n == 7:
		if p, ok := b.some(false, func(t *typ) bool { return t.kind == mapKind || t.kind == setKind }); ok {
			key := p.typ.key
			if p.typ.kind == setKind {
				key = p.typ.elem
			}
			return fmt.Sprintf("%s.has(%s)", p.text, b.expr(key, depth))
		}
	case n == 8:
		if p, ok := b.some(false, is(vectorKind)); ok {
			return fmt.Sprintf("%s.contains(%s)", p.text, b.expr(p.typ.elem, depth))
		}
	}
	if p, ok := b.some(false, func(t *typ) bool { return t.kind != optionalKind }); ok {
		other := b.expr(p.typ, depth)
		if other == p.text {
			other = b.literal(p.typ, 0)
		}
		return fmt.Sprintf("(%s %s %s)", p.text, pick(g, []string{"==", "!="}), other)
	}
	return ""
}

func (b *body) stringOperator(depth int) string {
	g := b.g
	any := func() string {
		if p, ok := b.some(false, func(*typ) bool { return true }); ok {
			return p.text
		}
		return "0"
	}
	switch g.upto(10) {
	case 7, 8, 9, 10:
		if text := b.rareString(depth); text != "" {
			return text
		}
	case 0, 1:
		return fmt.Sprintf(`"%s{%s}%s"`, pick(g, []string{"", "v", "<"}), any(), pick(g, []string{"", ";", "{1}"}))
	case 2:
		if p, ok := b.some(false, (*typ).hasJSON); ok && g.chance(2) {
			return fmt.Sprintf("json(%s)", p.text)
		}
		return fmt.Sprintf("str(%s)", any())
	case 3:
		return fmt.Sprintf("(%s + %s)", b.expr(stringType, depth), b.expr(stringType, depth))
	case 4:
		return fmt.Sprintf("%s.replace(%s, %s)", b.receiver(stringType, depth), pick(g, []string{`"a"`, `"-"`, `"1"`}), b.expr(stringType, depth))
	case 5:
		if p, ok := b.some(false, same(vectorOf(stringType))); ok {
			return fmt.Sprintf(`%s.join("+")`, p.text)
		}
	}
	if p, ok := b.some(false, same(stringType)); ok {
		return fmt.Sprintf("%s[:%s / 2]", p.text, fmt.Sprintf("len(%s)", p.text))
	}
	return ""
}

func (b *body) vectorOperator(t *typ, depth int) string {
	g := b.g
	var text string
	set := func(s string) bool { text = s; return true }
	g.choose(
		choice{2, func() bool { return set(b.literal(t, depth)) }},
		choice{2, func() bool {
			p, ok := b.some(false, same(t))
			return ok && set(pick(g, []string{p.text + "[:len(" + p.text + ") / 2]", p.text + "[0:]", p.text + ".slice(0, " + p.text + ".size())", p.text + ".reversed()", fmt.Sprintf("%s.limit(%d)", p.text, 1+g.upto(2))}))
		}},
		choice{3, func() bool {
			p, ok := b.some(false, func(u *typ) bool {
				return u.kind == mapKind && (u.key.text == t.elem.text || u.elem.text == t.elem.text)
			})
			if !ok {
				return false
			}
			if p.typ.key.text == t.elem.text {
				return set(p.text + ".keys()")
			}
			return set(p.text + ".values()")
		}},
		choice{3, func() bool {
			p, ok := b.some(false, same(setOf(t.elem)))
			return ok && set(p.text+pick(g, []string{".keys()", ".values()"}))
		}},
		choice{1, func() bool {
			return t.elem.kind == stringKind && set(b.receiver(stringType, depth)+`.split("-")`)
		}},
	)
	return text
}

// fromContainer returns an element, or what an optional holds; "" if there is nothing to take it from.
func (b *body) fromContainer(t *typ, depth int) string {
	p, ok := b.some(false, func(u *typ) bool {
		return u.kind == vectorKind && u.elem.text == t.text || u.kind == mapKind && u.elem.text == t.text || u.kind == optionalKind && u.elem.text == t.text
	})
	if !ok {
		return ""
	}
	if p.root.typ.kind == optionalKind && p.text == p.root.name && p.root.declared >= 0 {
		return "" // a local may be known not to be null
	}
	switch p.typ.kind {
	case optionalKind:
		if b.g.chance(4) {
			return p.text + "!"
		}
		return fmt.Sprintf("(%s ?? %s)", p.text, b.expr(t, depth))
	case mapKind:
		if b.g.chance(4) {
			return fmt.Sprintf("%s[%s]", p.text, b.expr(p.typ.key, depth))
		}
		return fmt.Sprintf("(%s.get(%s) ?? %s)", p.text, b.expr(p.typ.key, depth), b.expr(t, depth))
	}
	if b.g.chance(4) {
		return fmt.Sprintf("%s[%s]", p.text, b.g.index())
	}
	return fmt.Sprintf("%s[len(%s) - 1]", p.text, p.text) // fails only if there are none
}

func (g *gen) index() string { return fmt.Sprint(g.upto(2)) }
