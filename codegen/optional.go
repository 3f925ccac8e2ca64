package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// nonNull lowers x!.
func (f *fn) nonNull(x *ast.NonNull) val {
	v := looked(f.expr(x.X))
	opt, ok := v.typ.(*typecheck.Optional)
	if !ok {
		return v
	}
	what := quote(ast.NullText(x))
	if typecheck.IsRef(opt.Elem) {
		return fresh(opt.Elem, "aeonrt.NonNull("+v.code+", "+what+")")
	}
	out := f.part(v, opt.Elem, side(v.code)+".Must("+what+")")
	out.fresh = v.fresh && !f.boxed(opt.Elem) // other values may have the box
	return out
}

// looked returns v for what only looks at it.
func looked(v val) val {
	if v.look != nil {
		return *v.look
	}
	return v
}

// coalesce lowers x ?? y: y is evaluated only where x is null.
func (f *fn) coalesce(x *ast.Coalesce) val {
	left := f.expr(x.X)
	opt, ok := left.typ.(*typecheck.Optional)
	if !ok {
		return left
	}
	var right val
	pre := f.capture(func() { right = f.bind(x.Y) })
	t := f.temp()
	_, stays := f.info.TypeOf(x).(*typecheck.Optional)
	if stays || typecheck.IsRef(opt.Elem) {
		f.w.add("%s := %s", t, f.share(left))
		f.w.add("if %s.IsNull() {", t)
	} else {
		if pre == "" && (right.konst || right.stable) && !f.shares(opt.Elem) {
			f.dropTemp()
			return val{code: side(left.code) + ".Or(" + right.code + ")", typ: opt.Elem}
		}
		f.w.add("%s, ok := %s.Get()", t, side(f.share(left)))
		f.w.add("if !ok {")
	}
	f.w.buf.WriteString(pre)
	f.w.add("%s = %s", t, right.code)
	f.w.add("}")
	result := typecheck.Type(opt.Elem)
	if stays {
		result = opt
	}
	return val{code: t, typ: result, stable: true, fresh: !f.boxed(opt.Elem)}
}

// dropTemp gives back the name that temp returned last.
func (f *fn) dropTemp() { *f.temps-- }

// optionalField lowers x?.name.
func (f *fn) optionalField(x *ast.OptionalField) val {
	field := f.info.Uses[x].(*typecheck.Var)
	t := f.info.TypeOf(x)
	return f.unlessNull(f.expr(x.X), t, func(v val) val {
		return val{code: v.code + "." + f.names.obj[field], typ: field.Type()}
	})
}

// unlessNull lowers x?.…: use is applied to the value of v where there is one; t is the type of the result.
func (f *fn) unlessNull(v val, t typecheck.Type, use func(val) val) val {
	opt, ok := v.typ.(*typecheck.Optional)
	if !ok { // never null: the checker has said so
		return use(v)
	}
	result := ""
	if !isVoid(t) {
		result = f.temp()
		f.w.add("var %s %s", result, f.goType(t))
	}
	inner := f.temp()
	if typecheck.IsRef(opt.Elem) {
		f.w.add("if %s := %s; !%s.IsNull() {", inner, compositeSide(v.code), inner)
	} else {
		f.w.add("if %s, ok := %s.Get(); ok {", inner, side(v.code))
	}
	got := use(val{code: inner, typ: opt.Elem, stable: true})
	switch {
	case isVoid(t):
		f.w.add("%s", got.code)
	default:
		if _, already := got.typ.(*typecheck.Optional); !already {
			if o, ok := t.(*typecheck.Optional); ok {
				got = f.wrap(got, o)
			}
		}
		f.w.add("%s = %s", result, f.share(got))
	}
	f.w.add("}")
	return val{code: result, typ: t, fresh: true, stable: true}
}
