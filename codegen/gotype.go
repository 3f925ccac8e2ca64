package codegen

import (
	"strconv"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

func itoa(n int) string { return strconv.Itoa(n) }

// basicGo has the Go type of every predeclared type.
var basicGo = map[typecheck.BasicKind]string{
	typecheck.VoidKind: "struct{}", typecheck.BoolKind: "bool", typecheck.IntKind: "int64", typecheck.Int8Kind: "int8",
	typecheck.Int16Kind: "int16", typecheck.Int32Kind: "int32", typecheck.Uint8Kind: "uint8", typecheck.Uint16Kind: "uint16",
	typecheck.Uint32Kind: "uint32", typecheck.Uint64Kind: "uint64", typecheck.FloatKind: "float64", typecheck.StringKind: "string",
	typecheck.BytesKind: "aeonrt.Bytes", typecheck.TimeKind: "aeonrt.Time", typecheck.DurationKind: "aeonrt.Duration",
	typecheck.UntypedIntKind: "int64", typecheck.UntypedFloatKind: "float64",
}

// goType returns the Go type of t.
func (p *pkg) goType(t typecheck.Type) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		if g, ok := basicGo[t.Kind]; ok {
			return g
		}
	case *typecheck.Vector:
		return "aeonval.Vector[" + p.goType(t.Elem) + "]"
	case *typecheck.Map:
		return "aeonval.Map[" + p.keyType(t.Key) + ", " + p.goType(t.Value) + "]"
	case *typecheck.Set:
		return "aeonval.Set[" + p.keyType(t.Elem) + "]"
	case *typecheck.Table:
		return "aeonrt.Table[" + p.keyType(t.Key.Type()) + ", " + p.goType(t.Row) + "]"
	case *typecheck.Optional:
		switch {
		case typecheck.IsRef(t.Elem):
			return p.goType(t.Elem) // the zero reference is null
		case p.boxed(t.Elem):
			return "aeonval.Box[" + p.goType(t.Elem) + "]"
		}
		return "aeonval.Opt[" + p.goType(t.Elem) + "]"
	case *typecheck.Pending:
		return "aeonrt.Pending[" + p.goType(t.Elem) + "]"
	case *typecheck.Enum:
		return p.names.obj[t]
	case *typecheck.GoType:
		return p.names.obj[t]
	case *typecheck.Class:
		if t.Kind == ast.ValueClass {
			return p.names.obj[t]
		}
		return p.gen(t, "ref")
	}
	panic("codegen: no Go type for " + t.String())
}

// keyType returns the Go type of t as the key of a map or the element of a set: bytes are not
// comparable in Go.
func (p *pkg) keyType(t typecheck.Type) string {
	if t == typecheck.Bytes {
		return "aeonrt.BytesKey"
	}
	p.useMethod(t, "Str") // in the fault of a missing key
	return p.goType(t)
}

// boxed reports whether t? is a Box: whether t is a value class that contains itself.
func (p *pkg) boxed(t typecheck.Type) bool {
	c, ok := t.(*typecheck.Class)
	if !ok || c.Kind != ast.ValueClass {
		return false
	}
	if b, ok := p.boxes[c]; ok {
		return b
	}
	p.boxes[c] = p.embeds(c, c, map[*typecheck.Class]bool{})
	return p.boxes[c]
}

// embeds reports whether the memory of a value of class c would contain one of class target, if
// optional values were stored in place.
func (p *pkg) embeds(c, target *typecheck.Class, seen map[*typecheck.Class]bool) bool {
	if seen[c] {
		return false
	}
	seen[c] = true
	for _, f := range c.Fields {
		t := f.Type()
		if o, ok := t.(*typecheck.Optional); ok {
			t = o.Elem
		}
		d, ok := t.(*typecheck.Class)
		if ok && d.Kind == ast.ValueClass && (d == target || p.embeds(d, target, seen)) {
			return true
		}
	}
	return false
}

// property computes a property of a type that holds if leaf says so of some part of it. Recursive
// classes take part in it once.
func property(t typecheck.Type, seen map[*typecheck.Class]bool, leaf func(typecheck.Type) (result, known bool)) bool {
	if r, known := leaf(t); known {
		return r
	}
	switch t := t.(type) {
	case *typecheck.Vector:
		return property(t.Elem, seen, leaf)
	case *typecheck.Set:
		return property(t.Elem, seen, leaf)
	case *typecheck.Table:
		return property(t.Row, seen, leaf)
	case *typecheck.Map:
		return property(t.Key, seen, leaf) || property(t.Value, seen, leaf)
	case *typecheck.Optional:
		return property(t.Elem, seen, leaf)
	case *typecheck.Class:
		if t.Kind != ast.ValueClass || seen[t] {
			return false
		}
		seen[t] = true
		for _, f := range t.Fields {
			if property(f.Type(), seen, leaf) {
				return true
			}
		}
	}
	return false
}

