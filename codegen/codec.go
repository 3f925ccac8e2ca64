package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// put returns the Go function that encodes a t.
func (p *pkg) put(t typecheck.Type, key bool) string {
	g := p.goType(t)
	switch t := t.(type) {
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.BytesKind && key:
			return "aeonrt.PutBytesKey"
		case t.Kind == typecheck.BytesKind:
			return "(*aeonrt.Encoder).Bytes"
		case t.Kind == typecheck.StringKind:
			return "(*aeonrt.Encoder).String"
		case t.Kind == typecheck.BoolKind:
			return "(*aeonrt.Encoder).Bool"
		case t.Kind == typecheck.FloatKind:
			return "(*aeonrt.Encoder).Float"
		case typecheck.IsUnsigned(t):
			return "aeonrt.PutUint[" + g + "]"
		}
		return "aeonrt.PutInt[" + g + "]"
	case *typecheck.Enum:
		return "aeonrt.PutUint[" + g + "]"
	case *typecheck.Class:
		if t.Kind == ast.ValueClass {
			return p.gen(t, "put")
		}
	}
	return "func(e *aeonrt.Encoder, v " + g + ") { " + p.encode(t, "v") + " }"
}

// encode returns the statement that encodes a value of type t.
func (p *pkg) encode(t typecheck.Type, v string) string {
	switch t := t.(type) {
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.BytesKind:
			return "e.Bytes(" + v + ")"
		case t.Kind == typecheck.StringKind:
			return "e.String(" + v + ")"
		case t.Kind == typecheck.BoolKind:
			return "e.Bool(" + v + ")"
		case t.Kind == typecheck.FloatKind:
			return "e.Float(" + v + ")"
		case t.Kind == typecheck.IntKind:
			return "e.Int(" + v + ")"
		case typecheck.IsUnsigned(t):
			return "aeonrt.PutUint(e, " + v + ")"
		}
		return "aeonrt.PutInt(e, " + v + ")"
	case *typecheck.Enum:
		return "aeonrt.PutUint(e, " + v + ")"
	case *typecheck.Vector:
		return "aeonrt.PutVector(e, " + v + ", " + p.put(t.Elem, false) + ")"
	case *typecheck.Set:
		return "aeonrt.PutSet(e, " + v + ", " + p.put(t.Elem, true) + ")"
	case *typecheck.Map:
		return "aeonrt.PutMap(e, " + v + ", " + p.put(t.Key, true) + ", " + p.put(t.Value, false) + ")"
	case *typecheck.Optional:
		switch {
		case typecheck.IsRef(t.Elem):
			return p.encode(t.Elem, v)
		case p.boxed(t.Elem):
			return "aeonrt.PutBox(e, " + v + ", " + p.put(t.Elem, false) + ")"
		}
		return "aeonrt.PutOpt(e, " + v + ", " + p.put(t.Elem, false) + ")"
	case *typecheck.Class:
		switch t.Kind {
		case ast.ValueClass:
			return p.gen(t, "put") + "(e, " + v + ")"
		case ast.ActorClass:
			return "aeonrt.PutRef(e, " + v + ".Ref)"
		}
		return "aeonrt.PutClientRef(e, " + v + ".ClientRef)"
	}
	panic("codegen: no codec for " + t.String())
}

// get returns the Go function that decodes a t.
func (p *pkg) get(t typecheck.Type, key bool) string {
	g := p.goType(t)
	switch t := t.(type) {
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.BytesKind && key:
			return "aeonrt.GetBytesKey"
		case t.Kind == typecheck.BytesKind:
			return "(*aeonrt.Decoder).Bytes"
		case t.Kind == typecheck.StringKind:
			return "(*aeonrt.Decoder).String"
		case t.Kind == typecheck.BoolKind:
			return "(*aeonrt.Decoder).Bool"
		case t.Kind == typecheck.FloatKind:
			return "(*aeonrt.Decoder).Float"
		case typecheck.IsUnsigned(t):
			return "aeonrt.GetUint[" + g + "]"
		}
		return "aeonrt.GetInt[" + g + "]"
	case *typecheck.Class:
		if t.Kind == ast.ValueClass {
			return p.gen(t, "get")
		}
	}
	return "func(d *aeonrt.Decoder) " + g + " { return " + p.decode(t) + " }"
}

