package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// plain reports whether t has a type of plain Go: whether nothing is in it that only clients of the program have.
func plain(t typecheck.Type) bool {
	return !property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t := t.(type) {
		case *typecheck.Class:
			return false, t.Kind != ast.ValueClass
		case *typecheck.Pending, *typecheck.Table:
			return true, true
		}
		return false, false
	})
}

// refusable reports whether a value of plain Go can be one that a t cannot be.
func refusable(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t := t.(type) {
		case *typecheck.Basic:
			return t.Kind == typecheck.TimeKind, true
		case *typecheck.Enum, *typecheck.Map, *typecheck.Class:
			return true, true
		}
		return false, false
	})
}

// hasContainer reports whether a value of t has or is a container, whose elements may be in the store alone.
func hasContainer(t typecheck.Type) bool {
	return property(t, map[*typecheck.Class]bool{}, func(t typecheck.Type) (bool, bool) {
		switch t.(type) {
		case *typecheck.Vector, *typecheck.Set, *typecheck.Map:
			return true, true
		}
		return false, false
	})
}

// plainType returns the type of plain Go for t.
func (p *pkg) plainType(t typecheck.Type) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch t.Kind {
		case typecheck.BytesKind:
			return "[]byte"
		case typecheck.TimeKind:
			return "time.Time"
		case typecheck.DurationKind:
			return "time.Duration"
		}
	case *typecheck.Vector:
		return "[]" + p.plainType(t.Elem)
	case *typecheck.Set:
		return "[]" + p.plainType(t.Elem)
	case *typecheck.Map:
		return "map[" + p.plainKey(t.Key) + "]" + p.plainType(t.Value)
	case *typecheck.Optional:
		if typecheck.IsRef(t.Elem) {
			return p.plainType(t.Elem)
		}
		return "*" + p.plainType(t.Elem)
	case *typecheck.Class:
		if typecheck.IsRef(t) {
			return p.gen(t, "handle")
		}
		return p.gen(t, "plain")
	}
	return p.goType(t)
}

// keyAPI returns the type of the keys that encoding/json cannot write by itself, "" for others.
func (p *pkg) keyAPI(t typecheck.Type) string {
	switch t {
	case typecheck.Bytes:
		return "aeon.BytesKey"
	case typecheck.Bool:
		return "aeon.BoolKey"
	}
	return ""
}

// plainKey returns the type of plain Go for t as the key of a map.
func (p *pkg) plainKey(t typecheck.Type) string {
	if key := p.keyAPI(t); key != "" {
		return key
	}
	return p.plainType(t)
}

// toPlain returns the Go expression that converts a value of a program, which is in db.
func (p *pkg) toPlain(t typecheck.Type, v string) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch t.Kind {
		case typecheck.BytesKind:
			return "godoor.FromBytes(" + v + ")"
		case typecheck.TimeKind:
			return "godoor.FromTime(" + v + ")"
		case typecheck.DurationKind:
			return "time.Duration(" + v + ")"
		}
	case *typecheck.Vector:
		return "godoor.Slice(" + v + ", " + p.toPlainFunc(t.Elem) + ")"
	case *typecheck.Set:
		if t.Elem == typecheck.Bytes {
			return "godoor.Slice(" + v + ".Keys(), func(x aeonrt.BytesKey) []byte { return []byte(x) })"
		}
		return "godoor.Slice(" + v + ".Keys(), " + p.toPlainFunc(t.Elem) + ")"
	case *typecheck.Map:
		key := p.toPlainFunc
		if k := p.keyAPI(t.Key); k != "" {
			key = func(typecheck.Type) string { return strings.Replace(k, "aeon.", "godoor.From", 1) }
		}
		return "godoor.FromMap(" + v + ", " + key(t.Key) + ", " + p.toPlainFunc(t.Value) + ")"
	case *typecheck.Optional:
		if typecheck.IsRef(t.Elem) {
			return p.toPlain(t.Elem, v)
		}
		return "godoor.Pointer(" + v + ".Value(), !" + v + ".IsNull(), " + p.toPlainFunc(t.Elem) + ")"
	case *typecheck.Class:
		if t.Kind == ast.ActorClass {
			return p.gen(t, "handle") + "{Handle: godoor.FromRef(db, " + v + ".Ref, &" + p.gen(t, "class") + ")}"
		}
		if t.Kind == ast.ClientClass {
			return p.gen(t, "handle") + "{ClientObject: godoor.FromClientRef(db, " + v + ".ClientRef, " + classPath(t) + ")}"
		}
		return p.gen(t, "toPlain") + "(db, " + v + ")"
	}
	return v
}

// toPlainFunc returns toPlain as a Go function value.
func (p *pkg) toPlainFunc(t typecheck.Type) string {
	if code := p.toPlain(t, "x"); code != "x" {
		return "func(x " + p.goType(t) + ") " + p.plainType(t) + " { return " + code + " }"
	}
	return "godoor.Same[" + p.goType(t) + "]"
}

