package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// FieldType returns the text of a field's type as the schema of a store keeps it: as a user
// writes it. What is stored depends on what classes and enums consist of, so that stands where
// they are mentioned first.
//
//	type  = name | "vector<" type ">" | "set<" type ">" | "map<" type "," type ">" | type "?"
//	      | "enum " name ["{" name {"," name} "}"] | "class " name ["{" field {";" field} "}"]
//	      | "actor " name | "client " name
//	      | "table<" type ",key:" name {",index" ":" name {":" name}} ">"
//	field = name " " ["yield "] type
//
// The names of classes and enums are those of their package and their own, with a point between.
func FieldType(f *typecheck.Var) string {
	t := typeText{seen: map[typecheck.Type]bool{}}
	t.field(f)
	return t.String()
}

// typeTextOf returns a type as FieldType does that of a field.
func typeTextOf(t typecheck.Type) string {
	b := typeText{seen: map[typecheck.Type]bool{}}
	b.add(t)
	return b.String()
}

// Signature returns the types of a method's parameters and of its result, as the schema of a store keeps
// them: the calls that wait there are encoded by them, and know parameters by their places.
//
//	signature = "(" [type {"," type}] ")" [":" type]
func Signature(f *typecheck.Func) string {
	t := typeText{seen: map[typecheck.Type]bool{}}
	t.WriteString("(")
	for i, v := range f.Params {
		if i > 0 {
			t.WriteString(",")
		}
		t.add(v.Type())
	}
	t.WriteString(")")
	if !isVoid(f.Result) {
		t.WriteString(":")
		t.add(f.Result)
	}
	return t.String()
}

type typeText struct {
	strings.Builder
	seen map[typecheck.Type]bool
}

func (b *typeText) field(f *typecheck.Var) {
	if f.Yield && holdsRefs(f.Type()) {
		b.WriteString("yield ")
	}
	b.add(f.Type())
}

func (b *typeText) add(t typecheck.Type) {
	switch t := t.(type) {
	case *typecheck.Vector:
		b.WriteString("vector<")
		b.add(t.Elem)
		b.WriteString(">")
	case *typecheck.Set:
		b.WriteString("set<")
		b.add(t.Elem)
		b.WriteString(">")
	case *typecheck.Map:
		b.WriteString("map<")
		b.add(t.Key)
		b.WriteString(",")
		b.add(t.Value)
		b.WriteString(">")
	case *typecheck.Table:
		b.table(t)
	case *typecheck.Optional:
		b.add(t.Elem)
		b.WriteString("?")
	case *typecheck.Enum:
		b.enum(t)
	case *typecheck.Class:
		b.class(t)
	default:
		if typecheck.GoTypeBehind(t) != nil { // what is stored is its text
			t = typecheck.String
		}
		b.WriteString(t.String())
	}
}

func (b *typeText) table(t *typecheck.Table) {
	b.WriteString("table<")
	b.add(t.Row)
	b.WriteString(",key:" + t.Key.Name())
	for _, index := range t.Indexes {
		b.WriteString(",index")
		for _, v := range index.Columns {
			b.WriteString(":" + v.Name())
		}
	}
	b.WriteString(">")
}

func (b *typeText) enum(t *typecheck.Enum) {
	b.WriteString("enum " + t.Pkg.Name + "." + t.Name())
	if b.seen[t] {
		return
	}
	b.seen[t] = true
	names := make([]string, len(t.Values))
	for i, v := range t.Values {
		names[i] = v.Name()
	}
	b.WriteString("{" + strings.Join(names, ",") + "}")
}

func (b *typeText) class(t *typecheck.Class) {
	name := t.Pkg.Name + "." + t.Name()
	switch t.Kind {
	case ast.ActorClass:
		b.WriteString("actor " + name)
		return
	case ast.ClientClass:
		b.WriteString("client " + name)
		return
	}
	b.WriteString("class " + name)
	if b.seen[t] {
		return
	}
	b.seen[t] = true
	b.WriteString("{")
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteString(";")
		}
		b.WriteString(f.Name() + " ")
		b.field(f)
	}
	b.WriteString("}")
}
