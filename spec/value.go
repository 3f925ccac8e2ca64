package spec

import (
	"cmp"
	"go/constant"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// value is a value of a program. No value is ever changed: a write to a part of one
// makes a new one, so that copies are what the language says they are.
//
// The kinds are nil (null, and nothing else), bool, integer, float64, string,
// byteString, instant, span, enumValue, *structure, *vector, *table, *rows, actorRef,
// clientRef, pendingRef and goHandle. T? has no form of its own: T is never optional itself.
type value any

// integer is a value of any integer type. A uint64 is kept as its bits.
type integer struct {
	kind typecheck.BasicKind
	bits int64
}

type (
	byteString string // bytes
	instant    int64  // time, in nanoseconds since 1970
	span       int64  // duration, in nanoseconds
)

// enumValue is a constant of an enum, with its payload if it has one.
type enumValue struct {
	of      *typecheck.EnumValue
	payload *vector // nil without a payload
}

// structure is an object of a value class.
type structure struct {
	class  *typecheck.Class
	fields []value
}

// vector is a vector. Those that were made by pushing share memory: used counts the elements
// in it, and a vector that has fewer does not see the rest.
type vector struct {
	elems []value
	used  *int // nil if the memory is not for pushing
}

// table is a map, or a set, whose entries have no values. Keys ascend.
type table struct {
	set     bool
	entries []entry
}

type entry struct{ key, value value }

// actorRef refers to an actor. There may be several identities of one actor; ids tell.
type actorRef struct{ who *identity }

// clientRef refers to an object of a client class.
type clientRef struct {
	id    eventID
	class *typecheck.Class
}

// pendingRef is a pending value: the event that it waits for.
type pendingRef struct{ id eventID }

// goHandle is a value that Go alone knows. It is named by the call that has made it, so that equal calls have made the same one.
type goHandle string

func intValue(n int) value { return integer{typecheck.IntKind, int64(n)} }

func emptyVector() *vector { return &vector{} }

// zero returns what a field of type t holds before anything is assigned.
func zero(t typecheck.Type) value {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.BoolKind:
			return false
		case typecheck.IsInteger(t):
			return integer{kind: t.Kind}
		case t.Kind == typecheck.FloatKind:
			return 0.0
		case t.Kind == typecheck.StringKind:
			return ""
		case t.Kind == typecheck.BytesKind:
			return byteString("")
		case t.Kind == typecheck.TimeKind:
			return instant(0)
		case t.Kind == typecheck.DurationKind:
			return span(0)
		}
	case *typecheck.Vector:
		return emptyVector()
	case *typecheck.Map:
		return &table{}
	case *typecheck.Set:
		return &table{set: true}
	case *typecheck.Table:
		return &rows{of: t}
	case *typecheck.Enum:
		if len(t.Values) > 0 {
			return enumValue{of: t.Values[0]}
		}
	case *typecheck.Class:
		if t.Kind == ast.ValueClass {
			return newStructure(t)
		}
	}
	return nil
}

func newStructure(c *typecheck.Class) *structure {
	s := &structure{class: c, fields: make([]value, len(c.Fields))}
	for i, f := range c.Fields {
		s.fields[i] = zeroField(f.Type())
	}
	return s
}

// zeroField is zero, except that a class is not entered: its fields are all set before
// anything reads them ([T-INIT]), and it may contain itself by way of T?.
func zeroField(t typecheck.Type) value {
	if typecheck.IsValueClass(t) {
		return nil
	}
	return zero(t)
}

// fromConstant returns the value of a constant expression of type t.
func fromConstant(c constant.Value, t typecheck.Type) value {
	if o, ok := t.(*typecheck.Optional); ok {
		t = o.Elem
	}
	switch t := t.(type) {
	case *typecheck.Enum:
		i, _ := constant.Int64Val(constant.ToInt(c))
		return enumValue{of: t.Values[i]}
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.FloatKind || t.Kind == typecheck.UntypedFloatKind:
			f, _ := constant.Float64Val(constant.ToFloat(c))
			return f
		case t.Kind == typecheck.TimeKind:
			return instant(constantInt(c))
		case t.Kind == typecheck.DurationKind:
			return span(constantInt(c))
		case t.Kind == typecheck.UntypedIntKind:
			return integer{typecheck.IntKind, constantInt(c)}
		case typecheck.IsInteger(t):
			return integer{t.Kind, constantInt(c)}
		}
	}
	switch c.Kind() {
	case constant.Bool:
		return constant.BoolVal(c)
	case constant.String:
		if t == typecheck.Bytes {
			return byteString(constant.StringVal(c))
		}
		return constant.StringVal(c)
	}
	panic("spec: constant of an unknown type")
}

func constantInt(c constant.Value) int64 {
	c = constant.ToInt(c)
	if n, ok := constant.Int64Val(c); ok {
		return n
	}
	n, _ := constant.Uint64Val(c)
	return int64(n)
}

// push adds parts of a value to a list of what a loop goes through from its end, so that the first part is the next one. Objects nest more
// deeply than the stack of Go goes.
func push(list []value, parts ...value) []value {
	n := len(list)
	list = append(list, parts...)
	slices.Reverse(list[n:])
	return list
}

// equal is == of the language: structural, by identity for references.
func equal(a, b value) bool {
	lefts, rights := []value{a}, []value{b}
	for len(lefts) > 0 {
		n := len(lefts) - 1
		a, b := lefts[n], rights[n]
		x, y := parts(a), parts(b)
		if !alike(a, b) || len(x) != len(y) {
			return false
		}
		lefts, rights = push(lefts[:n], x...), push(rights[:n], y...)
	}
	return true
}

