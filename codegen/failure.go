package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// require lowers require and assert. The message is built only when it is needed.
func (f *fn) require(s ast.Node, cond, msg ast.Expr, text string) {
	c := f.negated(cond)
	code := quote(text)
	pre := ""
	if msg != nil {
		pre = f.capture(func() { code = f.expr(msg).code })
	}
	f.w.at(s.Span())
	f.w.add("if %s {", c.code)
	f.w.buf.WriteString(pre)
	f.w.at(s.Span())
	f.w.add("%s", f.fail(code))
	f.w.add("}")
}

// fail returns the call that aborts with a message.
func (f *fn) fail(msg string) string {
	if f.by == byClient {
		return "aeonrt.Fail(" + msg + ")"
	}
	return "aeonrt.Abort(cx, " + msg + ")"
}

func (f *fn) abort(s *ast.Abort) {
	msg := f.expr(s.Msg)
	f.line1(s, f.fail(msg.code))
	f.line1(s, "panic(\"unreachable\")")
}

func (f *fn) delete(s *ast.Delete) {
	x := f.expr(s.X)
	if f.by == byClient {
		f.line1(s, "aeonrt.Check(cl.Delete("+side(x.code)+".Ref))")
		return
	}
	f.line1(s, "aeonrt.Delete(cx, "+side(x.code)+".Ref)")
}

func (f *fn) cancel(s *ast.Cancel) {
	name := f.expr(s.Name)
	if _, event := f.info.TypeOf(s.Name).(*typecheck.Pending); event {
		f.line1(s, name.code+".Cancel()")
		return
	}
	f.line1(s, "cx.Cancel("+f.timerName(s.Name, name)+")")
}

var opposite = map[ast.Op]ast.Op{
	ast.OpEq: ast.OpNe, ast.OpNe: ast.OpEq, ast.OpLt: ast.OpGe, ast.OpGe: ast.OpLt, ast.OpGt: ast.OpLe, ast.OpLe: ast.OpGt,
}

// negated lowers the negation of a condition as a programmer would write it.
func (f *fn) negated(cond ast.Expr) val {
	switch x := ast.Unparen(cond).(type) {
	case *ast.Unary:
		if x.Op == ast.OpNot && f.info.ConstOf(x) == nil {
			return f.expr(x.X)
		}
	case *ast.Binary:
		if !x.Op.IsComparison() || f.info.ConstOf(x) != nil {
			break
		}
		if x.Op == ast.OpEq || x.Op == ast.OpNe {
			return f.equality(x, opposite[x.Op])
		}
		if f.info.TypeOf(x.X) != typecheck.Float { // with NaN, !(a < b) is not a >= b
			vals := f.reads(x.X, x.Y)
			return f.operate(opposite[x.Op], typecheck.Bool, vals[0], vals[1])
		}
	}
	c := f.expr(cond)
	c.code = "!" + operandText(c.code)
	return c
}
