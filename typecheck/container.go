package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// vectorLit checks [a, b, c]: a vector, or what the context wants, which may be a set, and an empty map. Else
// the element type is that of the first element.
func (b *body) vectorLit(x *ast.VectorLit, want Type) operand {
	switch t := nonNull2(want).(type) {
	case *Vector:
		for _, e := range x.Elems {
			b.assign(e, t.Elem, "an element of this "+t.String())
		}
		return operand{typ: t}
	case *Set:
		seen := make(map[string]ast.Span)
		for _, e := range x.Elems {
			b.duplicateKey(seen, e, b.assign(e, t.Elem, "an element of this "+t.String()))
		}
		return operand{typ: t}
	case *Map:
		if len(x.Elems) == 0 {
			return operand{typ: t}
		}
	}
	if len(x.Elems) == 0 {
		if want == Invalid { // its type is wrong, which has been reported
			return invalid
		}
		d := b.errorf(diag.CannotInfer, x, "the type of this empty vector is not known here")
		d.Help = "declare the variable with its type: `vector<int> xs = [];`"
		return invalid
	}
	elems := b.likeFirst(x.Elems, want, "an element of this vector")
	if elems == nil {
		return invalid
	}
	return operand{typ: &Vector{elems[0].typ}}
}

// likeFirst checks values that have the type of the first one; nil if that is not known, or if nothing can be said of them
// because the type that is wanted was reported.
func (b *body) likeFirst(list []ast.Expr, want Type, what string) []operand {
	var ops []operand
	for i, e := range list {
		switch {
		case want == Invalid || i > 0 && ops == nil:
			b.loose(e)
		case i > 0:
			ops = append(ops, b.assign(e, ops[0].typ, what))
		default:
			first := b.value(e, nil)
			if first.typ = b.noOpaque(first.typ, e, "a container cannot hold this"); first.typ != Invalid {
				ops = append(ops, first)
			}
		}
	}
	return ops
}

// mapLit checks [k: v, l: w]. The types are those of the map that the context wants, or else those of the first
// key and the first value.
func (b *body) mapLit(x *ast.MapLit, want Type) operand {
	t, _ := nonNull2(want).(*Map)
	if t != nil {
		seen := make(map[string]ast.Span)
		for i, k := range x.Keys {
			b.duplicateKey(seen, k, b.assign(k, t.Key, "a key of this "+t.String()))
			b.assign(x.Values[i], t.Value, "a value of this "+t.String())
		}
		return operand{typ: t}
	}
	keys := b.likeFirst(x.Keys, want, "a key of this map")
	values := b.likeFirst(x.Values, want, "a value of this map")
	if keys != nil && !IsKey(keys[0].typ) {
		b.report(diag.New(diag.BadKey, x.Keys[0].Span(), "a value of type %s cannot be the key of a map", keys[0].typ).
			WithHelp("keys are integers, bool, string, bytes, enums, time, duration or actors"))
		return invalid
	}
	if keys == nil || values == nil {
		return invalid
	}
	seen := make(map[string]ast.Span)
	for i, k := range keys {
		b.duplicateKey(seen, x.Keys[i], k)
	}
	return operand{typ: &Map{keys[0].typ, values[0].typ}}
}

// duplicateKey reports a constant key of a literal that is there already.
func (b *body) duplicateKey(seen map[string]ast.Span, k ast.Expr, op operand) {
	if op.val == nil || op.typ == Invalid {
		return
	}
	key := caseKey(op)
	if before, twice := seen[key]; twice {
		b.report(diag.New(diag.DuplicateKey, k.Span(), "%s is there already", shorten(k.Span().Text())).
			With(before, "the first one").
			WithHelp("each key, and each element of a set, is written once"))
		return
	}
	seen[key] = k.Span()
}
