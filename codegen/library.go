package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// library lowers a call of a method of a library type.
func (f *fn) library(x *ast.Call, c *typecheck.Call) val {
	if st := f.info.Stores[x]; st != nil {
		if c.Optional {
			return f.mutateUnlessNull(x, st, c)
		}
		return f.mutate(x, st, c)
	}
	if c.Optional {
		recv := f.expr(c.Recv)
		if len(x.Args) > 0 && !recv.stable {
			recv = f.spill(recv)
		}
		return f.unlessNull(recv, c.Result, func(v val) val {
			return f.readMethod(c, v, f.reads(x.Args...), innerResult(c))
		})
	}
	if c.Library == typecheck.ReversedMethod || c.Library == typecheck.LimitMethod {
		if table, query, ok := f.rowQuery(x); ok {
			return fresh(c.Result, table+".Select("+query+")")
		}
	}
	vals := f.reads(append([]ast.Expr{c.Recv}, c.Values(x)...)...)
	return f.readMethod(c, vals[0], vals[1:], c.Result)
}

// innerResult returns the type of the call itself, which may stand behind `?.`. Where that is optional already, both agree.
func innerResult(c *typecheck.Call) typecheck.Type {
	switch c.Library {
	case typecheck.PopMethod, typecheck.RemoveMethod:
		if v, ok := nonNull(c.RecvType).(*typecheck.Vector); ok {
			return v.Elem
		}
	case typecheck.GetMethod, typecheck.FindMethod, typecheck.ParseIntMethod, typecheck.ParseFloatMethod, typecheck.ParseTimeMethod:
		return c.Result
	}
	return nonNull(c.Result)
}

// readMethod lowers a method that does not change its receiver.
func (f *fn) readMethod(c *typecheck.Call, recv val, args []val, result typecheck.Type) val {
	r := side(recv.code)
	out := func(code string) val { return fresh(result, code) }
	if recv.typ == typecheck.String {
		return f.stringMethod(c, recv, args, result)
	}
	if t, ok := recv.typ.(*typecheck.Table); ok {
		return f.tableMethod(c, t, recv, args, result)
	}
	switch c.Library {
	case typecheck.SizeMethod:
		return out(r + ".Size()")
	case typecheck.ContainsMethod:
		elem := recv.typ.(*typecheck.Vector).Elem
		return out("aeonrt.ContainsElem(" + recv.code + ", " + args[0].code + ", " + f.equalFunc(elem) + ")")
	case typecheck.SliceMethod:
		return out(f.sliceOf(recv, f.position(args[0]), f.position(args[1])))
	case typecheck.ReversedMethod:
		return out("aeonrt.ReversedOf(" + recv.code + ")")
	case typecheck.LimitMethod:
		return out("aeonrt.LimitOf(" + recv.code + ", " + args[0].code + ")")
	case typecheck.HasMethod:
		return out(r + ".Has(" + f.key(keyOf(recv.typ), args[0]) + ")")
	case typecheck.GetMethod:
		return f.get(recv, args[0], result)
	case typecheck.KeysMethod, typecheck.ValuesMethod:
		return f.keysOrValues(c, recv, result)
	case typecheck.YearMethod, typecheck.MonthMethod, typecheck.DayMethod, typecheck.HourMethod, typecheck.MinuteMethod, typecheck.SecondMethod, typecheck.WeekdayMethod:
		return out(side(f.typed(recv)) + "." + upperFirst(c.Library.String()) + "()")
	case typecheck.FormatMethod:
		name := "FormatInt("
		if recv.typ == typecheck.Float {
			name = "FormatFloat("
		}
		return out("aeonrt." + name + f.typed(recv) + ", " + codes(args) + ")")
	case typecheck.JoinMethod:
		return out("aeonrt.Join(" + recv.code + ", " + args[0].code + ")")
	}
	panic("codegen: no emitter for the method " + c.Library.String())
}

// sliceOf returns the code for a part of a vector or of bytes.
func (f *fn) sliceOf(recv val, from, to string) string {
	if recv.typ == typecheck.Bytes {
		return side(recv.code) + ".Slice(" + from + ", " + to + ")"
	}
	return "aeonrt.SliceOf(" + recv.code + ", " + from + ", " + to + ")"
}