// fromPlain returns the Go expression that converts a value of plain Go, which in may refuse.
func (p *pkg) fromPlain(t typecheck.Type, v string) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch t.Kind {
		case typecheck.BytesKind:
			return "godoor.Bytes(" + v + ")"
		case typecheck.TimeKind:
			return "in.Time(" + v + ")"
		case typecheck.DurationKind:
			return "aeonrt.Duration(" + v + ")"
		}
	case *typecheck.Vector:
		return "godoor.Vector(" + v + ", " + p.fromPlainFunc(t.Elem) + ")"
	case *typecheck.Set:
		if t.Elem == typecheck.Bytes {
			return "godoor.Set(" + v + ", func(x []byte) aeonrt.BytesKey { return aeonrt.BytesKey(x) })"
		}
		return "godoor.Set(" + v + ", " + p.fromPlainFunc(t.Elem) + ")"
	case *typecheck.Map:
		key := p.fromPlainFunc
		if k := p.keyAPI(t.Key); k != "" {
			key = func(typecheck.Type) string { return k + ".Key" }
		}
		return "godoor.Map(in, " + v + ", " + key(t.Key) + ", " + p.fromPlainFunc(t.Value) + ")"
	case *typecheck.Optional:
		switch {
		case typecheck.IsRef(t.Elem):
			return p.fromHandle(t.Elem.(*typecheck.Class), v, "OrNull")
		case p.boxed(t.Elem):
			return "godoor.Box(" + v + ", " + p.fromPlainFunc(t.Elem) + ")"
		}
		return "godoor.Opt(" + v + ", " + p.fromPlainFunc(t.Elem) + ")"
	case *typecheck.Enum:
		return "godoor.Enum(in, " + v + ", " + itoa(len(t.Values)) + ")"
	case *typecheck.Class:
		if typecheck.IsRef(t) {
			return p.fromHandle(t, v, "")
		}
		return p.gen(t, "fromPlain") + "(in, " + v + ")"
	}
	return v
}

// fromHandle returns the Go expression that converts a handle; null is "OrNull" if there may be none.
func (p *pkg) fromHandle(c *typecheck.Class, v, null string) string {
	if c.Kind == ast.ActorClass {
		return p.refLit(c, "in.Ref"+null+"("+v+".Handle, &"+p.gen(c, "class")+")")
	}
	return p.refLit(c, "in.ClientRef"+null+"("+v+".ClientObject, "+classPath(c)+")")
}

// fromPlainFunc returns fromPlain as a Go function value.
func (p *pkg) fromPlainFunc(t typecheck.Type) string {
	if code := p.fromPlain(t, "x"); code != "x" {
		return "func(x " + p.plainType(t) + ") " + p.goType(t) + " { return " + code + " }"
	}
	return "godoor.Same[" + p.goType(t) + "]"
}

// apiValue emits a value class as a struct of plain Go, and the conversions.
func (p *pkg) apiValue(w *writer, c *typecheck.Class) {
	name, of := p.gen(c, "plain"), p.names.obj[c]
	if !plain(c) {
		w.add("// %s is left out: it has what only clients in the program have.", name)
		w.add("")
		return
	}
	if doc := c.Decl.Doc.Text(); doc != "" {
		w.doc(doc)
	} else {
		w.add("// %s is a value class.", name)
	}
	w.add("type %s struct {", name)
	for _, f := range c.Fields {
		if d := f.Field(); d != nil {
			w.doc1(d.Doc.Text())
		}
		w.add("%s %s `json:%s`", p.gen(f, "api"), p.plainType(f.Type()), quote(f.Name()))
	}
	w.add("}")
	w.add("")
	w.add("// %s converts a %s of the program.", p.gen(c, "toPlain"), c.Name())
	w.add("func %s(db *aeon.DB, v %s) %s {", p.gen(c, "toPlain"), of, name)
	w.add("return %s{", name)
	for _, f := range c.Fields {
		w.add("%s: %s,", p.gen(f, "api"), p.toPlain(f.Type(), "v."+p.names.obj[f]))
	}
	w.add("}")
	w.add("}")
	w.add("")
	w.add("// %s converts a %s of plain Go.", p.gen(c, "fromPlain"), name)
	w.add("func %s(in *godoor.In, v %s) %s {", p.gen(c, "fromPlain"), name, of)
	if c.ContainsItself {
		w.add("if !in.Enter() {\nreturn %s{}\n}", of)
		w.add("defer in.Leave()")
	}
	w.add("return %s{", of)
	for _, f := range c.Fields {
		w.add("%s: %s,", p.names.obj[f], p.fromPlain(f.Type(), "v."+p.gen(f, "api")))
	}
	w.add("}")
	w.add("}")
	w.add("")
}

// apiEnum emits what encoding and fmt look for in an enum.
func (p *pkg) apiEnum(w *writer, e *typecheck.Enum) {
	name, names := p.names.obj[e], p.gen(e, "names")
	w.add("// String returns the name of the constant.")
	w.add("func (e %s) String() string { return godoor.EnumText(%s[:], e) }", name, names)
	w.add("")
	w.add("// MarshalText returns the name of the constant.")
	w.add("func (e %s) MarshalText() ([]byte, error) { return aeonrt.MarshalEnum(%s[:], e) }", name, names)
	w.add("")
	w.add("// UnmarshalText reads the name of a constant.")
	w.add("func (e *%s) UnmarshalText(text []byte) error { return aeonrt.UnmarshalEnum(%s[:], text, e) }", name, names)
	w.add("")
}
