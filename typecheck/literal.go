package typecheck

import (
	"go/constant"
	"go/token"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

func goUnary(op ast.Op) token.Token { return goOps[op] }

func (b *body) literal(x ast.Expr, want Type) operand {
	switch x := x.(type) {
	case *ast.IntLit:
		return operand{UntypedInt, constant.MakeUint64(x.Value)}
	case *ast.FloatLit:
		val := constant.MakeFromLiteral(x.Text, token.FLOAT, 0)
		if val.Kind() == constant.Unknown {
			val = constant.MakeFloat64(x.Value)
		}
		if val.Kind() == constant.Unknown {
			b.errorf(diag.ConstOverflow, x, "this number is too large")
			return invalid
		}
		return operand{UntypedFloat, val}
	case *ast.DurationLit:
		return operand{Duration, constant.MakeInt64(int64(x.Value))}
	case *ast.StringLit:
		return operand{String, constant.MakeString(x.Value)}
	case *ast.BoolLit:
		return operand{Bool, constant.MakeBool(x.Value)}
	case *ast.NullLit:
		return operand{typ: Null}
	case *ast.InterpolatedString:
		for _, p := range x.Parts {
			b.printable(p)
		}
		return operand{typ: String}
	case *ast.VectorLit:
		return b.vectorLit(x, want)
	case *ast.MapLit:
		return b.mapLit(x, want)
	}
	assert.Unreachable("the checker does not know the expression %T", x)
	return invalid
}

// printable checks an expression for str, print, log and interpolation.
func (b *body) printable(x ast.Expr) {
	op := b.value(x, nil)
	if _, pending := op.typ.(*Pending); pending {
		d := b.errorf(diag.TypeMismatch, x, "this is %s, which has no text", aType(op.typ))
		d.Help = "await it first"
	}
	if IsOpaque(op.typ) {
		b.report(opaqueHere(op.typ, x.Span(), "this has no text"))
	}
}

func nonNull2(t Type) Type {
	if t == nil {
		return nil
	}
	return nonNull(t)
}

// index checks x[i].
func (b *body) index(x *ast.Index) operand {
	recv := b.receiver(x.X)
	if o, ok := recv.typ.(*Optional); ok {
		b.report(maybeNull(x.X, "this may be null, so it has no elements"))
		recv.typ = o.Elem
	}
	switch t := recv.typ.(type) {
	case *Vector:
		b.position(x.I)
		return operand{typ: t.Elem}
	case *Map:
		b.assign(x.I, t.Key, "a key of this "+t.String())
		return operand{typ: t.Value}
	case *Table:
		b.assign(x.I, t.Key.typ, "a key of this "+t.String())
		return operand{typ: t.Row}
	case *Basic:
		switch t {
		case String, Bytes:
			b.position(x.I)
			return operand{typ: Uint8}
		case Invalid:
			b.loose(x.I)
			return invalid
		}
	}
	b.loose(x.I)
	d := b.errorf(diag.NotIndexable, x.X, "%s has no elements to index", recv.typ)
	if _, set := recv.typ.(*Set); set {
		d.Help = "ask a set with has(…), or loop over it"
	}
	return invalid
}

// position checks an index: an integer, and not negative if it is constant.
func (b *body) position(i ast.Expr) {
	op := b.value(i, Int)
	if op.typ == Invalid {
		return
	}
	if !IsInteger(op.typ) {
		b.report(b.mismatch(i, op, Int, "an index"))
		return
	}
	if op.val != nil && constant.Sign(op.val) < 0 {
		b.errorf(diag.ConstIndex, i, "index %s is negative", constText(op.val)).Help = "the last element of xs is `xs[xs.size() - 1]`"
	}
}

// slice checks x[lo:hi].
func (b *body) slice(x *ast.Slice) operand {
	recv := b.value(x.X, nil)
	for _, i := range []ast.Expr{x.Lo, x.Hi} {
		if i != nil {
			b.position(i)
		}
	}
	if recv.typ == Invalid {
		return invalid
	}
	if o, ok := recv.typ.(*Optional); ok {
		b.report(maybeNull(x.X, "this may be null, so it cannot be sliced"))
		recv.typ = o.Elem
	}
	if _, vector := recv.typ.(*Vector); vector || recv.typ == String || recv.typ == Bytes {
		return operand{typ: recv.typ}
	}
	b.errorf(diag.NotIndexable, x.X, "%s cannot be sliced", recv.typ).Help = "strings, bytes and vectors can"
	return invalid
}
