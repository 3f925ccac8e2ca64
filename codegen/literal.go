package codegen

import (
	"go/constant"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

func floatLit(n float64) string {
	s := strconv.FormatFloat(n, 'g', -1, 64)
	if math.Trunc(n) == n && !strings.ContainsAny(s, ".e") {
		s += ".0" // so that Go does not take it for an integer
	}
	return s
}

// durationLit writes a duration in nanoseconds, with its parts where that is easier to read.
func durationLit(c constant.Value) string {
	n, exact := constant.Int64Val(constant.ToInt(c))
	if !exact || n == 0 {
		return constant.ToInt(c).ExactString()
	}
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}} {
		if n%int64(u.unit) == 0 {
			return "aeonrt.Duration(" + strconv.FormatInt(n/int64(u.unit), 10) + " * " + u.name + ")"
		}
	}
	return strconv.FormatInt(n, 10)
}

// goDuration returns a duration as the standard library's type.
func goDuration(v val) string {
	if lit, ok := strings.CutPrefix(v.code, "aeonrt.Duration("); ok && v.konst {
		return strings.TrimSuffix(lit, ")")
	}
	return "time.Duration(" + v.code + ")"
}

func (f *fn) interpolated(x *ast.InterpolatedString) val {
	parts := f.operands(func(_ int, x ast.Expr) val {
		v := f.expr(x)
		if nests(v.typ) { // its text may fail: before the next part is computed
			v = f.textVal(v)
		}
		return v
	}, x.Parts...)
	var list []string
	for i, part := range parts {
		if lit, ok := x.Parts[i].(*ast.StringLit); ok {
			list = append(list, quote(lit.Value))
			continue
		}
		parts[i] = f.textVal(part)
		list = append(list, parts[i].code)
	}
	return computed(typecheck.String, strings.Join(list, " + "), parts...)
}

// textVal makes the val of the text of v as a part of another one.
func (f *fn) textVal(v val) val {
	out := inline(typecheck.String, f.textOf(v), v)
	out.known = v.known && v.typ == typecheck.String // which is its text
	return out
}

// str makes the val of the text of v where it stands by itself.
func (f *fn) str(v val) val {
	text := f.textVal(v)
	return computed(text.typ, text.code, text)
}

// textOf returns the text of a value as Go: an operand of +.
func (f *fn) textOf(v val) string {
	code := f.typed(v)
	if f.by != byClient && holdsRefs(v.typ) {
		code = "aeonrt.Labelled(" + f.ctx() + ", " + code + ", " + f.put(v.typ, false) + ")"
	}
	switch t := v.typ.(type) {
	case *typecheck.Basic:
		if t.Kind == typecheck.BytesKind || t.Kind == typecheck.TimeKind || t.Kind == typecheck.DurationKind {
			code = side(code)
		}
	default:
		code = side(code)
	}
	return f.text(v.typ, code)
}

func (f *fn) vectorLit(x *ast.VectorLit) val {
	t := f.info.TypeOf(x)
	if len(x.Elems) == 0 {
		return fresh(t, f.zero(t))
	}
	elems := f.binders(x.Elems)
	switch t := t.(type) {
	case *typecheck.Vector:
		return fresh(t, "aeonrt.VectorOf["+f.goType(t.Elem)+"]("+codes(elems)+")")
	case *typecheck.Set:
		for i, e := range elems {
			elems[i].code = f.key(t.Elem, e)
		}
		return fresh(t, "aeonrt.SetOf["+f.keyType(t.Elem)+"]("+codes(elems)+")")
	}
	panic("codegen: vector literal of type " + t.String())
}

func (f *fn) mapLit(x *ast.MapLit) val {
	t := f.info.TypeOf(x).(*typecheck.Map)
	types := "[" + f.keyType(t.Key) + ", " + f.goType(t.Value) + "]("
	var entries []string
	parts := f.binders(x.Parts())
	for i := 0; i < len(parts); i += 2 {
		entries = append(entries, "aeonrt.EntryOf"+types+f.key(t.Key, parts[i])+", "+parts[i+1].code+")")
	}
	return fresh(t, "aeonrt.MapOf"+types+strings.Join(entries, ", ")+")")
}