func (f *fn) stringMethod(c *typecheck.Call, recv val, args []val, result typecheck.Type) val {
	all := codes(append([]val{recv}, args...))
	switch c.Library {
	case typecheck.SizeMethod:
		return f.size(recv, result)
	case typecheck.SliceMethod:
		return fresh(result, "aeonrt.StringSlice("+recv.code+", "+f.position(args[0])+", "+f.position(args[1])+")")
	case typecheck.ContainsMethod, typecheck.SplitMethod, typecheck.ReplaceMethod, typecheck.ParseIntMethod, typecheck.ParseFloatMethod, typecheck.ParseTimeMethod,
		typecheck.FindMethod, typecheck.StartsWithMethod, typecheck.EndsWithMethod, typecheck.TrimMethod, typecheck.LowerMethod, typecheck.UpperMethod, typecheck.RepeatMethod:
		return fresh(result, "aeonrt."+upperFirst(c.Library.String())+"("+all+")")
	}
	panic("codegen: no emitter for the string method " + c.Library.String())
}

// keyOf returns the key type of a map or the element type of a set.
func keyOf(t typecheck.Type) typecheck.Type {
	switch t := t.(type) {
	case *typecheck.Map:
		return t.Key
	case *typecheck.Set:
		return t.Elem
	}
	return nil
}

// get lowers m.get(k), whose result is V?.
func (f *fn) get(recv, k val, result typecheck.Type) val {
	m := recv.typ.(*typecheck.Map)
	r, key := side(recv.code), f.key(m.Key, k)
	code, boxed := "aeonrt.GetEntry("+recv.code+", "+key+")", ""
	_, optional := m.Value.(*typecheck.Optional)
	switch {
	case optional || typecheck.IsRef(m.Value): // the zero value is null
		code = r + ".Lookup(" + key + ")"
	case f.boxed(m.Value):
		boxed = "aeonrt.BoxIf(" + r + ".Find(" + key + "))"
	}
	return f.taken(recv, result, code, boxed)
}

// taken makes the val of an element that code takes out of v, of the optional type t. boxed is the text that takes it for what keeps it, if that needs a box.
func (f *fn) taken(v val, t typecheck.Type, code, boxed string) val {
	out := f.part(v, t, code)
	if boxed != "" {
		out.code, out.look = boxed, &val{code: code, typ: t, loads: v.loads}
	}
	return out
}

func (f *fn) keysOrValues(c *typecheck.Call, recv val, result typecheck.Type) val {
	set, isSet := recv.typ.(*typecheck.Set)
	if c.Library == typecheck.ValuesMethod && !isSet {
		return fresh(result, "aeonrt.ValuesOf("+recv.code+")")
	}
	code := side(recv.code) + ".Keys()"
	key := keyOf(recv.typ)
	if isSet {
		key = set.Elem
	}
	if key == typecheck.Bytes {
		code = "aeonrt.BytesVector(" + code + ")"
	}
	return fresh(result, code)
}

// mutator has the methods of the runtime's containers that change their receiver.
var mutator = map[typecheck.LibraryID]string{
	typecheck.PushMethod: "Push", typecheck.PopMethod: "Pop", typecheck.InsertMethod: "Insert", typecheck.RemoveMethod: "Remove",
	typecheck.ClearMethod: "Clear", typecheck.SortMethod: "Sort", typecheck.PutMethod: "Put",
}

func isTable(t typecheck.Type) bool { _, ok := t.(*typecheck.Table); return ok }

// writeArgs returns the arguments of a mutating method as the runtime takes them.
func (f *fn) writeArgs(c *typecheck.Call, t typecheck.Type, args []val) []val {
	list := append([]val(nil), args...)
	_, vector := t.(*typecheck.Vector)
	switch {
	case vector && (c.Library == typecheck.InsertMethod || c.Library == typecheck.RemoveMethod):
		list[0] = val{code: f.position(args[0]), typ: typecheck.Int}
	case len(args) > 0 && c.Library == typecheck.RemoveMethod && isTable(t):
		list[0] = val{code: f.key(t.(*typecheck.Table).Key.Type(), args[0])}
	case !vector && len(args) > 0 && keyOf(t) != nil:
		list[0] = val{code: f.key(keyOf(t), args[0])}
	}
	return list
}
