package spec

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/gocall/serve"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// GoFunctions calls the Go functions that a program binds, which an interpreter cannot: package gocall does it in another process.
type GoFunctions interface {
	// Call makes the call, which is of path.Name or path.Type.Method; the reply is a serve.Reply. The same call has the same reply: a
	// function that is `pure` promises it, and of one that reads what is outside a run sees one moment.
	Call(req serve.Request) (reply []byte, err error)
}

// BindGo says what calls the Go functions of the program; it is called before the program runs, if the program has any.
func (p *Program) BindGo(g GoFunctions) { p.goFuncs = g }

// goCall calls a Go function, or a method on recv; x is where ([GO]).
func (f *frame) goCall(x ast.Node, g *typecheck.Func, recv value, args []value) value {
	req := serve.Request{Func: g.Go.Path + "." + g.Go.Callee}
	add := func(t typecheck.Type, of types.Type, v value) {
		raw, err := json.Marshal(toGo(t, of, v))
		if err != nil {
			panic(bug{err.Error()})
		}
		req.Args, req.Shapes = append(req.Args, raw), append(req.Shapes, goShape(t, of))
	}
	if t := g.Go.Recv; t != nil {
		add(t.Type(), t.Named, recv)
	}
	if g.Go.Self {
		add(g.Class, g.Go.Sig.Params().At(0).Type(), recv)
	}
	for i, v := range args {
		add(g.Params[i].Type(), g.Go.Params()[i].Type(), v)
	}
	t, of := g.GoResult()
	if of != nil {
		req.Result = goShape(t, of)
	}
	text, err := f.m.p.goFuncs.Call(req)
	if err != nil {
		panic(bug{err.Error()})
	}
	var reply serve.Reply
	parseGo(text, &reply)
	switch {
	case reply.Fault != nil:
		f.fail(x, string(reply.Fault))
	case !reply.Ended:
		f.fail(x, fmt.Sprintf("panic in the Go function %s: %s", g.Go.Name(), reply.Panic))
	case g.Go.Fails == typecheck.GoText:
		if !reply.Failed {
			return nil
		}
		return string(reply.Error)
	case reply.Failed && g.Go.Fails == typecheck.GoAborts:
		f.fail(x, string(reply.Error))
	case reply.Failed || g.Result == typecheck.Void:
		return nil
	}
	return f.ofGo(x, t, of, reply.Result)
}

// goShape says what the process that calls Go has to know of a value of type t, which is of the type g in Go.
func goShape(t typecheck.Type, g types.Type) *serve.Shape {
	g = types.Unalias(g)
	if of := typecheck.GoTypeBehind(t); of != nil {
		return &serve.Shape{Go: of.GoText(), Handle: of.Opaque()}
	}
	part := func(s *serve.Shape) *serve.Shape {
		if s == nil {
			return nil
		}
		return &serve.Shape{Elem: s}
	}
	switch t := t.(type) {
	case *typecheck.Optional:
		if typecheck.IsOpaque(t) {
			return &serve.Shape{Go: typecheck.GoTypeBehind(t.Elem).GoText(), Handle: true, MayBeNil: true}
		}
		return part(goShape(t.Elem, g.(*types.Pointer).Elem()))
	case *typecheck.Vector:
		return part(goShape(t.Elem, g.(*types.Slice).Elem()))
	case *typecheck.Map:
		m := g.(*types.Map)
		if key, elem := goShape(t.Key, m.Key()), goShape(t.Value, m.Elem()); key != nil || elem != nil {
			return &serve.Shape{Key: key, Elem: elem}
		}
	case *typecheck.Class:
		list, _ := typecheck.GoFields(t, g)
		fields := map[string]*serve.Shape{}
		for i, v := range t.Fields {
			if s := goShape(v.Type(), list[i].Type()); s != nil {
				fields[list[i].Name()] = s
			}
		}
		if len(fields) > 0 {
			return &serve.Shape{Fields: fields}
		}
	}
	return nil
}

func parseGo(text []byte, to any) {
	if err := json.Unmarshal(text, to); err != nil {
		panic(bug{"the reply of a Go function: " + err.Error()})
	}
}

// toGo returns what a value of type t, which is of the type g in Go, is in JSON.
func toGo(t typecheck.Type, g types.Type, v value) any {
	g = types.Unalias(g)
	if h, ok := v.(goHandle); ok {
		return string(h)
	}
	if o, ok := t.(*typecheck.Optional); ok {
		if v == nil {
			return nil
		}
		return []any{toGo(o.Elem, g.(*types.Pointer).Elem(), v)}
	}
	switch v := v.(type) {
	case integer:
		return json.RawMessage(text(v))
	case float64:
		return math.Float64bits(v)
	case string:
		return []byte(v)
	case byteString:
		return []byte(v)
	case instant:
		at := time.Unix(0, int64(v))
		return [2]int64{at.Unix(), int64(at.Nanosecond())}
	case *vector:
		elem := t.(*typecheck.Vector).Elem
		if elem == typecheck.Uint8 { // in Go that is []byte, too
			b := make([]byte, len(v.elems))
			for i, e := range v.elems {
				b[i] = byte(e.(integer).bits)
			}
			return b
		}
		parts := make([]any, len(v.elems))
		for i, e := range v.elems {
			parts[i] = toGo(elem, g.(*types.Slice).Elem(), e)
		}
		return parts
	case *table:
		m, of := t.(*typecheck.Map), g.(*types.Map)
		parts := make([]any, len(v.entries))
		for i, e := range v.entries {
			parts[i] = [2]any{toGo(m.Key, of.Key(), e.key), toGo(m.Value, of.Elem(), e.value)}
		}
		return parts
	case enumValue:
		if typecheck.IsGoString(g) {
			return []byte(v.of.Name())
		}
		list, _ := typecheck.GoConstants(v.of.Enum, g)
		c := list[v.of.Index].Val()
		if c.Kind() == constant.String {
			return []byte(constant.StringVal(c))
		}
		return json.RawMessage(c.ExactString())
	case *structure:
		list, _ := typecheck.GoFields(v.class, g)
		fields := map[string]any{}
		for i, e := range v.fields {
			fields[list[i].Name()] = toGo(v.class.Fields[i].Type(), list[i].Type(), e)
		}
		return fields
	}
	return v // bool, span
}

