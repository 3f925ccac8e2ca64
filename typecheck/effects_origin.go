package typecheck

import (
	"go/constant"
	"slices"
)

// The effect analysis follows where references come from. Everything is said
// in terms of the state at the entry of the function: that is when footprints
// are evaluated. So a path through a field is used only if nothing that has run
// before in the event may have written that field on any object; otherwise the
// origin is widened to what may be reachable.

// origin says where a reference, or the references in a value, come from.
type origin struct {
	kind originKind
	path ipath // of inValue, atActor and below
}

type originKind uint8

const (
	// inValue: the value at path; a step into it makes the path longer.
	inValue originKind = iota
	// atActor: an actor at path. Steps into a value that holds such origins
	// change nothing.
	atActor
	// below: an actor reachable from the actors at path, these excluded.
	below
	// fresh: an actor made by this event.
	fresh
	// anywhere: anything reachable from `this` or the parameters, these included.
	anywhere
)

// ipath is Path in a form that can be compared with ==.
type ipath struct {
	param    *Var // nil: this
	field    *Var
	elem     Elem
	key      string // of ElemAt with a constant: its exact text
	keyParam *Var
}

func (p ipath) isRoot() bool { return p.field == nil && p.elem == NoElem }

// originsMax bounds the origins that are kept apart.
const originsMax = 12

// origins is a small set.
type origins []origin

// add returns the set with o, and whether it grew.
func (s origins) add(o origin) (origins, bool) {
	if slices.Contains(s, o) || slices.Contains(s, origin{kind: anywhere}) && o.kind != fresh {
		return s, false
	}
	if len(s) >= originsMax {
		return origins{{kind: anywhere}, {kind: fresh}}, true
	}
	return append(slices.Clip(s), o), true
}

func (s origins) union(t origins) origins {
	for _, o := range t {
		s, _ = s.add(o)
	}
	return s
}

// accessKey is Access without its mode.
type accessKey struct {
	path  ipath
	class *Class
	reach bool
}

// summary is what the analysis knows of one function.
type summary struct {
	accesses map[accessKey]Mode
	// guards has what the run-time check for ownership cycles reads. They are
	// part of the footprint, but do not grow by what the event itself moves:
	// every store brings its own.
	guards  map[accessKey]Mode
	created map[*Class]bool
	// written has the fields of actors that may be written in the event by
	// this function and what it calls.
	written map[*Var]bool
	// foreign has the classes of references that may be stored in a plain
	// field of an actor without having been below that actor.
	foreign map[*Class]bool
	// issuer: a helper may change what belongs to the actor that it runs for, and is no field. In
	// methods of actors that is an access of `this`.
	issuer  bool
	changes bool    // some store is OwnerChanges
	result  origins // of the references in the result
	coarse  bool    // too many accesses to keep apart
	calls   bool    // it calls or makes something; known from the start
}

func newSummary() *summary {
	return &summary{accesses: make(map[accessKey]Mode), guards: make(map[accessKey]Mode), created: make(map[*Class]bool), written: make(map[*Var]bool), foreign: make(map[*Class]bool)}
}

// size grows whenever the summary does: modes count.
func (s *summary) size() int {
	n := len(s.created) + len(s.written) + len(s.foreign) + len(s.result)
	for _, m := range s.accesses {
		n += 1 + int(m)
	}
	for _, m := range s.guards {
		n += 1 + int(m)
	}
	for _, o := range s.result {
		if o.kind == anywhere {
			n += 1000 // more than all that it stands for
		}
	}
	if s.changes {
		n++
	}
	if s.issuer {
		n++
	}
	if s.coarse {
		n += 1 << 20
	}
	return n
}

// step goes from a value into a part of it: a field of a value class, or elements.
func (o origin) step(field *Var, elem Elem, key string, keyParam *Var) origin {
	if o.kind != inValue {
		return o
	}
	p := o.path
	switch {
	case p.elem == NoElem && field == nil:
		p.elem, p.key, p.keyParam = elem, key, keyParam
	case field != nil && p.isRoot():
		p.field = field
	default:
		p = p.deep()
	}
	return origin{inValue, p}
}

// deep is the path to all actors anywhere in the value that p leads into.
func (p ipath) deep() ipath { return ipath{param: p.param, field: p.field, elem: ElemDeep} }

// settle turns the origins of an expression of type t into those of the actors
// in it, if t is an actor (or A?).
func settle(s origins, t Type) origins {
	if !IsActor(nonNull(t)) {
		return s
	}
	var out origins
	for _, o := range s {
		if o.kind == inValue {
			o.kind = atActor
		}
		out, _ = out.add(o)
	}
	return out
}

// loosen turns the origins of a value of type t into those of the actors in
// it: what is inserted into something else loses its place.
func loosen(s origins, t Type) origins {
	var out origins
	for _, o := range s {
		if o.kind == inValue {
			o = origin{atActor, wholePath(o.path, t)}
		}
		out, _ = out.add(o)
	}
	return out
}

// wholePath is the path to all actors in the value of type t at p.
func wholePath(p ipath, t Type) ipath {
	if p.elem != NoElem {
		if IsActor(nonNull(t)) {
			return p
		}
		return p.deep()
	}
	switch t := nonNull(t).(type) {
	case *Vector:
		if IsActor(nonNull(t.Elem)) {
			p.elem = ElemAll
			return p
		}
	case *Set:
		if IsActor(t.Elem) {
			p.elem = ElemAll
			return p
		}
	case *Map:
		if IsActor(nonNull(t.Value)) && !IsActor(t.Key) {
			p.elem = ElemAll
			return p
		}
	case *Class:
		if IsActor(t) {
			return p
		}
	}
	return p.deep()
}

// keyText is the form in which constant keys are compared.
func keyText(val constant.Value) string { return val.Kind().String() + val.ExactString() }
