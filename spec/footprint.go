package spec

import (
	"fmt"
	"go/constant"

	"github.com/aeon-lang/aeon/typecheck"
)

// access is how an event touches an actor.
type access = typecheck.Mode

const (
	readAccess  = typecheck.Read
	writeAccess = typecheck.Write
)

// Theorem 6 of semantics.md: an event touches only actors of its footprint, in their modes, or
// created by itself. So does an async call, whose own footprint decides what runs beside it.
// Every event is checked, also one that fails, and every failure of a check is a mistake in
// typecheck.

// footprint is what one call may touch, and what it has touched so far.
type footprint struct {
	method  *typecheck.Func
	allowed map[eventID]access // nil: it is not checked
	touched map[eventID]access
}

// touch notes that the event reads or writes an actor.
func (ev *event) touch(who *identity, mode access) {
	ev.respect(who)
	ev.need(who, mode)
	kind := read
	if mode == writeAccess {
		kind = write
	}
	ev.m.note(kind, Resource{kind: actorResource, a: who.id})
}

// need notes that the event must hold an actor in the mode: for its fields, and for whatever
// else belongs to it and is changed at the commit.
func (ev *event) need(who *identity, mode access) {
	now := ev.prints[len(ev.prints)-1]
	now.touched[who.id] = max(now.touched[who.id], mode)
}

// expect begins a call whose footprint is checked: it is evaluated on the state as it is at the
// entry. Without a method, or its effects, nothing is checked.
func (ev *event) expect(method *typecheck.Func, target *identity, args []value) {
	p := &footprint{method: method, touched: map[eventID]access{}}
	ev.prints = append(ev.prints, p)
	if method == nil || method.Effects == nil {
		return
	}
	p.allowed = map[eventID]access{}
	at := footprintPlace{ev.m.st, target, method.Params, args}
	for _, x := range method.Effects.Footprint {
		for _, a := range at.actors(x.Path) {
			if !x.Reach {
				p.allow(a, x)
				continue
			}
			for _, below := range ev.m.st.reach(a) {
				if below.id != a.id {
					p.allow(below, x)
				}
			}
		}
	}
}

func (p *footprint) allow(who *identity, x typecheck.Access) {
	if who.class == x.Class && p.allowed[who.id] < x.Mode {
		p.allowed[who.id] = x.Mode
	}
}

// expected ends the innermost call whose footprint is checked, and compares what was touched with
// what was expected. Its caller has touched the same.
func (ev *event) expected() {
	p := ev.prints[len(ev.prints)-1]
	ev.prints = ev.prints[:len(ev.prints)-1]
	for id, mode := range p.touched {
		if p.allowed != nil && !ev.fresh[id] && !ev.born[id] && p.allowed[id] < mode {
			who := ev.m.st.actors[id].who
			panic(bug{fmt.Sprintf("footprint: %s touches %s in mode %s, and its footprint allows %s", p.method.FullName(), who.label(), mode, p.allowed[id])})
		}
		if len(ev.prints) > 0 {
			ev.need(ev.m.st.actors[id].who, mode)
		}
	}
}

// footprintPlace is what the paths of a footprint start from.
type footprintPlace struct {
	st     *state
	target *identity // nil in the constructor that a client's new runs
	params []*typecheck.Var
	args   []value
}

// actors returns the actors that a path leads to.
func (p footprintPlace) actors(path typecheck.Path) []*identity {
	var v value
	if p.target != nil {
		v = actorRef{p.target}
	}
	if path.Param != nil {
		v = p.arg(path.Param)
	}
	if path.Field != nil {
		v = p.field(v, path.Field)
	}
	var list []*identity
	add := func(r actorRef) { list = append(list, r.who) }
	switch path.Elem {
	case typecheck.NoElem:
		if r, ok := v.(actorRef); ok {
			add(r)
		}
	case typecheck.ElemAt:
		if r, ok := p.elementAt(v, path).(actorRef); ok {
			add(r)
		}
	case typecheck.ElemAll:
		switch v := v.(type) {
		case *vector:
			eachDirect(v.elems, add)
		case *table:
			if v.set {
				eachDirect(v.keys().elems, add)
			} else {
				eachDirect(v.values().elems, add)
			}
		}
	case typecheck.ElemKeys:
		if t, ok := v.(*table); ok {
			eachDirect(t.keys().elems, add)
		}
	case typecheck.ElemDeep:
		eachPlainRef(v, add)
	}
	return list
}

func eachDirect(list []value, f func(actorRef)) {
	for _, v := range list {
		if r, ok := v.(actorRef); ok {
			f(r)
		}
	}
}

func (p footprintPlace) arg(v *typecheck.Var) value {
	for i, q := range p.params {
		if q == v {
			return p.args[i]
		}
	}
	return nil
}

// field reads a field of an actor or a value; one that is missing holds no actors.
func (p footprintPlace) field(v value, f *typecheck.Var) value {
	switch v := v.(type) {
	case actorRef:
		if a := p.st.actors[v.who.id]; a.fields != nil && a.who.class == f.Class {
			return a.fields[f.Index]
		}
	case *structure:
		if v.class == f.Class {
			return v.fields[f.Index]
		}
	}
	return nil
}

func (p footprintPlace) elementAt(v value, path typecheck.Path) value {
	var key value
	if path.KeyParam != nil {
		key = p.arg(path.KeyParam)
	}
	switch v := v.(type) {
	case *vector:
		if path.KeyParam == nil {
			key = fromConstant(path.Key, typecheck.Int)
		}
		if i, ok := key.(integer); ok && i.bits >= 0 && i.bits < int64(len(v.elems)) {
			return v.elems[i.bits]
		}
	case *table:
		if len(v.entries) == 0 {
			return nil
		}
		if path.KeyParam == nil {
			key = keyLike(v.entries[0].key, path.Key)
		}
		x, _ := v.get(key)
		return x
	}
	return nil
}

// keyLike returns a constant key in the type of another key.
func keyLike(like value, c constant.Value) value {
	switch like := like.(type) {
	case integer:
		return integer{like.kind, constantInt(c)}
	case enumValue:
		return enumValue{of: like.of.Enum.Values[constantInt(c)]}
	case instant:
		return instant(constantInt(c))
	case span:
		return span(constantInt(c))
	case bool:
		return constant.BoolVal(c)
	case byteString:
		return byteString(constant.StringVal(c))
	}
	return constant.StringVal(c)
}
