package generate

import (
	"fmt"
	"strings"
)

// What a program has now and then: operators, conversions and places to write that no other statement needs.

// rareOps are assignments with an operator, by the kind of what is written.
var rareOps = map[kind][]string{
	intKind:   {"/= 2", "%= 7", "&= 15", "|= 8", "^= 5", "&^= 3", "<<= 1", ">>= 1"},
	floatKind: {"/= 2.0", "/= 1e3", "-= .5", "*= 0x1p-2"},
}

// rareInt returns a number from x, which is no constant or "", or from another type.
func (b *body) rareInt(x, y string) string {
	var ways []string
	if x != "" {
		ways = append(ways, "($x >> 2)", "($x &^ 6)", "(^$x)", "(+$x)", "min($x, $y, 9)", "max(3, $x, $y)", "(0x1F & $x)", "($x ^ 0b1_01)")
	}
	from := func(t *typ, text string) {
		if p, ok := b.some(false, same(t)); ok {
			ways = append(ways, strings.ReplaceAll(text, "$", p.text))
		}
	}
	from(floatType, "int($)")
	from(durationType, "int($ / 1ms)")
	from(timeType, "$.second()")
	from(bytesType, "int($[0])")
	from(stringType, "int($[len($) - 1])")
	from(stringType, "(parseInt($) ?? 4)")
	from(stringType, `($.find("-") ?? 3)`)
	if part := pick(b.g, []string{"year", "month", "day", "hour", "minute", "second", "weekday"}); x != "" {
		ways = append(ways, "time($x)."+part+"()", "(timeOf(1999 + ($x & 3), 2, 29 - ($x & 1), 23, $x & 63, 0) ?? time($y))."+part+"()",
			pick(b.g, []string{"parseTime(str(time($x)))!.", "str(time($x)).parseTime()!."})+part+"()")
	}
	if b.actor != nil {
		for _, t := range b.actor.tables {
			ways = append(ways, "len("+t.name+".keys())", t.name+".keys().size()", "len("+t.name+".keys()) * 2", t.name+".keys().size()")
		}
	}
	if len(ways) == 0 {
		return ""
	}
	return strings.NewReplacer("$x", x, "$y", y).Replace(pick(b.g, ways))
}

// rareNumber returns a number of a sized or floating type.
func (b *body) rareNumber(t *typ, x string) string {
	if t.kind == floatKind {
		if p, ok := b.some(false, same(stringType)); ok && !b.g.chance(4) {
			return fmt.Sprintf("(%s.parseFloat() ?? 0.5)", p.text)
		}
		return fmt.Sprintf(pick(b.g, []string{"(%s / 4.0)", "abs(%s)", "(-%s)", "min(%s, 1.5, 2.0)", "(%s + min(0.1, 1.0) * 3.0)", "(parseFloat(str(%s)) ?? 1.5)"}), x)
	}
	return fmt.Sprintf(pick(b.g, []string{"(%s / 2)", "(%s %% 5)", "(%s >> 1)", "(%s << 1)", "(%s & 7)", "(%s | 1)", "(^%s)", "(%s &^ 2)"}), x)
}

// rareBool returns what is known beforehand in part: nothing may depend on when an event runs.
func (b *body) rareBool(depth int) string {
	g := b.g
	ways := []string{"(random() < 1.0)"}
	if b.actor != nil {
		ways = append(ways, "(eventid() == eventid())", "(now() <= now())", `((key() ?? "none").size() > 0)`)
		for _, f := range b.actor.owned {
			if f.typ.kind == vectorKind {
				ways = append(ways, fmt.Sprintf("(%s[%s] == %s[0])", f.name, g.index(), f.name), fmt.Sprintf("%s.contains(%s[0])", f.name, f.name))
			}
		}
	}
	if p, ok := b.some(false, same(stringType)); ok {
		ways = append(ways, fmt.Sprintf("%s.contains(%s)", p.text, b.expr(stringType, depth)), fmt.Sprintf("contains(%s, %s)", p.text, b.literal(stringType, 0)), fmt.Sprintf("(%s >= %s)", p.text, b.expr(stringType, depth)),
			fmt.Sprintf("%s.startsWith(%s)", p.text, b.expr(stringType, depth)), fmt.Sprintf("%s.endsWith(%s)", p.text, b.literal(stringType, 0)))
	}
	if p, ok := b.some(false, func(t *typ) bool { return t.kind != optionalKind && t.hasJSON() }); ok {
		ways = append(ways, fmt.Sprintf("(parseJson<%s>(json(%s)) == %s)", p.typ.text, p.text, p.text), fmt.Sprintf("(parseJson<%s>(%s) != null)", p.typ.text, b.expr(stringType, depth)),
			fmt.Sprintf(`(parseJson<%s>(json(%s).replace(%s, "1")) == %[2]s)`, p.typ.text, p.text, pick(g, []string{`"0"`, `"a"`, `"[]"`, `"\{\}"`, `"false"`})))
	}
	return pick(g, ways)
}

