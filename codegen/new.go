package codegen

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// new lowers `new T(args)`.
func (f *fn) new(x *ast.New) val {
	made := f.info.News[x]
	c, ok := made.Type.(*typecheck.Class)
	if !ok {
		return fresh(made.Type, f.zero(made.Type))
	}
	switch {
	case c.Kind == ast.ValueClass:
		return f.newValue(x, c, made)
	case c.Kind == ast.ClientClass:
		return fresh(c, f.gen(c, "new")+"("+withFirst("cl", f.binders(x.Args))+")")
	case f.by == byClient:
		return fresh(c, "aeonrt.Must("+f.use(c, "new")+"("+withFirst("cl", f.binders(x.Args))+"))")
	}
	return fresh(c, f.use(c, "create")+"("+withFirst("cx", f.binders(x.Args))+")")
}

func (f *fn) newValue(x *ast.New, c *typecheck.Class, made *typecheck.New) val {
	if f.foreign(c) || c.Ctor != nil && c.Ctor.Decl != nil {
		name := f.gen(c, "new")
		if f.ofClient(c.Ctor) {
			name = f.gen(c, "newClient")
		}
		args := f.binders(x.Args)
		if c.Ctor.Decl == nil {
			args = f.implicitArgs(c.Ctor, made.Fields, args)
		}
		return fresh(c, name+"("+f.withContext(c.Ctor, args)+")")
	}
	set := append([]*typecheck.Var(nil), made.Fields...)
	list := append([]ast.Expr(nil), x.Args...)
	for _, field := range c.Fields {
		if d := field.Field(); d.Init != nil {
			set, list = append(set, field), append(list, d.Init)
		}
	}
	code := f.names.obj[c] + "{"
	vals := f.binders(list)
	for i, v := range vals {
		if i > 0 {
			code += ", "
		}
		code += f.names.obj[set[i]] + ": " + v.code
	}
	return inline(c, code+"}", vals...)
}

// implicitArgs returns the arguments of an implicit constructor, one per field, from those of a call that sets
// only some.
func (f *fn) implicitArgs(ctor *typecheck.Func, set []*typecheck.Var, args []val) []val {
	list := make([]val, len(ctor.ImplicitFields))
	for i, field := range ctor.ImplicitFields {
		if j := slices.Index(set, field); j >= 0 {
			list[i] = args[j]
		} else {
			list[i] = fresh(field.Type(), f.zero(field.Type()))
		}
	}
	return list
}
