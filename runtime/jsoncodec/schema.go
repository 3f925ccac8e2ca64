package jsoncodec

import (
	"math"
	"strings"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Schema is a JSON Schema, in the dialect of OpenAPI 3.1 (2020-12).
type Schema map[string]any

// Schemas describe types. Each enum and value class becomes a definition, to which the others refer.
type Schemas struct {
	Prefix string            // of references: "#/components/schemas/"
	Named  map[string]Schema // the definitions, by their names
	owner  map[string]string // which type has a name
}

// Of returns the schema of the values of a type.
func (s *Schemas) Of(t *Type) Schema {
	switch t.kind {
	case typetext.Signed:
		return integer(t, float64(t.min))
	case typetext.Unsigned:
		return integer(t, 0)
	case typetext.Float:
		return Schema{"type": "number", "format": "double", "description": `what JSON has no number for is "NaN", "Infinity" or "-Infinity"`}
	case typetext.Bool:
		return Schema{"type": "boolean"}
	case typetext.Bytes:
		return Schema{"type": "string", "contentEncoding": "base64"}
	case typetext.Time:
		return Schema{"type": "string", "format": "date-time"}
	case typetext.Duration:
		return Schema{"type": "string", "description": "a duration as in Go: 1m30s", "examples": []string{"1m30s"}}
	case typetext.Vector:
		return Schema{"type": "array", "items": s.Of(t.elem)}
	case typetext.Set:
		return Schema{"type": "array", "items": s.Of(t.elem), "uniqueItems": true}
	case typetext.Map:
		return Schema{"type": "object", "additionalProperties": s.Of(t.elem)}
	case typetext.Optional:
		return orNull(s.Of(t.elem))
	case typetext.Enum, typetext.Class:
		return Schema{"$ref": s.Prefix + s.name(t)}
	case typetext.Actor:
		text := Schema{"type": "string", "description": "an actor: " + t.of.String() + "/NAME, or " + t.of.String() + ":ID"}
		if t.nullable {
			return orNull(text)
		}
		return text
	case typetext.Client:
		text := Schema{"type": "string", "description": "a client of class " + t.of.String() + ", as /v1/clients refers to it"}
		if t.nullable {
			return orNull(text)
		}
		return text
	}
	return Schema{"type": "string"}
}

func orNull(of Schema) Schema {
	if kind, ok := of["type"].(string); ok {
		of["type"] = []string{kind, "null"}
		return of
	}
	return Schema{"anyOf": []Schema{of, {"type": "null"}}}
}

// integer is the schema of an integer. Bounds that a float cannot hold are told by the format.
func integer(t *Type, low float64) Schema {
	s := Schema{"type": "integer", "format": t.of.Form}
	switch {
	case t.kind == typetext.Signed && t.min == math.MinInt64:
		s["format"] = "int64"
	case t.kind == typetext.Unsigned && t.max == math.MaxUint64:
		s["minimum"] = 0
	default:
		s["minimum"], s["maximum"] = int64(low), t.max
	}
	return s
}

// name returns the name of the definition of an enum or a value class, and makes it. Two types of one name are told apart
// by their packages.
func (s *Schemas) name(t *Type) string {
	path := t.of.Name
	name := path[strings.LastIndexByte(path, '.')+1:]
	if s.owner == nil {
		s.owner, s.Named = make(map[string]string), make(map[string]Schema)
	}
	if other, taken := s.owner[name]; taken && other != path {
		name = strings.ReplaceAll(path, ".", "_")
	}
	if s.owner[name] == path {
		return name
	}
	s.owner[name] = path
	if t.kind == typetext.Enum {
		s.Named[name] = Schema{"type": "string", "enum": t.names}
		return name
	}
	s.Named[name] = nil // while its fields are made, which may refer to it
	s.Named[name] = s.object(t)
	return name
}

// object is the schema of a value class.
func (s *Schemas) object(t *Type) Schema {
	fields, required := Schema{}, []string{}
	for i, f := range t.fields {
		fields[t.names[i]] = s.Of(f)
		if !f.mayBeNull() {
			required = append(required, t.names[i])
		}
	}
	of := Schema{"type": "object", "properties": fields, "additionalProperties": false}
	if len(required) > 0 {
		of["required"] = required
	}
	return of
}

// Params returns the schema of the object of the arguments.
func (s *Schemas) Params(p *Params) Schema { return s.object(&p.is) }

// ClientClasses calls yield with the client classes, with their packages, that the arguments may have objects of.
func (p *Params) ClientClasses(yield func(class string)) { p.is.clientClasses(map[*Type]bool{}, yield) }

func (t *Type) clientClasses(seen map[*Type]bool, yield func(class string)) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	if t.kind == typetext.Client {
		yield(t.of.Name)
	}
	t.key.clientClasses(seen, yield)
	t.elem.clientClasses(seen, yield)
	for _, f := range t.fields {
		f.clientClasses(seen, yield)
	}
}

// Param is one parameter of a method.
type Param struct {
	Name     string
	Type     *Type
	Required bool
	Plain    bool // the text that ReadTexts takes is what the schema describes, and not the JSON of an array or an object
}

// isPlain reports whether values of the type are neither arrays nor objects in JSON.
func (t *Type) isPlain() bool {
	switch t.kind {
	case typetext.Vector, typetext.Set, typetext.Map, typetext.Class:
		return false
	case typetext.Optional:
		return t.elem.isPlain()
	}
	return true
}

// List returns the parameters in order.
func (p *Params) List() []Param {
	list := make([]Param, len(p.is.fields))
	for i, t := range p.is.fields {
		list[i] = Param{p.is.names[i], t, !t.mayBeNull(), t.isPlain()}
	}
	return list
}
