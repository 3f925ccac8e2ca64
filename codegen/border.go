package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Go code that calls a generated package gets and gives values that are wholly its own: whatever it does with them, and
// when, no actor and no other result sees it. Share is not enough for that, as Go reaches what containers are made of:
// the slice that it has made a vector from, the elements that Items returns, what a box holds. So values are copied
// where they pass the border, and there alone: in the stubs of clients, through which every call of an actor from Go
// goes. Code that is compiled from a cache has no such callers.

// forPeople reports whether Go code written by users may call the generated Go.
func (p *pkg) forPeople() bool { return !p.mapped }

// reaches reports whether Go code that has a t can reach memory that other values share.
func (p *pkg) reaches(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t := t.(type) {
		case *typecheck.Basic:
			return t.Kind == typecheck.BytesKind, true
		case *typecheck.Vector, *typecheck.Map, *typecheck.Set:
			return true, true
		case *typecheck.Optional:
			return true, p.boxed(t.Elem)
		}
		return false, false
	})
}

// acrossBorder returns the Go expression for a value of type t as it is on the other side of the border.
func (p *pkg) acrossBorder(t typecheck.Type, v string) string {
	if !p.forPeople() || isVoid(t) {
		return v
	}
	return p.copied(t, v)
}

// copied returns the Go expression for a copy of v that shares no memory with it.
func (p *pkg) copied(t typecheck.Type, v string) string {
	if !p.reaches(t) {
		return v
	}
	switch t := t.(type) {
	case *typecheck.Vector:
		return "aeonrt.CopyVector(" + v + ", " + p.copyFunc(t.Elem) + ")"
	case *typecheck.Map:
		return "aeonrt.CopyMap(" + v + ", " + p.copyFunc(t.Value) + ")"
	case *typecheck.Set:
		return "aeonrt.CopySet(" + v + ")"
	case *typecheck.Optional:
		name := "aeonrt.CopyOpt("
		if p.boxed(t.Elem) {
			name = "aeonrt.CopyBox("
		}
		return name + v + ", " + p.copyFunc(t.Elem) + ")"
	case *typecheck.Class:
		return p.gen(t, "copy") + "(" + v + ")"
	}
	return "aeonrt.CopyBytes(" + v + ")"
}

// copyFunc returns copied as a Go function value, nil if assignment copies a t.
func (p *pkg) copyFunc(t typecheck.Type) string {
	if !p.reaches(t) {
		return "nil"
	}
	switch t := t.(type) {
	case *typecheck.Basic:
		return "aeonrt.CopyBytes"
	case *typecheck.Class:
		if t.Kind == ast.ValueClass {
			return p.gen(t, "copy")
		}
	}
	g := p.goType(t)
	return "func(v " + g + ") " + g + " { return " + p.copied(t, "v") + " }"
}

// classCopy emits the copy of a value class.
func (p *pkg) classCopy(w *writer, c *typecheck.Class) {
	if !p.forPeople() || !p.reaches(c) {
		return
	}
	name := p.names.obj[c]
	w.add("// %s returns a copy that shares no memory with v.", p.gen(c, "copy"))
	w.add("func %s(v %s) %s {", p.gen(c, "copy"), name, name)
	for _, f := range c.Fields {
		if n := "v." + p.names.obj[f]; p.reaches(f.Type()) {
			w.add("%s = %s", n, p.copied(f.Type(), n))
		}
	}
	w.add("return v")
	w.add("}")
	w.add("")
}

// classJSON emits how the values of a class are written and read as JSON: as objects with all fields, by the names that they
// have in the program.
func (p *pkg) classJSON(w *writer, c *typecheck.Class) {
	if !p.forPeople() {
		return
	}
	name, values, places := p.names.obj[c], "", ""
	for i, f := range c.Fields {
		sep := ""
		if i > 0 {
			sep = ", "
		}
		values += sep + quote(f.Name()) + ", self." + p.names.obj[f]
		places += ", " + quote(f.Name()) + ", &self." + p.names.obj[f]
	}
	w.add("// MarshalJSON writes the value as an object.")
	w.add("func (self %s) MarshalJSON() ([]byte, error) { return aeonrt.MarshalObject(%s) }", name, values)
	w.add("")
	w.add("// UnmarshalJSON reads an object; fields that are missing stay as they are.")
	w.add("func (self *%s) UnmarshalJSON(data []byte) error { return aeonrt.UnmarshalObject(data, %s%s) }", name, quote(c.Name()), places)
	w.add("")
}

// enumJSON emits how constants are written and read as JSON: by their names.
func (p *pkg) enumJSON(w *writer, e *typecheck.Enum) {
	if !p.forPeople() {
		return
	}
	name, names := p.names.obj[e], p.gen(e, "names")
	w.add("// MarshalText returns the name of the constant, which is what it is in JSON.")
	w.add("func (e %s) MarshalText() ([]byte, error) { return aeonrt.MarshalEnum(%s[:], e) }", name, names)
	w.add("")
	w.add("// UnmarshalText reads the name of a constant.")
	w.add("func (e *%s) UnmarshalText(text []byte) error { return aeonrt.UnmarshalEnum(%s[:], text, e) }", name, names)
	w.add("")
}