// shares reports whether a copy of a t must be made with Share: whether it refers to a body that can be
// written in place. A box cannot.
func (p *pkg) shares(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t := t.(type) {
		case *typecheck.Basic:
			return t.Kind == typecheck.BytesKind, true
		case *typecheck.Vector, *typecheck.Map, *typecheck.Set:
			return true, true
		case *typecheck.Table: // which is never copied
			return false, true
		case *typecheck.Optional:
			return false, p.boxed(t.Elem)
		}
		return false, false
	})
}

// holdsBoxes reports whether there are boxes in the memory of a t itself.
func (p *pkg) holdsBoxes(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t := t.(type) {
		case *typecheck.Vector, *typecheck.Map, *typecheck.Set:
			return false, true
		case *typecheck.Optional:
			return true, p.boxed(t.Elem)
		}
		return false, false
	})
}

// comparable reports whether Go's == is the equality of t.
func (p *pkg) comparable(t typecheck.Type) bool {
	return !property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t := t.(type) {
		case *typecheck.Basic:
			return t.Kind == typecheck.BytesKind, true
		case *typecheck.Vector, *typecheck.Map, *typecheck.Set:
			return true, true
		case *typecheck.Optional:
			if p.boxed(t.Elem) {
				return true, true
			}
		}
		return false, false
	})
}

// holdsRefs reports whether t contains references to actors.
func holdsRefs(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		return true, typecheck.IsActor(t)
	})
}

// owning reports whether assignments of field f change ownership.
func owning(f *typecheck.Var) bool { return !f.Yield && holdsPlainRefs(f.Type()) }

// holdsPlainRefs is holdsRefs without the yield fields of value classes.
func holdsPlainRefs(t typecheck.Type) bool { return plainRefs(t, map[*typecheck.Class]bool{}) }

func plainRefs(t typecheck.Type, seen map[*typecheck.Class]bool) bool {
	return property(t, seen, func(t typecheck.Type) (bool, bool) {
		c, ok := t.(*typecheck.Class)
		switch {
		case !ok:
			return false, false
		case c.Kind != ast.ValueClass || seen[c]:
			return c.Kind == ast.ActorClass, true
		}
		seen[c] = true
		for _, f := range c.Fields {
			if !f.Yield && plainRefs(f.Type(), seen) {
				return true, true
			}
		}
		return false, true
	})
}

// zero returns the zero value of a variable type: what a declaration without value has.
func (p *pkg) zero(t typecheck.Type) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch t.Kind {
		case typecheck.BoolKind:
			return "false"
		case typecheck.StringKind:
			return `""`
		case typecheck.BytesKind, typecheck.VoidKind:
			return p.goType(t) + "{}"
		}
		return "0"
	case *typecheck.Enum:
		return "0"
	case *typecheck.GoType:
		return "nil"
	}
	return p.goType(t) + "{}"
}

// hasInside is typecheck.HasInside; c may be nil.
func hasInside(t typecheck.Type, c *typecheck.Class) bool {
	return c != nil && typecheck.HasInside(t, c)
}

// nests reports whether a t may nest deeper than its type: whether it is or may have an object of a class that may contain itself.
func nests(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		c, ok := t.(*typecheck.Class)
		return true, ok && c.ContainsItself
	})
}

// equal returns the Go expression that compares two values of type t.
func (p *pkg) equal(t typecheck.Type, a, b string) string { return p.equalIn(nil, t, a, b) }

// equalIn is equal where the values are parts of objects of class c, which are compared within a walk; nil outside of one.
func (p *pkg) equalIn(c *typecheck.Class, t typecheck.Type, a, b string) string {
	if p.comparable(t) {
		return a + " == " + b
	}
	call := func(name string, of typecheck.Type) string {
		return "aeonrt." + name + "(" + a + ", " + b + ", " + p.equalFuncIn(c, of) + ")"
	}
	switch t := t.(type) {
	case *typecheck.Vector:
		return call(byFloats(t, "EqualElems", "EqualVectors"), t.Elem)
	case *typecheck.Map:
		return call(byFloats(t, "EqualEntries", "EqualMaps"), t.Value)
	case *typecheck.Optional:
		if p.boxed(t.Elem) {
			return call(byFloats(t, "EqualContents", "EqualBoxes"), t.Elem)
		}
		return call("EqualOpts", t.Elem)
	}
	p.useMethod(t, "Equal")
	if hasInside(t, c) {
		return a + ".EqualWithin(walk, " + b + ")"
	}
	return a + ".Equal(" + b + ")"
}