// rareString returns a string made of bytes, or of a part of another one.
func (b *body) rareString(depth int) string {
	if p, ok := b.some(false, same(bytesType)); ok {
		return fmt.Sprintf("string(%s)", p.text)
	}
	if p, ok := b.some(false, func(t *typ) bool { return t.kind == intKind || t.kind == sizedKind || t.kind == floatKind }); ok && b.g.chance(3) {
		if p.typ.kind == floatKind {
			return fmt.Sprintf("%s.format(%d)", p.text, b.g.upto(3))
		}
		return fmt.Sprintf("%s.format(%s, %d)", p.text, pick(b.g, []string{"10", "16", "2", "36"}), b.g.upto(5))
	}
	if p, ok := b.some(false, same(stringType)); ok {
		return pick(b.g, []string{"replace(" + p.text + `, "a", "b")`, "join(split(" + p.text + `, "-"), "+")`, p.text + `.split("").join("_")`, p.text + "[1:]", p.text + "[:]", fmt.Sprintf("%s[len(%s) / 2:]", p.text, p.text), "string(bytes(" + p.text + "))",
			p.text + ".trim()", p.text + ".lower()", p.text + ".upper()", fmt.Sprintf("%s[:len(%s) / 4].repeat(%d)", p.text, p.text, b.g.upto(4))})
	}
	return ""
}

// bytesOperator returns bytes made of a string, or a part of others.
func (b *body) bytesOperator(depth int) string {
	if p, ok := b.some(false, same(bytesType)); ok && b.g.chance(2) {
		return pick(b.g, []string{p.text + "[:len(" + p.text + ") / 2]", p.text + "[1:]", p.text + "[:]"})
	}
	return fmt.Sprintf("bytes(%s)", b.expr(stringType, depth))
}

// spelt returns a type as it is written somewhere: vectors have two ways.
func (g *gen) spelt(t *typ) string {
	if t.kind == vectorKind && t.elem.kind != optionalKind && g.chance(4) {
		return t.elem.text + "[]"
	}
	return t.text
}

// inside returns the place of a value within a container or an optional that can be written.
func (b *body) inside(wanted func(*typ) bool) (string, *typ, bool) {
	text, t, ok := b.target(func(t *typ) bool {
		return (t.kind == vectorKind || t.kind == mapKind || t.kind == optionalKind) && wanted(t.elem)
	})
	if !ok {
		return "", nil, false
	}
	switch t.kind {
	case optionalKind:
		if !strings.Contains(text, ".") && b.actor == nil {
			return "", nil, false // a local may be known not to be null
		}
		text += "!"
	case mapKind:
		text += "[" + b.keyIn(t, text) + "]"
	default:
		text += "[" + pick(b.g, []string{"0", "len(" + text + ") - 1"}) + "]"
	}
	return text, t.elem, true
}

// keyIn returns a key that a map may well have.
func (b *body) keyIn(t *typ, text string) string {
	if b.g.chance(2) {
		return b.expr(t.key, 1)
	}
	return text + ".keys()[0]"
}

// writeInside writes a part of what a container or an optional holds, in place, or has a method do it.
func (b *body) writeInside() bool {
	text, t, ok := b.inside(func(t *typ) bool { return t.kind == classKind || t.kind == vectorKind || t.kind == mapKind })
	if !ok {
		return false
	}
	switch t.kind {
	case vectorKind:
		b.line("%s.push(%s);", text, b.expr(t.elem, 1))
	case mapKind:
		b.line("%s[%s] = %s;", text, b.expr(t.key, 1), b.expr(t.elem, 1))
	default:
		return b.writePart(text, t.class)
	}
	return true
}

// writePart writes a field of a value at a place, or calls a method of it.
func (b *body) writePart(text string, c *class) bool {
	g := b.g
	for _, m := range c.methods {
		if m == b.fn || m.acts || !g.chance(2) {
			continue
		}
		on := text
		if strings.HasSuffix(on, "!") && g.chance(2) {
			on = strings.TrimSuffix(on, "!") + "?"
		}
		if call := b.call(callee{m: m, on: on + "."}, 1); call != "" {
			b.line("%s;", call)
			return true
		}
	}
	f := pick(g, c.fields)
	switch {
	case f.typ.kind == intKind && g.chance(2):
		b.line("%s.%s%s", text, f.name, pick(g, []string{"++;", "--;", " += 3;", " *= 2;", " &= 7;"}))
	case f.typ.kind == vectorKind && g.chance(2):
		b.line("%s.%s.push(%s);", text, f.name, b.expr(f.typ.elem, 1))
	default:
		b.line("%s.%s = %s;", text, f.name, b.expr(f.typ, 1))
	}
	return true
}

// forward writes an assignment of the variable of a loop, which brings it nearer to its end, or beyond.
func (b *body) forward(i *variable) {
	to := b.expr(i.typ, 1)
	if b.g.chance(6) {
		to = greatest[i.typ.text]
	}
	b.block("if ("+b.condition()+")", 1, nil, func() {
		b.line("%s", pick(b.g, []string{i.name + "++;", i.name + " += 2;", fmt.Sprintf("%s = max(%[1]s, %s);", i.name, to)}))
	})
}

// greatest are the greatest numbers of the types.
var greatest = map[string]string{"int": "9223372036854775807", "int8": "127", "int16": "32767", "int32": "2147483647",
	"uint8": "255", "uint16": "65535", "uint32": "4294967295", "uint64": "18446744073709551615"}
