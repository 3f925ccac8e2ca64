package spec

import (
	"math"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// builtin is a predeclared function: [NOW], [RANDOM], [EVENTID], [KEY] and others.
func (f *frame) builtin(x *ast.Call, c *typecheck.Call, args []value) value {
	switch c.Builtin {
	case typecheck.MinFunc, typecheck.MaxFunc:
		return extreme(c.Builtin == typecheck.MaxFunc, args)
	case typecheck.AbsFunc:
		return f.abs(x, args[0])
	case typecheck.NowFunc:
		if f.ev != nil {
			return f.ev.now()
		}
		return f.th.now()
	case typecheck.RandomFunc:
		if f.ev != nil {
			return unit(f.ev.random.draw(f.ev.id, f.m.seed()))
		}
		return f.th.random()
	case typecheck.EventIDFunc:
		return f.ev.id.String()
	case typecheck.KeyFunc:
		if !f.who.named {
			return nil
		}
		return f.who.name
	case typecheck.PrintFunc:
		if f.ev != nil {
			f.ev.print(f, f.printed(x, args))
		} else {
			f.th.print(f.printed(x, args))
		}
		return nil
	case typecheck.LogFunc: // the log is no output of the program, but may fail
		f.printed(x, args)
		return nil
	case typecheck.LenFunc:
		return intValue(sizeOf(args[0]))
	case typecheck.StrFunc:
		return f.text(x, args[0])
	case typecheck.ParseIntFunc:
		return parseInt(args[0].(string))
	case typecheck.ParseFloatFunc:
		return parseFloat(args[0].(string))
	case typecheck.ParseTimeFunc:
		return parseTime(args[0].(string))
	case typecheck.TimeOfFunc:
		return timeOf(args)
	case typecheck.JSONFunc:
		return f.json(x, args[0])
	case typecheck.ParseJSONFunc:
		return parseJSON(c.Result.(*typecheck.Optional).Elem, args[0].(string))
	case typecheck.SplitFunc:
		return split(args[0].(string), args[1].(string))
	case typecheck.JoinFunc:
		return f.join(x, args[0], args[1])
	case typecheck.ContainsFunc:
		return strings.Contains(args[0].(string), args[1].(string))
	case typecheck.ReplaceFunc:
		return f.replace(x, args[0].(string), args[1].(string), args[2].(string))
	}
	panic(bug{"no rule for the function " + c.Builtin.String()})
}

// printed is the line of print and log: the texts with one space between.
func (f *frame) printed(x *ast.Call, args []value) string {
	var b strings.Builder
	for i, v := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.text(x, v))
	}
	return b.String()
}

// extreme is min and max; NaN wins, also over the infinities.
func extreme(largest bool, args []value) value {
	best := args[0]
	for _, v := range args[1:] {
		if b, ok := best.(float64); ok {
			if largest {
				best = max(b, v.(float64))
			} else {
				best = min(b, v.(float64))
			}
			continue
		}
		if c := compare(v, best); largest && c > 0 || !largest && c < 0 {
			best = v
		}
	}
	return best
}

func (f *frame) abs(x *ast.Call, v value) value {
	switch v := v.(type) {
	case float64:
		return math.Abs(v)
	case integer:
		if _, signed := width(v.kind); signed && v.bits < 0 {
			return f.exact(x, ast.OpSub, integer{kind: v.kind}, v)
		}
	case span:
		if v < 0 {
			return span(f.exact(x, ast.OpSub, integer{typecheck.IntKind, 0}, integer{typecheck.IntKind, int64(v)}).bits)
		}
	}
	return v
}

// conversion is T(v).
func (f *frame) conversion(x *ast.Call, c *typecheck.Call, v value) value {
	to, ok := c.Result.(*typecheck.Basic)
	if !ok {
		return v
	}
	switch {
	case to.Kind == typecheck.StringKind:
		return f.text(x, v)
	case to.Kind == typecheck.BytesKind:
		if s, ok := v.(string); ok {
			return byteString(s)
		}
	case to.Kind == typecheck.FloatKind:
		if n, ok := v.(integer); ok {
			return n.float()
		}
	case to.Kind == typecheck.TimeKind:
		if n, ok := v.(integer); ok {
			return instant(f.fitted(x, typecheck.IntKind, n).bits)
		}
	case to.Kind == typecheck.DurationKind:
		if n, ok := v.(integer); ok {
			return span(f.fitted(x, typecheck.IntKind, n).bits)
		}
	case typecheck.IsInteger(to):
		switch n := v.(type) {
		case integer:
			return f.fitted(x, to.Kind, n)
		case instant:
			return f.fitted(x, to.Kind, integer{typecheck.IntKind, int64(n)})
		case span:
			return f.fitted(x, to.Kind, integer{typecheck.IntKind, int64(n)})
		case float64:
			r, msg := truncate(to.Kind, n)
			if msg != "" {
				f.fail(x, msg)
			}
			return r
		}
	}
	return v
}

func (f *frame) fitted(x *ast.Call, k typecheck.BasicKind, n integer) integer {
	r, ok := fit(k, n.big())
	if !ok {
		f.fail(x, msgOverflow)
	}
	return r
}
