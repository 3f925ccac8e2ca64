package codegen

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// builtin lowers a call of a predeclared function.
func (f *fn) builtin(x *ast.Call, c *typecheck.Call) val {
	vals := f.reads(x.Args...)
	out := func(code string) val { return fresh(c.Result, code) }
	switch c.Builtin {
	case typecheck.MinFunc, typecheck.MaxFunc:
		return f.minMax(c.Builtin.String(), c.Result, vals)
	case typecheck.AbsFunc:
		if c.Result == typecheck.Float {
			return out("aeonrt.AbsFloat(" + vals[0].code + ")")
		}
		return out("aeonrt.Abs(" + f.typed(vals[0]) + ")")
	case typecheck.NowFunc:
		return out("aeonrt.Time(" + f.ctx() + ".Now())")
	case typecheck.RandomFunc:
		return out(f.ctx() + ".Random()")
	case typecheck.EventIDFunc:
		return out("cx.EventID().String()")
	case typecheck.KeyFunc:
		return out("aeonrt.KeyOf(self.ActorSelf())")
	case typecheck.PrintFunc:
		return out(f.ctx() + ".Print(" + f.printed(vals) + ")")
	case typecheck.LogFunc:
		return out(f.ctx() + ".Log(" + f.printed(vals) + ")")
	case typecheck.LenFunc:
		return f.size(vals[0], c.Result)
	case typecheck.StrFunc:
		return f.str(vals[0])
	case typecheck.JSONFunc:
		return out("aeonrt.JSON(" + quote(typeTextOf(vals[0].typ)) + ", " + f.typed(vals[0]) + ", " + f.put(vals[0].typ, false) + ")")
	case typecheck.ParseJSONFunc:
		return f.parseJSON(c.Result.(*typecheck.Optional), vals[0])
	case typecheck.ParseIntFunc, typecheck.ParseFloatFunc, typecheck.ParseTimeFunc, typecheck.TimeOfFunc, typecheck.SplitFunc, typecheck.JoinFunc,
		typecheck.ContainsFunc, typecheck.ReplaceFunc:
		return out("aeonrt." + upperFirst(c.Builtin.String()) + "(" + codes(vals) + ")")
	}
	panic("codegen: no emitter for the function " + c.Builtin.String())
}

// parseJSON lowers parseJson<T>(s), whose result is T?.
func (f *fn) parseJSON(t *typecheck.Optional, s val) val {
	some := "SomeIf"
	if f.boxed(t.Elem) {
		some = "BoxIf"
	}
	return fresh(t, "aeonrt."+some+"(aeonrt.ParseJSON("+quote(typeTextOf(t.Elem))+", "+s.code+", "+f.pkg.get(t.Elem, false)+"))")
}

// printed returns the text that print and log write: the texts of the arguments with spaces between.
func (f *fn) printed(vals []val) string {
	if len(vals) == 0 {
		return `""`
	}
	if slices.ContainsFunc(vals, func(v val) bool { return nests(v.typ) }) { // a text may fail: when all arguments are computed
		for i := range vals {
			vals[i] = f.settle(vals[i])
		}
	}
	var parts []string
	for _, v := range vals {
		parts = append(parts, f.textOf(v))
	}
	return strings.Join(parts, ` + " " + `)
}

func (f *fn) size(v val, t typecheck.Type) val {
	if v.typ == typecheck.String {
		return computed(t, "int64(len("+v.code+"))", v)
	}
	return fresh(t, side(v.code)+".Size()")
}

// minMax uses Go's own min and max, except for bytes, which Go does not order.
func (f *fn) minMax(name string, t typecheck.Type, vals []val) val {
	if t != typecheck.Bytes {
		vals[0].code = f.typed(vals[0])
		return computed(t, name+"("+codes(vals)+")", vals...)
	}
	out := val{code: vals[0].code, typ: t, loads: vals[0].loads}
	for _, v := range vals[1:] {
		out.code = "aeonrt." + upperFirst(name) + "(" + out.code + ", " + v.code + ")"
		out.loads |= v.loads // the result is one of them
	}
	return out
}

// conversion lowers T(x).
func (f *fn) conversion(x *ast.Call, c *typecheck.Call) val {
	v := f.expr(x.Args[0])
	from, to := v.typ, c.Result
	g := f.goType(to)
	switch {
	case typecheck.Identical(from, to):
		return v
	case to == typecheck.String && from == typecheck.Bytes:
		return fresh(to, side(v.code)+".Str()")
	case to == typecheck.Bytes && from == typecheck.String:
		return fresh(to, "aeonrt.BytesOf([]byte("+v.code+"))")
	case to == typecheck.String:
		return f.str(v)
	case typecheck.IsInteger(to) && from == typecheck.Float:
		return fresh(to, "aeonrt.Trunc["+g+"]("+v.code+")")
	case typecheck.IsInteger(to) && typecheck.IsInteger(from):
		if widens(from, to) {
			return computed(to, g+"("+v.code+")", v)
		}
		return fresh(to, "aeonrt.Convert["+g+"]("+f.typed(v)+")")
	}
	return computed(to, g+"("+v.code+")", v)
}

// widens reports whether every value of integer type from is one of type to.
func widens(from, to typecheck.Type) bool {
	bits := func(t typecheck.Type) int {
		switch t {
		case typecheck.Int8, typecheck.Uint8:
			return 8
		case typecheck.Int16, typecheck.Uint16:
			return 16
		case typecheck.Int32, typecheck.Uint32:
			return 32
		}
		return 64
	}
	fu, tu := typecheck.IsUnsigned(from), typecheck.IsUnsigned(to)
	if fu == tu {
		return bits(from) <= bits(to)
	}
	return fu && bits(from) < bits(to)
}
