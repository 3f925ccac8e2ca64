package codegen

import (
	"go/constant"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// val is a lowered expression: Go text and what must be known to use it.
type val struct {
	code string
	typ  typecheck.Type
	// loads says which state the text reads directly. Go may execute such a load after calls
	// that stand to the right of it; loads inside calls are ordered. A container that
	// a call takes out of the state counts, too: it is written in place.
	loads state
	// fresh: nothing else has what the value refers to, so that binding it needs no Share.
	fresh bool
	// konst: the text is an untyped Go constant.
	konst bool
	// known: the text is a Go constant, untyped or not.
	known bool
	// stable: neither later operands nor the statement itself can change what the text means.
	stable bool
	// look is a val for what only looks at the value, and keeps nothing of it; nil if there is none. What keeps a value that was taken out of a container
	// has it marked as shared, so that the next write of the container would copy it.
	look *val
	// prec is the precedence of the binary operator that the text ends in, 0 if it is not known to be one.
	prec int
}

// state is a set of what code may read or write.
type state uint8

const (
	fields    state = 1 << iota // fields of the current object
	localVars                   // locals that some expression changes
)

// fresh makes the val of an ordered computation: a call of a runtime function, or of a literal.
func fresh(t typecheck.Type, code string) val { return val{code: code, typ: t, fresh: true} }

// inline makes the val of what Go computes of others without a call, a struct, say: Go may read them after calls to the right of it.
func inline(t typecheck.Type, code string, of ...val) val {
	v := fresh(t, code)
	for _, o := range of {
		v.loads |= o.loads
	}
	return v
}

// computed is inline for what Go makes a constant of where all others are constants: it would compute that exactly, and refuse
// what overflows or stands in a switch twice. Where aeon has no constant, Go must not have one.
func computed(t typecheck.Type, code string, of ...val) val {
	v := inline(t, code, of...)
	if !slices.ContainsFunc(of, func(o val) bool { return !o.known }) {
		v.code = "aeonrt.Opaque(" + code + ")"
	}
	return v
}

// part makes the val of a part of v, of type t, that a call returns: an ordered computation, but of what v has.
func (f *fn) part(v val, t typecheck.Type, code string) val {
	out := val{code: code, typ: t}
	if f.shares(t) {
		out.loads = v.loads
	}
	return out
}

// typed returns the text with a type of its own also where Go would have to guess it.
func (f *fn) typed(v val) string {
	if !v.konst {
		return v.code
	}
	switch g := f.goType(v.typ); g {
	case "string", "bool":
		return v.code
	case "float64":
		if strings.ContainsAny(v.code, ".e") && !strings.ContainsAny(v.code, "()") {
			return v.code
		}
		return g + "(" + v.code + ")"
	default:
		return g + "(" + v.code + ")"
	}
}

// share returns the text of a copy of v that may be stored: a temporary moves, the rest is shared.
func (f *fn) share(v val) string {
	if v.fresh || v.konst || !f.shares(v.typ) {
		return v.code
	}
	return v.code + ".Share()"
}

// bind lowers x for storing it somewhere.
func (f *fn) bind(x ast.Expr) val {
	v := f.expr(x)
	v.code, v.fresh = f.share(v), true
	return v
}

// expr lowers x, with the change to T? where the checker found that one is needed.
func (f *fn) expr(x ast.Expr) val {
	opt := f.info.Wraps[x]
	if opt == nil {
		return f.placed(x, f.bare(x))
	}
	if _, null := ast.Unparen(x).(*ast.NullLit); null {
		return f.null(opt)
	}
	return f.wrap(f.placed(x, f.bare(x)), opt)
}

// placed makes a call that stands on another line than its statement report that line.
func (f *fn) placed(x ast.Expr, v val) val {
	if !f.mapped || v.konst || v.stable || strings.HasPrefix(v.code, "/*") || !strings.HasSuffix(v.code, ")") {
		return v
	}
	span := x.Span()
	switch x := x.(type) {
	case *ast.Binary:
		span = x.OpPos
	case *ast.Call:
		if fun, ok := x.Fun.(*ast.Field); ok {
			span = fun.Name.Span()
		}
	case *ast.Paren:
		return v
	}
	if line := span.Pos().Line(); line != 0 && line != f.line {
		v.code = f.w.mark(span) + v.code
	}
	return v
}

// wrap turns a T into a T?.
func (f *fn) wrap(v val, opt *typecheck.Optional) val {
	switch {
	case typecheck.IsRef(opt.Elem):
	case f.boxed(opt.Elem):
		v.code, v.fresh, v.loads = "aeonrt.BoxOf("+f.share(v)+")", true, 0
	default:
		v.code, v.fresh, v.loads = "aeonrt.Some("+f.share(val{code: f.typed(v), typ: v.typ, fresh: v.fresh})+")", true, 0
	}
	v.typ, v.konst, v.known = opt, false, false
	return v
}

func (f *fn) null(t typecheck.Type) val {
	return val{code: f.zero(t), typ: t, fresh: true, stable: true}
}

// bare lowers x without the change to T?. Every kind of expression has its line here.
func (f *fn) bare(x ast.Expr) val {
	t := f.info.TypeOf(x)
	if c := f.info.ConstOf(x); c != nil {
		return f.constant(x, t, c)
	}
	switch x := x.(type) {
	case *ast.Paren:
		return f.paren(x)
	case *ast.Ident:
		return f.ident(x)
	case *ast.This:
		return f.this(t)
	case *ast.NullLit:
		return f.null(t)
	case *ast.IntLit, *ast.FloatLit, *ast.DurationLit, *ast.StringLit, *ast.BoolLit:
		panic("codegen: literal without a constant value")
	case *ast.InterpolatedString:
		return f.interpolated(x)
	case *ast.VectorLit:
		return f.vectorLit(x)
	case *ast.MapLit:
		return f.mapLit(x)
	case *ast.Unary:
		return f.unary(x)
	case *ast.Binary:
		return f.binary(x)
	case *ast.Coalesce:
		return f.coalesce(x)
	case *ast.Index:
		return f.index(x)
	case *ast.Slice:
		return f.slice(x)
	case *ast.Field:
		return f.field(x)
	case *ast.OptionalField:
		return f.optionalField(x)
	case *ast.NonNull:
		return f.nonNull(x)
	case *ast.Call:
		return f.call(x)
	case *ast.New:
		return f.new(x)
	case *ast.ActorRef:
		return f.actorRef(x)
	case *ast.Await:
		return f.await(x)
	case *ast.BadExpr:
		panic("codegen: asked to compile a package with errors")
	}
	panic("codegen: no emitter for this expression")
}

func (f *fn) paren(x *ast.Paren) val {
	v := f.expr(x.X)
	if !v.konst && !primary(v.code) {
		v.code = "(" + v.code + ")"
	}
	return v
}

// constant lowers an expression whose value the checker knows. A declared constant keeps its name.
func (f *fn) constant(x ast.Expr, t typecheck.Type, c constant.Value) val {
	switch x.(type) {
	case *ast.Ident, *ast.Field:
		if k, ok := f.info.Uses[x].(*typecheck.Const); ok && f.names.obj[k] != "" && typecheck.Identical(k.Type(), t) {
			return val{code: f.names.obj[k], typ: t, fresh: true, stable: true, known: true}
		}
	}
	if e, ok := t.(*typecheck.Enum); ok {
		i, _ := intConst(c)
		return f.enumValue(e.Values[i])
	}
	return val{code: f.literal(t, c), typ: t, fresh: true, stable: true, konst: true, known: true}
}

// literal writes a constant as an untyped Go constant.
func (p *pkg) literal(t typecheck.Type, c constant.Value) string {
	switch c.Kind() {
	case constant.Bool:
		if constant.BoolVal(c) {
			return "true"
		}
		return "false"
	case constant.String:
		return quote(constant.StringVal(c))
	}
	if t == typecheck.Float || t == typecheck.UntypedFloat {
		n, _ := constant.Float64Val(constant.ToFloat(c))
		return floatLit(n)
	}
	if t == typecheck.Duration {
		return durationLit(c)
	}
	return constant.ToInt(c).ExactString()
}

// operands lowers expressions that Go evaluates within one expression, so that they take effect from left to right.
// Where a later one has statements of its own, or changes what an earlier one reads, the earlier one goes into a
// temporary.
func (f *fn) operands(lower func(i int, x ast.Expr) val, list ...ast.Expr) []val {
	vals := make([]val, len(list))
	pre := make([]string, len(list))
	last := -1 // operands before this index must be in temporaries
	for i, x := range list {
		if x == nil {
			vals[i].stable = true
			continue
		}
		pre[i] = f.capture(func() { vals[i] = lower(i, x) })
		if pre[i] != "" {
			last = i
		}
	}
	var later state
	for i := len(list) - 1; i >= 0; i-- {
		if vals[i].loads&later != 0 && i+1 > last {
			last = i + 1
		}
		if list[i] != nil {
			later |= f.writes(list[i])
		}
	}
	for i := range list {
		f.w.buf.WriteString(pre[i])
		if i < last && !vals[i].stable && !vals[i].konst {
			vals[i] = f.spill(vals[i])
		}
	}
	return vals
}

// spill puts v into a temporary.
func (f *fn) spill(v val) val {
	t := f.temp()
	f.w.add("%s := %s", t, f.share(val{code: f.typed(v), typ: v.typ, fresh: v.fresh}))
	return val{code: t, typ: v.typ, fresh: v.fresh, stable: true}
}

// writes returns the state that evaluating x may change.
func (f *fn) writes(x ast.Expr) (s state) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Call:
			s |= f.callWrites(n)
		case *ast.New:
			if made := f.info.News[n]; made != nil && typecheck.IsActor(made.Type) {
				s |= fields
			}
		case *ast.Await:
			s |= fields
		}
		return true
	})
	return s
}

func (f *fn) callWrites(n *ast.Call) state {
	if st := f.info.Stores[n]; st != nil {
		if st.Root == nil || st.Root.Kind == typecheck.FieldVar {
			return fields
		}
		return localVars
	}
	call := f.info.Calls[n]
	if call == nil || call.Func == nil || call.Func.RO || n.Mode != ast.Sync {
		return 0
	}
	if !f.plan[call.Func].context && !call.Func.Mutating {
		return 0 // it only computes
	}
	return fields
}

// binders lowers list for storing every element.
func (f *fn) binders(list []ast.Expr) []val {
	return f.operands(func(_ int, x ast.Expr) val { return f.bind(x) }, list...)
}

// reads lowers list for reading only.
func (f *fn) reads(list ...ast.Expr) []val {
	return f.operands(func(_ int, x ast.Expr) val { return f.expr(x) }, list...)
}

func codes(list []val) string {
	var sb strings.Builder
	for i, v := range list {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(v.code)
	}
	return sb.String()
}