// decode returns the expression that decodes a t.
func (p *pkg) decode(t typecheck.Type) string {
	g := p.goType(t)
	switch t := t.(type) {
	case *typecheck.Basic:
		switch {
		case t.Kind == typecheck.BytesKind:
			return "d.Bytes()"
		case t.Kind == typecheck.StringKind:
			return "d.String()"
		case t.Kind == typecheck.BoolKind:
			return "d.Bool()"
		case t.Kind == typecheck.FloatKind:
			return "d.Float()"
		case t.Kind == typecheck.IntKind:
			return "d.Int()"
		case typecheck.IsUnsigned(t):
			return "aeonrt.GetUint[" + g + "](d)"
		}
		return "aeonrt.GetInt[" + g + "](d)"
	case *typecheck.Enum:
		return g + "(d.Enum(" + itoa(len(t.Values)) + "))"
	case *typecheck.Vector:
		return "aeonrt.GetVector(d, " + p.get(t.Elem, false) + ")"
	case *typecheck.Set:
		return "aeonrt.GetSet(d, " + p.get(t.Elem, true) + ")"
	case *typecheck.Map:
		return "aeonrt.GetMap(d, " + p.get(t.Key, true) + ", " + p.get(t.Value, false) + ")"
	case *typecheck.Optional:
		switch {
		case typecheck.IsRef(t.Elem):
			return p.decode(t.Elem)
		case p.boxed(t.Elem):
			return "aeonrt.GetBox(d, " + p.get(t.Elem, false) + ")"
		}
		return "aeonrt.GetOpt(d, " + p.get(t.Elem, false) + ")"
	case *typecheck.Class:
		switch t.Kind {
		case ast.ValueClass:
			return p.gen(t, "get") + "(d)"
		case ast.ActorClass:
			return p.refLit(t, "aeonrt.GetRef(d)")
		}
		return p.refLit(t, "aeonrt.GetClientRef(d)")
	}
	panic("codegen: no codec for " + t.String())
}

// recordCodec emits the codec of a value class: a record with the fields by name.
func (p *pkg) recordCodec(w *writer, c *typecheck.Class) {
	name := p.names.obj[c]
	w.add("func %s(e *aeonrt.Encoder, v %s) {", p.gen(c, "put"), name)
	p.encodeFields(w, c, "v.")
	w.add("}")
	w.add("")
	w.add("func %s(d *aeonrt.Decoder) (v %s) {", p.gen(c, "get"), name)
	for _, f := range c.Fields {
		if initial, _ := p.initialValue(w, c, f); initial != "" {
			w.add("v.%s = %s", p.names.obj[f], initial)
		}
	}
	p.decodeFields(w, c, "v.")
	w.add("return v")
	w.add("}")
	w.add("")
}

func (p *pkg) encodeFields(w *writer, c *typecheck.Class, of string) {
	w.add("e.Record(%d)", len(c.Fields))
	for i, f := range c.Fields {
		op := "="
		if i == 0 {
			op = ":="
		}
		w.add("mark %s e.Field(%s)", op, quote(f.Name()))
		w.add("%s", p.encode(f.Type(), of+p.names.obj[f]))
		w.add("e.EndField(mark)")
	}
	w.add("e.EndRecord()")
}

func (p *pkg) decodeFields(w *writer, c *typecheck.Class, of string) {
	w.add("for n := d.Record(); n > 0; n-- {")
	if len(c.Fields) == 0 {
		w.add("d.Field()")
	} else {
		w.add("switch string(d.Field()) {")
		for _, f := range c.Fields {
			w.add("case %s:", quote(f.Name()))
			w.add("%s%s = %s", of, p.names.obj[f], p.decode(f.Type()))
		}
		w.add("}")
	}
	w.add("d.EndField()")
	w.add("}")
	w.add("d.EndRecord()")
}

// argsStruct emits the arguments and result of a method as a struct, with codecs: they are what travels between hosts.
func (p *pkg) argsStruct(w *writer, f *typecheck.Func) {
	name := p.gen(f, "args")
	fields := paramFields(f)
	w.add("// %s holds the arguments and the result of one call of %s.", name, f.FullName())
	w.add("type %s struct {", name)
	for i, v := range f.Params {
		w.add("%s %s", fields[i], p.goType(v.Type()))
	}
	if !isVoid(f.Result) {
		w.add("ret %s", p.goType(f.Result))
	}
	w.add("}")
	w.add("")
	w.add("// Encode writes the arguments.")
	w.add("func (x *%s) Encode(e *aeonrt.Encoder) {", name)
	for i, v := range f.Params {
		w.add("%s", p.encode(v.Type(), "x."+fields[i]))
	}
	w.add("}")
	w.add("")
	w.add("// Decode reads the arguments.")
	w.add("func (x *%s) Decode(d *aeonrt.Decoder) {", name)
	for i, v := range f.Params {
		w.add("x.%s = %s", fields[i], p.decode(v.Type()))
	}
	w.add("}")
	w.add("")
	if isVoid(f.Result) {
		return
	}
	w.add("// EncodeResult writes the result.")
	w.add("func (x *%s) EncodeResult(e *aeonrt.Encoder) { %s }", name, p.encode(f.Result, "x.ret"))
	w.add("")
	w.add("// DecodeResult reads the result.")
	w.add("func (x *%s) DecodeResult(d *aeonrt.Decoder) { x.ret = %s }", name, p.decode(f.Result))
	w.add("")
	p.tailResult(w, f)
}
