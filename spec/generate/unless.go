package generate

import (
	"fmt"
	"strings"
)

// changeUnlessNull calls a method that changes what may be null, and keeps its result if it has one.
func (b *body) changeUnlessNull() bool {
	g := b.g
	text, t, ok := b.target(func(t *typ) bool {
		switch t.kind {
		case optionalKind:
			return t.elem.changes()
		case vectorKind, mapKind:
			return t.elem.kind == optionalKind && t.elem.elem.changes()
		}
		return false
	})
	switch {
	case !ok:
		return false
	case t.kind == mapKind:
		text, t = text+"["+b.keyIn(t, text)+"]", t.elem
	case t.kind == vectorKind:
		text, t = text+"["+b.place(text)+"]", t.elem
	case !strings.Contains(text, ".") && b.actor == nil:
		return false // a local may be known not to be null
	}
	call, result := b.changing(t.elem, text+"?.")
	if call == "" {
		return false
	}
	if result == nil || g.chance(3) {
		b.line("%s;", call)
		return true
	}
	if result.kind != optionalKind {
		result = optionalOf(result)
	}
	v := &variable{name: g.name("u"), typ: result}
	b.line("%s %s = %s;", result.text, v.name, call)
	b.declare(v)
	return true
}

// place returns an index into a vector, which a call may compute.
func (b *body) place(text string) string {
	if call := b.resultOf(intType, 1); call != "" && b.g.chance(2) {
		return fmt.Sprintf("abs(%s) %% len(%s)", call, text)
	}
	return pick(b.g, []string{"0", "len(" + text + ") - 1"})
}

// changes reports whether values of a type have methods that change them.
func (t *typ) changes() bool {
	switch t.kind {
	case vectorKind, mapKind, setKind:
		return true
	case classKind:
		for _, m := range t.class.methods {
			if m.mutates && !m.acts {
				return true
			}
		}
	}
	return false
}

// changing returns a call of a method that changes a t, "" if it cannot be made, and the type of its result, nil if it has none.
func (b *body) changing(t *typ, on string) (string, *typ) {
	g := b.g
	switch t.kind {
	case vectorKind:
		switch g.upto(3) {
		case 0:
			return on + "pop()", t.elem
		case 1:
			return on + "remove(0)", t.elem
		case 2:
			return fmt.Sprintf("%sinsert(0, %s)", on, b.expr(t.elem, 1)), nil
		}
		return fmt.Sprintf("%spush(%s)", on, b.expr(t.elem, 1)), nil
	case mapKind:
		return fmt.Sprintf("%sremove(%s)", on, b.expr(t.key, 1)), boolType
	case setKind:
		return fmt.Sprintf("%s%s(%s)", on, pick(g, []string{"insert", "remove"}), b.expr(t.elem, 1)), boolType
	}
	var list []*method
	for _, m := range t.class.methods {
		if m.mutates && !m.acts && m != b.fn {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return "", nil
	}
	m := pick(g, list)
	return b.call(callee{m: m, on: on}, 1), m.result
}
