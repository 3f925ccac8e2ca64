package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// ident lowers a bare name: a local, a field of the current object, a constant or an enum value.
func (f *fn) ident(x *ast.Ident) val {
	switch obj := f.info.Uses[x].(type) {
	case *typecheck.Var:
		v := f.variable(obj)
		return f.narrow(v, f.info.TypeOf(x))
	case *typecheck.EnumValue:
		return f.enumValue(obj)
	case *typecheck.Const:
		return f.constant(x, obj.Type(), obj.Value)
	}
	panic("codegen: name without meaning: " + x.Name)
}

// variable reads a variable with its declared type.
func (f *fn) variable(v *typecheck.Var) val {
	if v.Kind == typecheck.FieldVar {
		_, table := v.Type().(*typecheck.Table) // which is always the same, and read when a method is called
		return val{code: "self." + f.names.obj[v], typ: v.Type(), loads: fields, stable: table}
	}
	out := val{code: f.local(v), typ: v.Type()}
	if v.Mutated || v.Assigned {
		out.loads = localVars
	} else {
		out.stable = true
	}
	return out
}

// narrow takes the value out of an optional variable where the checker knows that there is one.
func (f *fn) narrow(v val, t typecheck.Type) val {
	opt, ok := v.typ.(*typecheck.Optional)
	if !ok {
		return v
	}
	if _, still := t.(*typecheck.Optional); still {
		return v
	}
	if !typecheck.IsRef(opt.Elem) {
		v.code += ".Value()"
	}
	v.typ = opt.Elem
	return v
}

// narrowedAsDeclared lowers x, but a narrowed variable as the optional that it was declared as.
func (f *fn) narrowedAsDeclared(x ast.Expr) val {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if v, ok := f.info.Uses[id].(*typecheck.Var); ok {
			return f.variable(v)
		}
	}
	return f.expr(x)
}

func (f *fn) enumValue(v *typecheck.EnumValue) val {
	return val{code: f.names.obj[v], typ: v.Enum, fresh: true, stable: true, known: true}
}

// this lowers `this`: the reference to the current actor or client object, or the current value.
func (f *fn) this(t typecheck.Type) val {
	c := f.f.Class
	switch {
	case typecheck.IsActor(c):
		return val{code: f.gen(c, "ref") + "{self.Ref()}", typ: t, fresh: true, stable: true}
	case typecheck.IsClient(c):
		return val{code: f.gen(c, "ref") + "{self.ClientObject.Ref()}", typ: t, fresh: true, stable: true}
	case f.selfIsPointer():
		return val{code: "(*self)", typ: t, loads: fields}
	}
	return val{code: "self", typ: t, loads: fields}
}

// selfIsPointer reports whether self is a pointer to a value class.
func (f *fn) selfIsPointer() bool {
	return typecheck.IsValueClass(f.f.Class) && f.f.Kind == typecheck.Method && f.f.Mutating
}

// field lowers x.name as a value.
func (f *fn) field(x *ast.Field) val {
	switch obj := f.info.Uses[x].(type) {
	case *typecheck.EnumValue:
		return f.enumValue(obj)
	case *typecheck.Var:
		if _, this := ast.Unparen(x.X).(*ast.This); this {
			return f.narrow(f.variable(obj), f.info.TypeOf(x))
		}
		v := f.expr(x.X)
		v.code, v.typ = side(v.code)+"."+f.names.obj[obj], obj.Type()
		v.konst, v.known = false, false
		return f.narrow(v, f.info.TypeOf(x))
	}
	panic("codegen: field without meaning: " + x.Name.Text)
}

// index lowers x[i] as a value.
func (f *fn) index(x *ast.Index) val {
	t := f.info.TypeOf(x.X)
	vals := f.operands(func(i int, x ast.Expr) val { return f.expr(x) }, x.X, x.I)
	recv, i := vals[0], vals[1]
	if t == typecheck.String {
		return fresh(f.info.TypeOf(x), "aeonrt.StringAt("+recv.code+", "+f.position(i)+")")
	}
	return f.part(recv, f.info.TypeOf(x), side(recv.code)+".At("+f.stepKey(t, i)+")")
}

// key returns a lowered key in the form that maps and sets store.
func (f *fn) key(t typecheck.Type, k val) string {
	if t == typecheck.Bytes {
		return side(k.code) + ".Key()"
	}
	return k.code
}

// position returns a lowered index as an int64.
func (f *fn) position(i val) string {
	if i.konst || f.goType(i.typ) == "int64" {
		return i.code
	}
	return "aeonrt.Convert[int64](" + f.typed(i) + ")"
}

// slice lowers x[lo:hi].
func (f *fn) slice(x *ast.Slice) val {
	t := f.info.TypeOf(x)
	var vals []val
	read := func(_ int, x ast.Expr) val { return f.expr(x) }
	if x.Hi == nil { // the size is taken of the same value, so that must not be evaluated twice
		recv := f.expr(x.X)
		if !recv.stable {
			recv = f.spill(recv)
		}
		lo := val{code: "0", konst: true}
		if x.Lo != nil {
			lo = f.expr(x.Lo)
		}
		hi := val{code: side(recv.code) + ".Size()", typ: typecheck.Int}
		if t == typecheck.String {
			hi.code = "int64(len(" + recv.code + "))"
		}
		vals = []val{recv, lo, hi}
	} else {
		vals = f.operands(read, x.X, x.Lo, x.Hi)
		if x.Lo == nil {
			vals[1] = val{code: "0", konst: true}
		}
	}
	lo, hi := f.position(vals[1]), f.position(vals[2])
	if t == typecheck.String {
		return fresh(t, "aeonrt.StringSlice("+vals[0].code+", "+lo+", "+hi+")")
	}
	return fresh(t, f.sliceOf(vals[0], lo, hi))
}