// byFloats returns the one function or the other by whether t contains floats. Two values without floats that share
// memory are equal, and need not be looked at.
func byFloats(t typecheck.Type, with, without string) string {
	floats := property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		return t == typecheck.Float, t == typecheck.Float
	})
	if floats {
		return with
	}
	return without
}

// useMethod notes that a method is used that not every value class needs.
func (p *pkg) useMethod(t typecheck.Type, name string) {
	if typecheck.IsValueClass(t) {
		p.used[generated{t, name}] = true
	}
}

// equalFunc returns the equality of t as a Go function value.
func (p *pkg) equalFunc(t typecheck.Type) string { return p.equalFuncIn(nil, t) }

// equalFuncIn is equalFunc as equalIn is equal.
func (p *pkg) equalFuncIn(c *typecheck.Class, t typecheck.Type) string {
	g := p.goType(t)
	if p.comparable(t) {
		return "aeonrt.Eq[" + g + "]"
	}
	if _, ok := t.(*typecheck.Class); ok && !hasInside(t, c) || t == typecheck.Bytes {
		p.useMethod(t, "Equal")
		return g + ".Equal"
	}
	return "func(x, y " + g + ") bool { return " + p.equalIn(c, t, "x", "y") + " }"
}

// text returns the Go expression for the text of a value of type t.
func (p *pkg) text(t typecheck.Type, v string) string { return p.textIn(false, t, v) }

// textIn is text, which within an object counts how deep that is.
func (p *pkg) textIn(object bool, t typecheck.Type, v string) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.StringKind:
			return v
		case typecheck.IsInteger(t):
			return "aeonrt.StrInt(" + v + ")"
		case t.Kind == typecheck.BoolKind:
			return "aeonrt.StrBool(" + v + ")"
		case typecheck.IsNumeric(t):
			return "aeonrt.StrFloat(" + v + ")"
		}
	case *typecheck.Vector:
		return "aeonrt.VectorText(" + v + ", " + p.textFunc(object, t.Elem, false) + ")"
	case *typecheck.Set:
		return v + ".Str(" + p.textFunc(object, t.Elem, true) + ")"
	case *typecheck.Map:
		return "aeonrt.MapText(" + v + ", " + p.textFunc(object, t.Key, true) + ", " + p.textFunc(object, t.Value, false) + ")"
	case *typecheck.Optional:
		if typecheck.IsRef(t.Elem) {
			return p.textIn(object, t.Elem, v)
		}
		name := "aeonrt.OptText("
		if p.boxed(t.Elem) {
			name = "aeonrt.BoxText("
		}
		return name + v + ", " + p.textFunc(object, t.Elem, false) + ")"
	case *typecheck.Class:
		if t.Kind != ast.ValueClass {
			return v + ".String()"
		}
	}
	p.useMethod(t, "Str")
	if object && nests(t) {
		return v + ".StrWithin(nesting)"
	}
	return v + ".Str()"
}

// textFunc returns textIn of t, or of t as a key, as a Go function value.
func (p *pkg) textFunc(object bool, t typecheck.Type, key bool) string {
	g := p.goType(t)
	switch u := t.(type) {
	case *typecheck.Basic:
		switch {
		case u.Kind == typecheck.StringKind:
			return "aeonrt.StrString"
		case typecheck.IsInteger(t):
			return "aeonrt.StrInt[" + g + "]"
		case u.Kind == typecheck.BoolKind:
			return "aeonrt.StrBool"
		case typecheck.IsNumeric(t):
			return "aeonrt.StrFloat"
		case u.Kind == typecheck.BytesKind && key:
			return "func(x aeonrt.BytesKey) string { return string(x) }"
		}
		return g + ".Str"
	case *typecheck.Enum:
		return g + ".Str"
	case *typecheck.Class:
		if u.Kind != ast.ValueClass {
			return g + ".String"
		}
		if !object || !nests(t) {
			p.useMethod(t, "Str")
			return g + ".Str"
		}
	}
	return "func(x " + g + ") string { return " + p.textIn(object, t, "x") + " }"
}

// nonNull returns T for T?, and every other type as it is.
func nonNull(t typecheck.Type) typecheck.Type {
	if o, ok := t.(*typecheck.Optional); ok {
		return o.Elem
	}
	return t
}

// isVoid reports whether t is no value at all.
func isVoid(t typecheck.Type) bool { return t == nil || t == typecheck.Void }
