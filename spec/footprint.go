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

// Theorem 6 of semantics.md: an event touches only actors of its footprint, in their
// modes, or created by itself. Every event is checked, also one that fails, and every failure
// of a check is a mistake in typecheck.

// touch notes that the event touches an actor.
func (ev *event) touch(who *identity, mode access) {
	ev.respect(who)
	if ev.touched[who.id] < mode {
		ev.touched[who.id] = mode
	}
	kind := read
	if mode == writeAccess {
		kind = write
	}
	ev.m.note(kind, Resource{kind: actorResource, a: who.id})
}

// expect evaluates the footprint of the event on the state as it is at the entry.
func (ev *event) expect(e *typecheck.Effects, target *identity, params []*typecheck.Var, args []value) {
	if e == nil {
		return
	}
	ev.allowed = map[eventID]access{}
	at := footprintPlace{ev.m.st, target, params, args}
	for _, x := range e.Footprint {
		for _, a := range at.actors(x.Path) {
			if !x.Reach {
				ev.allow(a, x)
				continue
			}
			for _, below := range ev.m.st.reach(a) {
				if below.id != a.id {
					ev.allow(below, x)
				}
			}
		}
	}
}

func (ev *event) allow(who *identity, x typecheck.Access) {
	if who.class == x.Class && ev.allowed[who.id] < x.Mode {
		ev.allowed[who.id] = x.Mode
	}
}

// checkFootprint compares what was touched with what was expected.
func (ev *event) checkFootprint() {
	if ev.allowed == nil {
		return
	}
	for id, mode := range ev.touched {
		if ev.fresh[id] || ev.born[id] || ev.allowed[id] >= mode {
			continue
		}
		who := ev.m.st.actors[id].who
		panic(bug{fmt.Sprintf("footprint: the event touches %s in mode %s, and its footprint allows %s", who.label(), mode, ev.allowed[id])})
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
