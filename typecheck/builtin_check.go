package typecheck

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// fixedBuiltins has the predeclared functions whose parameters are fixed.
var fixedBuiltins = map[BuiltinID]struct {
	params []Type
	result Type
}{
	NowFunc:        {nil, Time},
	RandomFunc:     {nil, Float},
	ParseIntFunc:   {[]Type{String}, &Optional{Int}},
	SplitFunc:      {[]Type{String, String}, &Vector{String}},
	JoinFunc:       {[]Type{&Vector{String}, String}, String},
	ContainsFunc:   {[]Type{String, String}, Bool},
	ReplaceFunc:    {[]Type{String, String, String}, String},
	ParseFloatFunc: {[]Type{String}, &Optional{Float}},
	ParseTimeFunc:  {[]Type{String}, &Optional{Time}},
	TimeOfFunc:     {[]Type{Int, Int, Int, Int, Int, Int}, &Optional{Time}},
}

// builtin checks a call of a predeclared function.
func (b *body) builtin(x *ast.Call, f *Builtin, want Type) operand {
	b.undecorated(x, "a function")
	info := &Call{Kind: BuiltinCall, Builtin: f.ID, Result: Invalid}
	switch f.ID {
	case MinFunc, MaxFunc:
		return b.minMax(x, f, info, want)
	case AbsFunc:
		return b.abs(x, info, want)
	case PrintFunc, LogFunc:
		for _, a := range x.Args {
			b.printable(a)
			info.Params = append(info.Params, b.info.TypeOf(a))
		}
		info.Result = Void
	case StrFunc:
		if b.builtinCount(x, f.name, nil, 1) {
			b.printable(x.Args[0])
			info.Params = []Type{b.info.TypeOf(x.Args[0])}
		}
		info.Result = String
	case LenFunc:
		if b.builtinCount(x, f.name, nil, 1) {
			info.Params = []Type{b.lenArg(x.Args[0])}
		}
		info.Result = Int
	case EventIDFunc:
		b.eventID(x)
		b.builtinCount(x, f.name, nil, 0)
		info.Result = String
	case KeyFunc:
		b.key(x)
		b.builtinCount(x, f.name, nil, 0)
		info.Result = &Optional{String}
	case JSONFunc:
		return b.json(x, info)
	case ParseJSONFunc:
		return b.parseJSON(x, info)
	default:
		fixed := fixedBuiltins[f.ID]
		if b.builtinCount(x, f.name, fixed.params, len(fixed.params)) {
			for i, p := range fixed.params {
				b.assign(x.Args[i], p, "argument "+plainNumber(i+1)+" of "+f.name)
			}
		}
		info.Params, info.Result = fixed.params, fixed.result
	}
	return b.recordCall(x, info)
}

// eventID notes that eventid() needs an event, or reports that there is none.
func (b *body) eventID(x *ast.Call) {
	if b.isClient() {
		b.errorf(diag.ActorOnly, x, "eventid() is for actors: a client runs in no event").Help = "return it from a method of an actor that runs in the event"
		return
	}
	b.bf.actorOnly = append(b.bf.actorOnly, use{x.Span(), "eventid()"})
}

// key reports a key() where there is no actor whose key it could be.
func (b *body) key(x *ast.Call) {
	switch {
	case b.class == nil || b.class.Kind != ast.ActorClass:
		b.errorf(diag.ThisOutside, x, "key() is the name of the actor whose method runs, and no actor runs here").Help = "call it in a method of an actorclass, and pass it on"
	case b.fieldInit:
		b.errorf(diag.InitialiserUse, x, "an initialiser cannot use key()").Help = "set the field in the constructor"
	}
}

// builtinCount checks the number of arguments; if it is wrong it checks them loosely.
func (b *body) builtinCount(x *ast.Call, name string, params []Type, want int) bool {
	if len(x.Args) == want {
		return true
	}
	d := b.errorf(diag.BadArgCount, x, "%s takes %s, but %d %s given", name, plural(want, "argument"), len(x.Args), wasWere(len(x.Args)))
	list := "x"
	if want != 1 || params != nil {
		list = typeNames(params)
	}
	d.Help = "it is `" + name + "(" + list + ")`"
	for _, a := range x.Args {
		b.loose(a)
	}
	return false
}

func typeNames(types []Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

func (b *body) lenArg(x ast.Expr) Type {
	op := b.receiver(x)
	switch t := op.typ.(type) {
	case *Vector, *Map, *Set, *Table:
	case *Optional:
		b.report(maybeNull(x, "this may be null, so it has no length"))
	default:
		if t != Invalid && t != String && t != Bytes {
			b.errorf(diag.TypeMismatch, x, "len works on strings, bytes, vectors, maps, sets and tables, but this is %s", aType(t))
		}
	}
	return op.typ
}

// minMax checks min and max: one or more ordered values of one type. Untyped
// constants take the type of the others.
func (b *body) minMax(x *ast.Call, f *Builtin, info *Call, want Type) operand {
	if len(x.Args) == 0 {
		b.errorf(diag.BadArgCount, x, "%s needs an argument", f.name)
		return invalid
	}
	if want == nil || !isOrdered(want) || IsUntyped(want) {
		want = nil
	}
	ops := make([]operand, len(x.Args))
	var t Type
	for i, a := range x.Args {
		ops[i] = b.expr(a, want)
		if ops[i].typ == Void || ops[i].typ == Null {
			ops[i] = b.settle(a, ops[i])
		}
		if t == nil && !IsUntyped(ops[i].typ) {
			t = ops[i].typ
		}
	}
	if t == nil {
		if t = want; t == nil {
			t = Int
			for _, op := range ops {
				if op.typ == UntypedFloat {
					t = Float
				}
			}
		}
	}
	for i, a := range x.Args {
		b.fit(a, ops[i], t, "argument "+plainNumber(i+1)+" of "+f.name)
		info.Params = append(info.Params, t)
	}
	if t != Invalid && !isOrdered(t) {
		b.errorf(diag.TypeMismatch, x, "%s works on numbers, strings, bytes, time and duration, but this is %s", f.name, aType(t))
		return invalid
	}
	info.Result = t
	return b.recordCall(x, info)
}

func (b *body) abs(x *ast.Call, info *Call, want Type) operand {
	if !b.builtinCount(x, "abs", nil, 1) {
		return invalid
	}
	op := b.value(x.Args[0], want)
	if op.typ == Invalid {
		return invalid
	}
	if !IsNumeric(op.typ) && op.typ != Duration {
		b.errorf(diag.TypeMismatch, x.Args[0], "abs works on numbers, but this is %s", aType(op.typ))
		return invalid
	}
	info.Params, info.Result = []Type{op.typ}, op.typ
	return b.recordCall(x, info)
}
