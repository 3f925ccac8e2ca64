package spec

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// eval evaluates an expression. Operands are evaluated from left to right; an operand
// that was evaluated keeps its value, since values never change.
func (f *frame) eval(x ast.Expr) value {
	if c := f.info.ConstOf(x); c != nil {
		return fromConstant(c, f.info.TypeOf(x))
	}
	switch x := x.(type) {
	case *ast.Paren:
		return f.eval(x.X)
	case *ast.Ident:
		return f.object(f.info.Uses[x])
	case *ast.This:
		return f.this()
	case *ast.NullLit:
		return nil
	case *ast.InterpolatedString:
		var b strings.Builder
		for _, part := range x.Parts {
			if s, ok := part.(*ast.StringLit); ok {
				b.WriteString(s.Value)
			} else {
				b.WriteString(f.text(part, f.eval(part)))
			}
		}
		return b.String()
	case *ast.VectorLit:
		return f.container(x)
	case *ast.MapLit:
		return f.mapOf(x)
	case *ast.Unary:
		return f.unary(x)
	case *ast.Binary:
		return f.binary(x)
	case *ast.Coalesce:
		if v := f.eval(x.X); v != nil {
			return v
		}
		return f.eval(x.Y)
	case *ast.Index:
		if _, table := f.info.TypeOf(x.X).(*typecheck.Table); table {
			k := f.eval(x.I)
			return f.element(x, f.eval(x.X), k)
		}
		v := f.eval(x.X)
		return f.element(x, v, f.eval(x.I))
	case *ast.Slice:
		return f.slice(x)
	case *ast.Field:
		return f.field(x)
	case *ast.OptionalField:
		if v := f.eval(x.X); v != nil {
			return v.(*structure).fields[f.info.Uses[x].(*typecheck.Var).Index]
		}
		return nil
	case *ast.NonNull:
		v := f.eval(x.X)
		if v == nil {
			f.fail(x, msgNull+": "+ast.NullText(x))
		}
		return v
	case *ast.Call:
		return f.evalCall(x)
	case *ast.New:
		return f.newObject(x)
	case *ast.ActorRef:
		c := f.info.TypeOf(x).(*typecheck.Class)
		return f.named(c, f.eval(x.Key).(string))
	case *ast.Await:
		return f.await(x)
	}
	panic(bug{"no rule for an expression: " + x.Span().Text()})
}

func (f *frame) evalAll(list []ast.Expr) []value {
	vals := make([]value, len(list))
	for i, x := range list {
		vals[i] = f.eval(x)
	}
	return vals
}

// object is the value of a name.
func (f *frame) object(o typecheck.Object) value {
	switch o := o.(type) {
	case *typecheck.Var:
		return f.variable(o)
	case *typecheck.EnumValue:
		return enumValue{of: o}
	case *typecheck.Const:
		return fromConstant(o.Value, o.Type())
	}
	panic(bug{"a name without meaning"})
}

func (f *frame) field(x *ast.Field) value {
	v, ok := f.info.Uses[x].(*typecheck.Var)
	if !ok {
		return f.object(f.info.Uses[x])
	}
	if _, this := ast.Unparen(x.X).(*ast.This); this {
		return f.variable(v)
	}
	return f.eval(x.X).(*structure).fields[v.Index]
}

func (f *frame) unary(x *ast.Unary) value {
	v := f.eval(x.X)
	switch x.Op {
	case ast.OpNot:
		return !v.(bool)
	case ast.OpBitXor:
		return complement(v.(integer))
	case ast.OpSub:
		switch v := v.(type) {
		case float64:
			return -v
		case span:
			return span(f.exact(x, ast.OpSub, integer{typecheck.IntKind, 0}, integer{typecheck.IntKind, int64(v)}).bits)
		case integer:
			return f.exact(x, ast.OpSub, integer{kind: v.kind}, v)
		}
	}
	return v
}

func (f *frame) exact(at ast.Node, op ast.Op, a, b integer) integer {
	r, msg := checked(op, a, b)
	if msg != "" {
		f.fail(at, msg)
	}
	return r
}

func (f *frame) binary(x *ast.Binary) value {
	switch x.Op {
	case ast.OpAnd:
		return f.eval(x.X).(bool) && f.eval(x.Y).(bool)
	case ast.OpOr:
		return f.eval(x.X).(bool) || f.eval(x.Y).(bool)
	}
	a := f.eval(x.X)
	return f.operate(x, x.Op, a, f.eval(x.Y))
}

// operate applies a binary operator to two values.
func (f *frame) operate(at ast.Node, op ast.Op, a, b value) value {
	switch op {
	case ast.OpEq:
		return equal(a, b)
	case ast.OpNe:
		return !equal(a, b)
	case ast.OpLt:
		return less(a, b)
	case ast.OpGt:
		return less(b, a)
	case ast.OpLe:
		return less(a, b) || sameOrder(a, b)
	case ast.OpGe:
		return less(b, a) || sameOrder(a, b)
	}
	switch x := a.(type) {
	case string:
		return x + b.(string)
	case byteString:
		return x + b.(byteString)
	case float64:
		return floatOp(op, x, b.(float64))
	case bool:
		return boolOp(op, x, b.(bool))
	}
	return f.moments(at, op, a, b)
}

