package generate

import (
	"fmt"
	"regexp"
	"strings"
)

// extra is a field that no statement written at random uses, as its type holds actors in another way than those know, or as
// it is large. It has methods of its own, written of templates.
type extra struct {
	decl  string
	clear string               // a statement of the snapshot block
	build func(b *body)        // what the constructor does
	audit func(b *body) string // what shows the state
	write func()               // adds the methods; there are those of all classes below, and their constructors
}

// planExtras decides on the extras of a class, which has its other fields.
func (g *gen) planExtras(a *actor) {
	var below []*actor
	for _, t := range a.below() {
		if t != a {
			below = append(below, t)
		}
	}
	if len(below) > 0 && g.chance(3) {
		g.newCrowd(a, pick(g, below))
	}
	if len(below) > 0 && g.chance(4) {
		g.newPair(a, pick(g, below))
	}
	if g.chance(6 + 6*a.index) {
		g.newHoard(a)
	}
}

// templates are statements with placeholders: of what stands for itself, or has a function that makes its text anew.
type templates struct {
	list  []string
	words map[string]string
	made  map[string]func() string
	once  map[string]func() string // likewise, but the same text in all of a statement
}

var placeholder = regexp.MustCompile(`\$([a-z]+|\w)`)

// fill has of put something in each place that a text leaves open: $, and a name or one letter or digit.
func fill(text string, of func(w string) string) string {
	return placeholder.ReplaceAllStringFunc(text, of)
}

// statementOf writes one of the templates; false if something that it needs cannot be had. Small letters that nothing
// stands for are new locals.
func (b *body) statementOf(t templates) bool {
	g := b.g
	locals := map[string]string{}
	failed := false
	var word func(w string) string
	word = func(w string) string {
		if s, ok := t.words[w]; ok {
			return s
		}
		if f := t.made[w]; f != nil {
			s := f()
			failed = failed || s == ""
			return fill(s, word)
		}
		switch f := t.once[w]; {
		case locals[w] != "":
		case f != nil:
			locals[w] = fill(f(), word)
		default:
			locals[w] = g.name(w[1:])
		}
		return locals[w]
	}
	text := fill(pick(g, t.list), word)
	if failed {
		return false
	}
	b.line("%s", text)
	b.cost += 5 * b.times
	return true
}

// templated adds a method of so many statements of templates at most, among others, which often fails in the end.
func (a *actor) templated(prefix string, n int, params []*variable, of func(b *body) templates) *method {
	g := a.g
	by := &variable{name: g.name("by"), typ: intType, declared: -1}
	m := &method{name: g.name(prefix), actor: a, params: append([]*variable{by}, params...)}
	b := g.newBody(m)
	b.actor, b.indent = a, 2
	for _, p := range m.params {
		v := *p
		b.vars = append(b.vars, &v)
	}
	counter := a.fields[0].name
	for range 1 + g.upto(n-1) {
		t := of(b)
		t.words["$n"], t.words["$b"] = counter, by.name
		t.made["$k"] = func() string {
			return pick(g, []string{by.name + " % 7", counter + " % 5", by.name + " % 3 + " + fmt.Sprint(g.upto(3)), fmt.Sprint(g.upto(9))})
		}
		for range 3 {
			if b.statementOf(t) {
				break
			}
		}
		if g.chance(8) {
			b.statement()
		}
	}
	if b.ended {
		b.ended = false // the last statement is no block
		return nil
	}
	if g.chance(3) {
		b.line("require(abs(%s) %% 3 != %d, \"%s by {%s}\");", by.name, g.upto(2), m.name, by.name)
	}
	if prefix == "rework" || g.chance(2) { // main prints what it returns, which is when stores drop states
		m.result = intType
		b.line("return %s;", counter)
		b.ended = true
	}
	g.finish(m, b)
	m.cost = min(m.cost, 60)
	a.methods = append(a.methods, m)
	return m
}

// member returns an actor of a class, mostly a new one; "" if there is none.
func (b *body) member(t *actor) string {
	if r, ok := b.reference(t, false); ok && !b.g.chance(3) {
		return r
	}
	return b.fresh(t)
}

// lines returns lines with tabs in front.
func lines(format string, args ...any) string {
	return strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n\t\t")
}