// alike is == without the parts of values.
func alike(a, b value) bool {
	switch a := a.(type) {
	case *structure:
		_, ok := b.(*structure)
		return ok
	case *vector:
		_, ok := b.(*vector)
		return ok
	case *table:
		_, ok := b.(*table)
		return ok
	case enumValue:
		b, ok := b.(enumValue)
		return ok && a.of == b.of
	case actorRef:
		b, ok := b.(actorRef)
		return ok && a.who.id == b.who.id
	case clientRef:
		b, ok := b.(clientRef)
		return ok && a.id == b.id
	}
	return a == b
}

// parts returns the values that v consists of: of a map, each key with the value behind it.
func parts(v value) []value {
	switch v := v.(type) {
	case *structure:
		return v.fields
	case *vector:
		return v.elems
	case *table:
		list := make([]value, 0, 2*len(v.entries))
		for _, e := range v.entries {
			list = append(list, e.key, e.value)
		}
		return list
	case *rows:
		list := make([]value, len(v.list))
		for i, row := range v.list {
			list[i] = row
		}
		return list
	case enumValue:
		if v.payload != nil {
			return v.payload.elems
		}
	}
	return nil
}

// compare orders two values of one ordered type, or two keys.
func compare(a, b value) int {
	switch a := a.(type) {
	case bool:
		b := b.(bool)
		return cmp.Compare(boolInt(a), boolInt(b))
	case integer:
		b := b.(integer)
		if a.kind == typecheck.Uint64Kind {
			return cmp.Compare(uint64(a.bits), uint64(b.bits))
		}
		return cmp.Compare(a.bits, b.bits)
	case float64:
		return cmp.Compare(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	case byteString:
		return cmp.Compare(a, b.(byteString))
	case instant:
		return cmp.Compare(a, b.(instant))
	case span:
		return cmp.Compare(a, b.(span))
	case enumValue:
		return cmp.Compare(a.of.Index, b.(enumValue).of.Index)
	case actorRef:
		return a.who.compare(b.(actorRef).who)
	}
	panic("spec: values without an order")
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// less is < of floats as IEEE has it; compare gives NaN a place.
func less(a, b value) bool {
	if x, ok := a.(float64); ok {
		return x < b.(float64)
	}
	return compare(a, b) < 0
}

// push returns v with e behind it. A loop that pushes does not copy each time.
func (v *vector) push(e value) *vector {
	n := len(v.elems)
	if v.used == nil || *v.used != n || cap(v.elems) == n {
		elems := make([]value, n, 2*n+4)
		copy(elems, v.elems)
		v = &vector{elems, new(int)}
	}
	*v.used = n + 1
	return &vector{append(v.elems, e), v.used}
}

func (v *vector) with(i int, e value) *vector {
	elems := slices.Clone(v.elems)
	elems[i] = e
	return &vector{elems: elems}
}

func (t *table) find(k value) (int, bool) {
	return slices.BinarySearchFunc(t.entries, k, func(e entry, k value) int { return compare(e.key, k) })
}

func (t *table) get(k value) (value, bool) {
	i, ok := t.find(k)
	if !ok {
		return nil, false
	}
	return t.entries[i].value, true
}

func (t *table) with(k, v value) *table {
	i, ok := t.find(k)
	entries := slices.Clone(t.entries)
	if ok {
		entries[i].value = v
	} else {
		entries = slices.Insert(entries, i, entry{k, v})
	}
	return &table{t.set, entries}
}

func (t *table) without(k value) *table {
	i, ok := t.find(k)
	if !ok {
		return t
	}
	return &table{t.set, slices.Delete(slices.Clone(t.entries), i, i+1)}
}

func (t *table) keys() *vector {
	v := &vector{elems: make([]value, len(t.entries))}
	for i, e := range t.entries {
		v.elems[i] = e.key
	}
	return v
}

func (t *table) values() *vector {
	v := &vector{elems: make([]value, len(t.entries))}
	for i, e := range t.entries {
		v.elems[i] = e.value
	}
	return v
}

func (s *structure) with(i int, v value) *structure {
	fields := slices.Clone(s.fields)
	fields[i] = v
	return &structure{s.class, fields}
}

// eachPlainRef calls f for every plain reference in v, with repetitions: what a plain
// field that holds v owns. Yield fields of value classes own nothing.
func eachPlainRef(v value, f func(actorRef)) {
	for left := []value{v}; len(left) > 0; {
		v, left = left[len(left)-1], left[:len(left)-1]
		switch v := v.(type) {
		case actorRef:
			f(v)
		case *structure:
			for i, x := range slices.Backward(v.fields) {
				if !v.class.Fields[i].Yield {
					left = append(left, x)
				}
			}
		case *table: // parts would make a list
			for i := range slices.Backward(v.entries) {
				e := &v.entries[i]
				left = pushCompound(pushCompound(left, e.value), e.key)
			}
		default:
			for _, x := range slices.Backward(parts(v)) {
				left = pushCompound(left, x)
			}
		}
	}
}

// pushCompound is push of a value that may have references: most elements of most containers have none.
func pushCompound(list []value, v value) []value {
	switch v.(type) {
	case actorRef, *structure, *vector, *table, *rows, enumValue:
		return append(list, v)
	}
	return list
}