// ofGo returns the value of type t that a Go function has returned, as one of type g.
func (f *frame) ofGo(x ast.Node, t typecheck.Type, g types.Type, raw json.RawMessage) value {
	g = types.Unalias(g)
	if of := typecheck.GoTypeBehind(t); typecheck.IsOpaque(t) || of != nil {
		return ofGoType(of, raw)
	}
	var parts []json.RawMessage
	switch t := t.(type) {
	case *typecheck.Optional:
		if parseGo(raw, &parts); len(parts) == 0 {
			return nil
		}
		return f.ofGo(x, t.Elem, g.(*types.Pointer).Elem(), parts[0])
	case *typecheck.Vector:
		v := emptyVector()
		if t.Elem == typecheck.Uint8 {
			var b []byte
			parseGo(raw, &b)
			for _, octet := range b {
				v = v.push(integer{typecheck.Uint8Kind, int64(octet)})
			}
			return v
		}
		parseGo(raw, &parts)
		for _, part := range parts {
			v = v.push(f.ofGo(x, t.Elem, g.(*types.Slice).Elem(), part))
		}
		return v
	case *typecheck.Map:
		parseGo(raw, &parts)
		m := &table{}
		for _, part := range parts {
			var pair [2]json.RawMessage
			parseGo(part, &pair)
			m = m.with(f.ofGo(x, t.Key, g.(*types.Map).Key(), pair[0]), f.ofGo(x, t.Value, g.(*types.Map).Elem(), pair[1]))
		}
		if len(m.entries) != len(parts) {
			f.fail(x, "two keys of a map from Go have the same text")
		}
		return m
	case *typecheck.Enum:
		return f.enumOfGo(x, t, g, raw)
	case *typecheck.Class:
		list, _ := typecheck.GoFields(t, g)
		var fields map[string]json.RawMessage
		parseGo(raw, &fields)
		s := newStructure(t)
		for i, v := range t.Fields {
			s.fields[i] = f.ofGo(x, v.Type(), list[i].Type(), fields[list[i].Name()])
		}
		return s
	}
	switch t {
	case typecheck.Bool:
		var b bool
		parseGo(raw, &b)
		return b
	case typecheck.Float:
		var bits uint64
		parseGo(raw, &bits)
		return math.Float64frombits(bits)
	case typecheck.String, typecheck.Bytes:
		var b []byte
		if parseGo(raw, &b); t == typecheck.String {
			return string(b)
		}
		return byteString(b)
	case typecheck.Uint64:
		var n uint64
		parseGo(raw, &n)
		return integer{typecheck.Uint64Kind, int64(n)}
	case typecheck.Time:
		var parts [2]int64
		parseGo(raw, &parts)
		at := time.Unix(parts[0], parts[1])
		n := at.UnixNano()
		if !time.Unix(0, n).Equal(at) {
			f.fail(x, "a time from Go is outside of the years 1677 to 2262: "+at.UTC().Format(time.RFC3339))
		}
		return instant(n)
	}
	var n int64
	parseGo(raw, &n)
	if t == typecheck.Duration {
		return span(n)
	}
	return integer{t.(*typecheck.Basic).Kind, n}
}

// ofGoType returns the value of a Go type: its text, or what names it. t is nil if it may be null.
func ofGoType(t *typecheck.GoType, raw json.RawMessage) value {
	if t != nil && !t.Opaque() {
		var text []byte
		parseGo(raw, &text)
		return string(text)
	}
	var name *string
	if parseGo(raw, &name); name == nil {
		return nil
	}
	return goHandle(*name)
}

// enumOfGo returns the constant of an enum that a Go function has returned.
func (f *frame) enumOfGo(x ast.Node, e *typecheck.Enum, g types.Type, raw json.RawMessage) value {
	var said string
	var is constant.Value
	if g.Underlying().(*types.Basic).Info()&types.IsString != 0 {
		var b []byte
		parseGo(raw, &b)
		said, is = strconv.Quote(string(b)), constant.MakeString(string(b))
	} else {
		said, is = string(raw), constant.MakeFromLiteral(strings.TrimPrefix(string(raw), "-"), token.INT, 0)
		if raw[0] == '-' {
			is = constant.UnaryOp(token.SUB, is, 0)
		}
	}
	list, _ := typecheck.GoConstants(e, g)
	for i, v := range e.Values {
		c := constant.MakeString(v.Name())
		if !typecheck.IsGoString(g) {
			c = list[i].Val()
		}
		if constant.Compare(c, token.EQL, is) {
			return enumValue{of: v}
		}
	}
	f.fail(x, fmt.Sprintf("a %s from Go is %s, which none of its constants is", e.Name(), said))
	return nil
}
