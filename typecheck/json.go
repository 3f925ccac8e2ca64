package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// takesType reports whether x calls the one function that takes a type: parseJson.
func (b *body) takesType(x *ast.Call) bool {
	id, ok := ast.Unparen(x.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	f, ok := b.lookup(id, nil).(*Builtin)
	return ok && f.ID == ParseJSONFunc
}

// json checks json(x).
func (b *body) json(x *ast.Call, info *Call) operand {
	info.Result = String
	if b.builtinCount(x, "json", nil, 1) {
		op := b.value(x.Args[0], nil)
		b.hasJSON(x.Args[0], op.typ, "this is")
		info.Params = []Type{op.typ}
	}
	return b.recordCall(x, info)
}

// parseJSON checks parseJson<T>(text).
func (b *body) parseJSON(x *ast.Call, info *Call) operand {
	if b.builtinCount(x, "parseJson", []Type{String}, 1) {
		b.assign(x.Args[0], String, "argument 1 of parseJson")
	}
	if len(x.TypeArgs) != 1 {
		d := b.errorf(diag.CannotInfer, x, "parseJson needs one type, that of the value which it reads")
		d.Help = "it is `parseJson<T>(text)`, as in `if (Order o = parseJson<Order>(text)) { … }`"
		return invalid
	}
	t := b.typ(b.file, x.TypeArgs[0])
	if o, ok := t.(*Optional); ok {
		d := b.errorf(diag.BadTypeUse, x.TypeArgs[0], "the result of parseJson may be null, so null is no value that it reads")
		d.Help = "it is `parseJson<" + o.Elem.String() + ">(text)`, which is null for the text null, too"
		t = o.Elem
	}
	if t == Invalid || !b.hasJSON(x.TypeArgs[0], t, "parseJson cannot read") {
		return invalid
	}
	info.Params, info.Result = []Type{String}, makeOptional(t)
	return b.recordCall(x, info)
}

// hasJSON reports whether values of type t have JSON, and if not says why at n: references have none.
func (b *body) hasJSON(n ast.Node, t Type, intro string) bool {
	if p, pending := t.(*Pending); pending {
		b.errorf(diag.TypeMismatch, n, "%s %s, which has no JSON", intro, aType(p)).Help = "await it first"
		return false
	}
	if IsOpaque(t) {
		b.report(opaqueHere(t, n.Span(), "this has no JSON"))
		return false
	}
	ref := refIn(t, make(map[*Class]bool))
	if ref == nil {
		return true
	}
	what := "which is a reference"
	if ref != t {
		what = "which may hold " + aType(ref)
	}
	d := b.errorf(diag.TypeMismatch, n, "%s %s, %s: references have no JSON, as a text owns no actor", intro, aType(t), what)
	if d.Help = "write what the program finds the actor by, such as its name: `key()` in a method of the actor"; ref.Kind == ast.ClientClass {
		d.Help = "write the values that are needed, without the client object"
	}
	return false
}

// refIn returns a class of actors or of client objects that values of type t may refer to, nil if there is none.
func refIn(t Type, seen map[*Class]bool) *Class {
	switch t := t.(type) {
	case *Optional:
		return refIn(t.Elem, seen)
	case *Vector:
		return refIn(t.Elem, seen)
	case *Set:
		return refIn(t.Elem, seen)
	case *Map:
		if c := refIn(t.Key, seen); c != nil {
			return c
		}
		return refIn(t.Value, seen)
	case *Class:
		if t.Kind != ast.ValueClass {
			return t
		}
		if seen[t] {
			return nil
		}
		seen[t] = true
		for _, f := range t.Fields {
			if c := refIn(f.typ, seen); c != nil {
				return c
			}
		}
	}
	return nil
}
