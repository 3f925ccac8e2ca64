// Package typetext has the types of a program as data, read from the texts that the compiler writes of them: of the fields
// of actors, and of the parameters and results of methods. codegen.FieldType has the grammar of the texts.
package typetext

import (
	"slices"
	"strings"
)

// Type is a type.
type Type struct {
	Form   string   // a predeclared type, vector, set, map, ?, enum, class, actor, client or table
	Name   string   // of an enum or a class, with its package
	Elems  []*Type  // of a container or an optional type; those of a table are its rows, its key and its indexes
	Values []string // of an enum, where the text first mentions it
	Fields []Field  // of a value class, where the text first mentions it
	Known  bool     // the text says here what the enum or class consists of
}

// Field is a field: of a value class, or of an actor, which has no name here.
type Field struct {
	Name  string
	Yield bool
	Type  *Type
}

// Signature is the types of a method.
type Signature struct {
	Params []*Type
	Result *Type // nil: none
}

// Definitions finds the definitions of the enums and classes that t mentions.
func (t *Type) Definitions(found map[string]*Type) {
	if t.Known {
		found[t.Name] = t
	}
	for _, e := range t.Elems {
		e.Definitions(found)
	}
	for _, f := range t.Fields {
		f.Type.Definitions(found)
	}
}

// String returns the type as a user writes it.
func (t *Type) String() string {
	switch t.Form {
	case "?":
		return t.Elems[0].String() + "?"
	case "enum", "class", "actor", "client":
		return t.Name[strings.LastIndexByte(t.Name, '.')+1:]
	case "table": // without its key and its indexes
		return "table<" + t.Elems[0].String() + ">"
	}
	if len(t.Elems) == 0 {
		return t.Form
	}
	var parts []string
	for _, e := range t.Elems {
		parts = append(parts, e.String())
	}
	return t.Form + "<" + strings.Join(parts, ", ") + ">"
}

func (f Field) String() string {
	if f.Yield {
		return "yield " + f.Type.String()
	}
	return f.Type.String()
}

// ByElement reports whether a field of the type may have a row for each element.
func (t *Type) ByElement() bool {
	return t.Form == "vector" || t.Form == "set" || t.Form == "map" || t.Form == "table"
}

// IsRef reports whether values of the type are references to actors or to client objects.
func (t *Type) IsRef() bool { return t.Form == "actor" || t.Form == "client" }

// Find returns the field of a class with this name.
func (t *Type) Find(name string) (Field, bool) {
	i := slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return t.Fields[i], true
}

// Definitions finds the definitions of the enums and classes that the signature mentions.
func (s Signature) Definitions() map[string]*Type {
	found := make(map[string]*Type)
	for _, t := range s.Params {
		t.Definitions(found)
	}
	if s.Result != nil {
		s.Result.Definitions(found)
	}
	return found
}

// String returns the types as a user writes them.
func (s Signature) String() string {
	list := make([]string, len(s.Params))
	for i, t := range s.Params {
		list[i] = t.String()
	}
	text := "(" + strings.Join(list, ", ") + ")"
	if s.Result != nil {
		text += ": " + s.Result.String()
	}
	return text
}