func boolOp(op ast.Op, a, b bool) value {
	switch op {
	case ast.OpBitAnd:
		return a && b
	case ast.OpBitOr:
		return a || b
	case ast.OpBitXor:
		return a != b
	}
	return a && !b
}

// sameOrder is the equality of <= and >=, which NaN does not have.
func sameOrder(a, b value) bool {
	if x, ok := a.(float64); ok {
		return x == b.(float64)
	}
	return compare(a, b) == 0
}

// moments computes with integers, times and durations: all count in integers of 64 bits,
// and the types of the operands say what comes out.
func (f *frame) moments(at ast.Node, op ast.Op, a, b value) value {
	count := func(v value) integer {
		switch v := v.(type) {
		case integer:
			return v
		case instant:
			return integer{typecheck.IntKind, int64(v)}
		case span:
			return integer{typecheck.IntKind, int64(v)}
		}
		panic(bug{"no number"})
	}
	r := f.exact(at, op, count(a), count(b))
	_, aTime := a.(instant)
	_, bTime := b.(instant)
	_, aSpan := a.(span)
	_, bSpan := b.(span)
	switch {
	case aTime && bTime:
		return span(r.bits)
	case aTime || bTime:
		return instant(r.bits)
	case aSpan && bSpan && op == ast.OpDiv:
		return integer{typecheck.IntKind, r.bits}
	case aSpan || bSpan:
		return span(r.bits)
	}
	return r
}

// position returns an index as an int, as which it has to fit.
func (f *frame) position(at ast.Node, i value) int64 {
	n := i.(integer)
	if n.kind == typecheck.Uint64Kind && n.bits < 0 {
		f.fail(at, msgOverflow)
	}
	return n.bits
}

// element is v[i].
func (f *frame) element(at ast.Node, v, i value) value {
	switch v := v.(type) {
	case *rows:
		row, ok := v.get(i)
		if !ok {
			f.fail(at, "missing key "+keyText(i))
		}
		return row
	case *table:
		x, ok := v.get(i)
		if !ok {
			f.fail(at, "missing key "+keyText(i))
		}
		return x
	case *vector:
		return v.elems[f.inRange(at, i, len(v.elems))]
	case string:
		return octet(v[f.inRange(at, i, len(v))])
	case byteString:
		return octet(v[f.inRange(at, i, len(v))])
	}
	panic(bug{"an index into something else"})
}

func octet(b byte) value { return integer{typecheck.Uint8Kind, int64(b)} }

func (f *frame) inRange(at ast.Node, i value, size int) int {
	n := f.position(at, i)
	if n < 0 || n >= int64(size) {
		f.fail(at, indexText(n, size))
	}
	return int(n)
}

// slice is x[lo:hi].
func (f *frame) slice(x *ast.Slice) value {
	v := f.eval(x.X)
	var lo, hi value
	if x.Lo != nil {
		lo = f.eval(x.Lo)
	}
	if x.Hi != nil {
		hi = f.eval(x.Hi)
	}
	return f.part(x, v, lo, hi)
}

// part is the part of a vector, string or bytes from lo to hi; nil bounds are its own.
func (f *frame) part(at ast.Node, v, lo, hi value) value {
	size := sizeOf(v)
	a, b := int64(0), int64(size)
	if lo != nil {
		a = f.position(at, lo)
	}
	if hi != nil {
		b = f.position(at, hi)
	}
	if a < 0 || b < a || b > int64(size) {
		f.fail(at, sliceText(a, b, size))
	}
	switch v := v.(type) {
	case *vector:
		return &vector{elems: v.elems[a:b:b]}
	case string:
		return v[a:b]
	case byteString:
		return v[a:b]
	}
	panic(bug{"a slice of something else"})
}

func sizeOf(v value) int {
	switch v := v.(type) {
	case *vector:
		return len(v.elems)
	case *table:
		return len(v.entries)
	case *rows:
		return len(v.list)
	case string:
		return len(v)
	case byteString:
		return len(v)
	}
	panic(bug{"no size"})
}

// container is a vector, a set or an empty map.
func (f *frame) container(x *ast.VectorLit) value {
	elems := f.evalAll(x.Elems)
	if _, isVector := f.info.TypeOf(x).(*typecheck.Vector); isVector {
		return &vector{elems: elems}
	}
	_, set := f.info.TypeOf(x).(*typecheck.Set)
	t := &table{set: set}
	for _, e := range elems {
		t = t.with(e, nil)
	}
	return t
}

// mapOf is a map; of two entries with one key the last one counts.
func (f *frame) mapOf(x *ast.MapLit) value {
	parts, t := f.evalAll(x.Parts()), &table{}
	for i := 0; i < len(parts); i += 2 {
		t = t.with(parts[i], parts[i+1])
	}
	return t
}
