package generate

import (
	"fmt"
	"strings"
)

// arguments returns the arguments of a call; ok is false if there are no references to pass.
func (b *body) arguments(m *method, depth int, event bool) (args string, ok bool) {
	var list []string
	for _, p := range m.params {
		switch p.typ.kind {
		case actorKind:
			r, found := b.reference(p.typ.actor, p.yield || event)
			if !found {
				return "", false
			}
			list = append(list, r)
		case screenKind:
			r := b.screenReference()
			if r == "" {
				return "", false
			}
			list = append(list, r)
		default:
			list = append(list, b.expr(p.typ, depth))
		}
	}
	return strings.Join(list, ", "), true
}

// reference returns an expression for an actor of a class that may be null or missing; with yield, also one that is
// reached through yield.
func (b *body) reference(a *actor, yield bool) (string, bool) {
	type found struct {
		text string
		v    *variable
	}
	var list []found
	add := func(v *variable) {
		if v.yield && !yield {
			return
		}
		switch t := v.typ; {
		case t.kind == actorKind && t.actor == a:
			list = append(list, found{v.name, v}, found{v.name, v})
		case t.kind == optionalKind && t.elem.kind == actorKind && t.elem.actor == a && b.actor != nil:
			list = append(list, found{v.name + "!", v})
		case t.kind == vectorKind && t.elem.kind == actorKind && t.elem.actor == a:
			list = append(list, found{fmt.Sprintf("%s[%s]", v.name, b.g.index()), v}, found{fmt.Sprintf("%s[len(%s) - 1]", v.name, v.name), v})
		case t.kind == mapKind && t.elem.kind == actorKind && t.elem.actor == a:
			list = append(list, found{fmt.Sprintf("%s[%s]", v.name, b.keyOf(t.key)), v})
		}
	}
	for _, v := range b.vars {
		add(v)
	}
	for _, v := range b.fields() {
		add(v)
	}
	if b.actor == a && yield && b.g.chance(3) {
		return "this", true
	}
	if yield && a.named() && !b.helping && b.g.chance(5) {
		return fmt.Sprintf("actor<%s>(%s)", a.typ.text, pick(b.g, actorNames)), true
	}
	if len(list) == 0 {
		return "", false
	}
	f := pick(b.g, list)
	return f.text, true
}

// keyOf returns one of the few keys that maps of references are given.
func (b *body) keyOf(t *typ) string {
	switch t.kind {
	case stringKind:
		return pick(b.g, []string{`"k0"`, `"k1"`})
	case enumKind:
		return t.enum.values[b.g.upto(1)]
	}
	return b.g.index()
}

// callee is a method and what it is called on.
type callee struct {
	m  *method
	on string // with the dot; "" for free functions and own methods
	v  *variable
}

// plainCallees returns the methods that a sync call can go to from here.
func (b *body) plainCallees(wanted func(*method) bool) (list []callee) {
	if b.client {
		return nil
	}
	add := func(m *method, on string, v *variable) {
		if wanted(m) && m != b.fn && (!b.ro || m.ro) && !m.tails {
			list = append(list, callee{m, on, v})
		}
	}
	if b.actor == nil {
		return nil
	}
	for _, m := range b.actor.methods {
		add(m, pick(b.g, []string{"", "", "this."}), nil)
	}
	for _, a := range b.actor.below() {
		for range 2 { // several references to choose from
			if r, ok := b.reference(a, false); ok {
				for _, m := range a.methods {
					add(m, r+".", nil)
				}
			}
		}
	}
	return list
}

// valueCallees returns the functions and methods of values that can be called from here.
func (b *body) valueCallees(wanted func(*method) bool) (list []callee) {
	every := wanted
	wanted = func(m *method) bool { return every(m) && b.may(m) }
	for _, m := range b.g.funcs {
		if wanted(m) && m != b.fn {
			list = append(list, callee{m: m})
		}
	}
	if b.class != nil {
		for _, m := range b.class.methods {
			if wanted(m) && m != b.fn && (!m.mutates || b.fn.mutates) {
				list = append(list, callee{m: m})
			}
		}
	}
	for _, p := range b.paths(false, is(classKind)) {
		for _, m := range p.typ.class.methods {
			if wanted(m) && m != b.fn && !m.mutates {
				list = append(list, callee{m, p.text + ".", p.root})
			}
		}
	}
	if b.class == nil || b.fn.mutates {
		for _, p := range b.paths(true, is(classKind)) {
			for _, m := range p.typ.class.methods {
				if wanted(m) && m != b.fn && m.mutates {
					list = append(list, callee{m, p.text + ".", p.root})
				}
			}
		}
	}
	return list
}

// resultOf returns a call with a result of the type, "" if there is none.
func (b *body) resultOf(t *typ, depth int) string {
	wanted := func(m *method) bool { return m.result != nil && m.result.text == t.text }
	list := append(b.valueCallees(wanted), b.plainCallees(wanted)...)
	if len(list) == 0 {
		return ""
	}
	return b.call(pick(b.g, list), depth-1)
}

// call returns the text of a call, "" if it cannot be made.
func (b *body) call(c callee, depth int) string {
	args, ok := b.arguments(c.m, max(depth, 0), false)
	if !ok || !b.affords(c.m) {
		return ""
	}
	return fmt.Sprintf("%s%s(%s)", c.on, c.m.name, args)
}

// actorNames are the names of actors, as they are written.
var actorNames = []string{`"root0"`, `"root1"`, `"n\xff\""`}
