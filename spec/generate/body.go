package generate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// costMax bounds the steps of one event, about.
const costMax = 300

// body is a function that is being written.
type body struct {
	g      *gen
	lines  []string
	indent int
	vars   []*variable // in scope
	fn     *method     // what is being written; nil for main
	actor  *actor      // whose fields are in reach
	class  *class      // likewise
	ro     bool
	client bool
	// building: it is a constructor. helping: it acts for the actor that calls it.
	building, helping bool
	loops             int // how many loops surround
	times             int // how often this point runs at most
	cost              int
	emits             int
	chain             int
	ended             bool // control does not get here
	inner             bool // within an optional part of the body
}

func (g *gen) newBody(fn *method) *body {
	return &body{g: g, fn: fn, indent: 1, times: 1}
}

func (b *body) line(format string, args ...any) {
	b.lines = append(b.lines, strings.Repeat("\t", b.indent)+fmt.Sprintf(format, args...))
	b.cost += b.times
}

// block writes a block in a scope of its own behind a head, such as "if (c)"; times is how often it runs.
func (b *body) block(head string, times int, vars []*variable, content func()) {
	b.line("%s {", head)
	b.nested(times, vars, content)
	b.line("}")
}

// nested writes the inside of a block.
func (b *body) nested(times int, vars []*variable, content func()) {
	outer, before, inner := len(b.vars), b.times, b.inner
	b.vars = append(b.vars, vars...)
	b.times *= times
	b.indent++
	b.inner = true
	content()
	b.closeScope(outer)
	b.indent--
	b.times, b.inner, b.ended = before, inner, false
}

// closeScope ends the scope of the variables from the given one on, and uses what has not been used.
func (b *body) closeScope(from int) {
	for _, v := range slices.Backward(b.vars[from:]) {
		if v.declared >= 0 && !b.reads(v) {
			use := fmt.Sprintf("%srequire(%s == %s, \"equal to itself\");", strings.Repeat("\t", b.indent), v.name, v.name)
			if v.typ.kind != actorKind && !b.ro && (b.g.profile == Sequential || b.client) && b.class == nil {
				use = fmt.Sprintf("%sprint(\"%s is\", %s);", strings.Repeat("\t", b.indent), v.name, v.name)
			}
			b.lines = slices.Insert(b.lines, v.declared+1, use)
		}
	}
	b.vars = b.vars[:from]
}

// reads reports whether a line behind the declaration of v reads it for sure: text that begins a line may be its target.
func (b *body) reads(v *variable) bool {
	word := regexp.MustCompile(`.\b` + v.name + `\b`)
	for _, line := range b.lines[v.declared+1:] {
		if word.MatchString(strings.TrimLeft(line, "\t")) {
			return true
		}
	}
	return false
}

// declare adds a local whose declaration is the last line.
func (b *body) declare(v *variable) {
	v.declared = len(b.lines) - 1
	b.vars = append(b.vars, v)
}

// fields returns those that are in reach.
func (b *body) fields() []*variable {
	switch {
	case b.actor != nil:
		return b.actor.fields
	case b.class != nil:
		return b.class.fields
	}
	return nil
}

// path is an expression that leads to a value without computing anything.
type path struct {
	text string
	typ  *typ
	root *variable
}

// paths returns what is in scope: variables and fields, and what can be reached from them through fields of
// values. With writable it returns only what may be written here.
func (b *body) paths(writable bool, wanted func(*typ) bool) (list []path) {
	add := func(v *variable, field bool) {
		if writable && (!v.writable || field && (b.ro || b.client)) {
			return
		}
		if v.typ.isReference() {
			return
		}
		list = b.extend(list, path{v.name, v.typ, v}, 2, wanted)
	}
	for _, v := range b.vars {
		add(v, false)
	}
	for _, v := range b.fields() {
		add(v, true)
	}
	if b.class != nil && !writable {
		list = b.extend(list, path{"this", b.class.typ, b.class.this}, 1, wanted)
	}
	return list
}

func (b *body) extend(list []path, p path, depth int, wanted func(*typ) bool) []path {
	if wanted(p.typ) {
		list = append(list, p)
	}
	if p.typ.kind == classKind && depth > 0 {
		for _, f := range p.typ.class.fields {
			list = b.extend(list, path{p.text + "." + f.name, f.typ, p.root}, depth-1, wanted)
		}
	}
	return list
}

// some returns one of the paths of a type, and whether there is one.
func (b *body) some(writable bool, wanted func(*typ) bool) (path, bool) {
	list := b.paths(writable, wanted)
	if len(list) == 0 {
		return path{}, false
	}
	return pick(b.g, list), true
}

func is(k kind) func(*typ) bool { return func(t *typ) bool { return t.kind == k } }

func same(t *typ) func(*typ) bool { return func(u *typ) bool { return u.text == t.text } }

// affords reports whether a call fits into what the body may still do here, and takes it into account.
func (b *body) affords(m *method) bool {
	cost := b.cost + b.times*(m.cost+1)
	emits, chain := b.emits+b.times*m.emits, b.chain+b.times*m.chain
	if cost > costMax || emits > b.g.emitsMax() || chain > b.g.chainMax() {
		return false
	}
	b.cost, b.emits, b.chain = cost, emits, chain
	return true
}

// emitsMax bounds the events that one event issues.
func (g *gen) emitsMax() int {
	if g.profile == Sequential {
		return 1
	}
	return 2
}

// chainMax bounds the events that one event causes.
func (g *gen) chainMax() int { return 3 }

// text returns the lines written.
func (b *body) text() string { return strings.Join(b.lines, "\n") + "\n" }
