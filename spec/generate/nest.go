package generate

import (
	"fmt"
	"slices"
	"strings"
)

// nests gives a class a field for another value of the class, and a method that writes it; it returns their text.
func (g *gen) nests(c *class) string {
	c.inner = &variable{name: g.name("inner"), typ: optionalOf(c.typ), writable: true, declared: -1}
	c.fields = append(c.fields, c.inner)
	m := &method{name: g.name("hold"), class: c, mutates: true, cost: 1, chain: 1, params: []*variable{{name: "other", typ: c.inner.typ}}}
	m.text = fmt.Sprintf("\tvoid %s(%s other) {\n\t\t%s = other;\n\t}\n", m.name, c.inner.typ.text, c.inner.name)
	c.methods = append(c.methods, m)
	return fmt.Sprintf("\t%s %s;\n%s", c.inner.typ.text, c.inner.name, m.text)
}

// nested returns a type whose values hold others of their class, t if there is none.
func (g *gen) nested(t *typ) *typ {
	i := slices.IndexFunc(g.classes, func(c *class) bool { return c.inner != nil })
	if i < 0 {
		return t
	}
	return pick(g, []*typ{g.classes[i].typ, g.classes[i].inner.typ, g.classes[i].inner.typ})
}

// isNested reports whether a type is that of what may be null and holds others of its class.
func (t *typ) isNested() bool {
	return t.kind == optionalKind && t.elem.kind == classKind && t.elem.class.inner != nil
}

// nest writes what a place has beneath the same place, which the value then has once more within itself.
func (b *body) nest() bool {
	text, t, ok := b.target((*typ).isNested)
	if !ok || !strings.Contains(text, ".") && b.actor == nil && b.class == nil {
		return false // a local may be known not to be null
	}
	if b.g.chance(2) {
		b.line("if (%s != null) {\n%s\t%s\n%s}", text, b.tabs(), b.intoItself(text, t.elem.class), b.tabs())
	} else {
		b.line("%s = %s;\n%s%s", text, b.newValue(t.elem.class, 0), b.tabs(), b.intoItself(text, t.elem.class))
	}
	return true
}

// intoItself returns a statement that does so with a place that is not null.
func (b *body) intoItself(text string, c *class) string {
	return strings.NewReplacer("$x", text, "$inner", c.inner.name, "$hold", c.methods[0].name).Replace(pick(b.g, []string{
		"$x!.$inner = $x;", "$x!.$hold($x);", "$x?.$hold($x);", "$x!.$inner?.$hold($x!.$inner);",
	}))
}

// nestMethods writes a method that has something within itself.
func (g *gen) nestMethods(a *actor) {
	for _, f := range a.fields {
		if f.typ.isNested() {
			b := g.newBody(nil)
			a.simple("nest", nil, nil, fmt.Sprintf("%s = %s;\n\t\t%s", f.name, b.newValue(f.typ.elem.class, 0), b.intoItself(f.name, f.typ.elem.class)))
		}
	}
}

// nestLocals has values of main within themselves.
func (b *body) nestLocals() {
	for _, c := range b.g.classes {
		if c.inner == nil {
			continue
		}
		v := b.g.name("local")
		place := v + "." + c.inner.name
		b.line("%s %s = %s;\n%s = %s;\n%s\nprint(%[2]s);", c.typ.text, v, b.newValue(c, 0), place, b.newValue(c, 0), b.intoItself(place, c))
	}
}
