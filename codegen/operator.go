package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// checked has the runtime functions for the integer operators that can fail.
var checked = map[ast.Op]string{
	ast.OpAdd: "aeonrt.Add", ast.OpSub: "aeonrt.Sub", ast.OpMul: "aeonrt.Mul", ast.OpDiv: "aeonrt.Div", ast.OpRem: "aeonrt.Mod",
	ast.OpShl: "aeonrt.Shl", ast.OpShr: "aeonrt.Shr",
}

func (f *fn) unary(x *ast.Unary) val {
	v := f.expr(x.X)
	t := f.info.TypeOf(x)
	switch {
	case x.Op == ast.OpAdd:
		return v
	case x.Op == ast.OpNot:
		return computed(t, "!"+operandText(v.code), v)
	case x.Op == ast.OpBitXor:
		return computed(t, "^"+operandText(v.code), v)
	case t == typecheck.Float:
		return computed(t, "-"+operandText(v.code), v)
	}
	return fresh(t, "aeonrt.Neg("+f.typed(v)+")")
}

// operandText returns the operand of a unary operator.
func operandText(code string) string {
	if !primary(code) {
		return "(" + code + ")"
	}
	return code
}

func (f *fn) binary(x *ast.Binary) val {
	if x.Op == ast.OpAnd || x.Op == ast.OpOr {
		return f.logical(x)
	}
	if x.Op == ast.OpEq || x.Op == ast.OpNe {
		return f.equality(x, x.Op)
	}
	vals := f.reads(x.X, x.Y)
	return f.operate(x.Op, f.info.TypeOf(x), vals[0], vals[1])
}

// operate applies an operator other than && || == != to two lowered operands.
func (f *fn) operate(op ast.Op, t typecheck.Type, a, b val) val {
	native := func(result typecheck.Type) val { return f.native(op, result, a, b) }
	switch {
	case op.IsComparison():
		if a.typ == typecheck.Bytes {
			return fresh(t, side(a.code)+".Compare("+b.code+") "+op.String()+" 0")
		}
		return native(t)
	case a.typ == typecheck.Time || b.typ == typecheck.Time:
		return f.timeOperator(op, t, a, b)
	case a.typ == typecheck.Duration || b.typ == typecheck.Duration:
		return f.durationOperator(op, t, a, b)
	case t == typecheck.Float:
		v := native(t)
		if op == ast.OpMul {
			v.code, v.prec = "float64("+v.code+")", 0 // Go may otherwise fuse it with an addition, which rounds once
		}
		return v
	case t == typecheck.String, checked[op] == "":
		return native(t)
	}
	if op == ast.OpShl || op == ast.OpShr {
		return fresh(t, checked[op]+"("+f.typed(a)+", "+f.typed(b)+")")
	}
	if a.konst && b.konst {
		a = val{code: f.typed(a), typ: a.typ}
	}
	return fresh(t, checked[op]+"("+a.code+", "+b.code+")")
}

// native applies an operator that Go has, too.
func (f *fn) native(op ast.Op, t typecheck.Type, a, b val) val {
	v := computed(t, a.within(op, 0)+" "+op.String()+" "+b.within(op, 1), a, b)
	if !a.known || !b.known {
		v.prec = op.Precedence()
	}
	return v
}

// side returns code as the operand of a Go operator or selector: in parentheses unless it binds by itself, also in the
// head of a statement.
func side(code string) string { return compositeSide(operandText(code)) }

// within returns v as an operand of op; right is 1 for the right one, which has to bind tighter.
func (v val) within(op ast.Op, right int) string {
	if v.prec >= op.Precedence()+right {
		return v.code
	}
	return side(v.code)
}

func (f *fn) timeOperator(op ast.Op, t typecheck.Type, a, b val) val {
	switch {
	case a.typ == typecheck.Duration:
		return fresh(t, f.typed(a)+".After("+b.code+")")
	case t == typecheck.Duration:
		return fresh(t, f.typed(a)+".Sub("+b.code+")")
	case op == ast.OpAdd:
		return fresh(t, f.typed(a)+".Add("+b.code+")")
	}
	return fresh(t, f.typed(a)+".SubDuration("+b.code+")")
}

func (f *fn) durationOperator(op ast.Op, t typecheck.Type, a, b val) val {
	convert := func(v val) string {
		if v.typ == typecheck.Duration {
			return f.typed(v)
		}
		return "aeonrt.Duration(" + v.code + ")"
	}
	code := checked[op] + "(" + convert(a) + ", " + convert(b) + ")"
	if t != typecheck.Duration {
		code = f.goType(t) + "(" + code + ")"
	}
	return fresh(t, code)
}

// logical lowers && and ||: the right side is evaluated only where it counts.
func (f *fn) logical(x *ast.Binary) val {
	left := f.expr(x.X)
	var right val
	pre := f.capture(func() { right = f.expr(x.Y) })
	if pre == "" && left.loads&f.writes(x.Y) == 0 {
		return val{code: left.within(x.Op, 0) + " " + x.Op.String() + " " + right.within(x.Op, 1), typ: typecheck.Bool, fresh: true,
			loads: left.loads | right.loads, prec: x.Op.Precedence()}
	}
	t := f.temp()
	f.w.add("%s := %s", t, left.code)
	if x.Op == ast.OpAnd {
		f.w.add("if %s {", t)
	} else {
		f.w.add("if !%s {", t)
	}
	f.w.buf.WriteString(pre)
	f.w.add("%s = %s", t, right.code)
	f.w.add("}")
	return val{code: t, typ: typecheck.Bool, fresh: true, stable: true}
}

func isNull(x ast.Expr) bool {
	_, ok := ast.Unparen(x).(*ast.NullLit)
	return ok
}

// equality lowers the operands of x compared with op, which is == or !=.
func (f *fn) equality(x *ast.Binary, op ast.Op) val {
	not := ""
	if op == ast.OpNe {
		not = "!"
	}
	switch {
	case isNull(x.Y):
		return f.isNull(not, x.X)
	case isNull(x.X):
		return f.isNull(not, x.Y)
	}
	vals := f.reads(x.X, x.Y)
	return f.same(op, vals[0], vals[1])
}

// same compares two lowered values of one type with == or !=.
func (f *fn) same(op ast.Op, a, b val) val {
	if f.comparable(a.typ) {
		return f.native(op, typecheck.Bool, a, b)
	}
	code := f.equal(a.typ, side(a.code), b.code)
	if op == ast.OpNe {
		code = "!" + code
	}
	return fresh(typecheck.Bool, code)
}

// compositeSide puts a composite literal in parentheses, which Go wants in the head of a statement.
func compositeSide(code string) string {
	if strings.HasSuffix(code, "}") {
		return "(" + code + ")"
	}
	return code
}

func (f *fn) isNull(not string, x ast.Expr) val {
	v := looked(f.narrowedAsDeclared(x))
	return val{code: not + side(v.code) + ".IsNull()", typ: typecheck.Bool, fresh: true, loads: v.loads}
}
