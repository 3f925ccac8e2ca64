// Package jsoncodec writes messages of package codec as JSON, and reads JSON into such messages, by the types of the
// program. So what stands at the border of a program needs no generated code, and knows each value that crosses it.
//
// The JSON is what a programmer would write by hand, as docs/language.md has it: vectors and sets are arrays, maps are
// objects, T? is the value or null, value classes are objects with their fields, enums their names, bytes base64, times
// RFC 3339, durations such as "1m30s", actors "Class/name". Reading is strict, since it reads what others send: a field
// that is unknown or there twice is an error, and so is one that is missing, unless it may be null.
package jsoncodec

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Names knows the texts by which JSON refers to actors and client objects. Classes are given with their packages.
type Names interface {
	// Actor returns the id of the actor of a class that text names; the error says why there is none.
	Actor(class, text string) (event.ActorID, error)
	// ActorText returns the text of an actor of a class.
	ActorText(class string, id event.ActorID) string
	// Client returns the number of the object of a client class that text names; the error says why there is none. Its text
	// is the name of the class, a colon and the number.
	Client(class, text string) (uint64, error)
}

// Type is a type that values are read and written by. Any goroutine may use it.
type Type struct {
	kind     typetext.Kind
	of       *typetext.Type
	min      int64    // of signed
	max      uint64   // of signed and unsigned
	elem     *Type    // of containers and optional types
	key      *Type    // of maps
	nullable bool     // a reference that may be null: it is encoded as one that may not
	names    []string // of the constants of an enum, or of the fields of a class
	fields   []*Type  // of a class
	index    map[string]int
}

// Compiler makes types from texts. Each class and enum that the texts mention becomes one type.
type Compiler struct {
	defs map[string]*typetext.Type
	made map[string]*Type
}

// Signature makes the types of the parameters and of the result of a method. The names are those of the parameters.
func (c *Compiler) Signature(text string, names []string) (params *Params, result *Type, err error) {
	s, err := typetext.ParseSignature(text)
	if err != nil {
		return nil, nil, err
	}
	if len(names) != len(s.Params) {
		return nil, nil, fmt.Errorf("%d names of %d parameters", len(names), len(s.Params))
	}
	c.learn(s.Definitions())
	params = &Params{Type{kind: typetext.Class, names: names, index: make(map[string]int)}}
	for i, p := range s.Params {
		t, err := c.make(p)
		if err != nil {
			return nil, nil, err
		}
		params.is.fields, params.is.index[names[i]] = append(params.is.fields, t), i
	}
	if s.Result != nil {
		if result, err = c.make(s.Result); err != nil {
			return nil, nil, err
		}
	}
	return params, result, nil
}

// ParseType makes a type from its text, which is that of a field without yield.
func ParseType(text string) (*Type, error) {
	f, err := typetext.ParseField(text)
	if err != nil {
		return nil, err
	}
	return newType(f.Type)
}

// newType makes a type, by its own definitions alone.
func newType(of *typetext.Type) (*Type, error) {
	c := Compiler{}
	found := make(map[string]*typetext.Type)
	of.Definitions(found)
	c.learn(found)
	return c.make(of)
}

// learn takes over definitions. Types of other packages and those of the same name are told apart by their names.
func (c *Compiler) learn(defs map[string]*typetext.Type) {
	if c.defs == nil {
		c.defs, c.made = make(map[string]*typetext.Type), make(map[string]*Type)
	}
	for name, d := range defs {
		if c.defs[name] == nil {
			c.defs[name] = d
		}
	}
}

func (c *Compiler) make(of *typetext.Type) (*Type, error) {
	e, ok := of.Encoding()
	if !ok {
		return nil, fmt.Errorf("values of type %s do not leave an actor", of)
	}
	t := &Type{kind: e.Kind, of: of, min: e.Min, max: e.Max}
	switch e.Kind {
	case typetext.Enum, typetext.Class:
		return c.defined(t)
	case typetext.Vector, typetext.Set, typetext.Map, typetext.Optional:
		return t, c.parts(t)
	}
	return t, nil
}

// parts makes the types that a container or an optional type consists of.
func (c *Compiler) parts(t *Type) (err error) {
	elems := t.of.Elems
	want := 1
	if t.kind == typetext.Map {
		want = 2
	}
	if len(elems) != want {
		return fmt.Errorf("type %s has %d parts", t.of, len(elems))
	}
	if t.kind == typetext.Map {
		if t.key, err = c.make(elems[0]); err != nil {
			return err
		}
		if t.key.keyText() == nil {
			return fmt.Errorf("%s is no type of keys", t.key.of)
		}
	}
	t.elem, err = c.make(elems[want-1])
	if err == nil && t.kind == typetext.Optional && (t.elem.kind == typetext.Actor || t.elem.kind == typetext.Client) {
		t.elem.nullable = true
		*t = *t.elem
	}
	return err
}

// defined returns the type of an enum or a value class.
func (c *Compiler) defined(t *Type) (*Type, error) {
	name := t.of.Name
	if made := c.made[name]; made != nil {
		return made, nil
	}
	def := c.defs[name]
	if def == nil {
		return nil, fmt.Errorf("the text of the type does not say what %s consists of", name)
	}
	c.made[name] = t // before its fields, which may have it as their type
	t.of, t.index = def, make(map[string]int)
	t.names = def.Values
	for _, f := range def.Fields {
		of, err := c.make(f.Type)
		if err != nil {
			return nil, err
		}
		t.names, t.fields = append(t.names, f.Name), append(t.fields, of)
	}
	for i, n := range t.names {
		t.index[n] = i
	}
	return t, nil
}

// String returns the type as a user writes it.
func (t *Type) String() string {
	if t == nil {
		return "void"
	}
	if t.nullable {
		return t.of.String() + "?"
	}
	return t.of.String()
}

// mayBeNull reports whether null is a value of the type.
func (t *Type) mayBeNull() bool { return t.kind == typetext.Optional || t.nullable }
