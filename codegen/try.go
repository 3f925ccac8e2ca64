package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// The ways to leave a body early.
const (
	exitReturn = iota + 1
	exitBreak
	exitContinue
)

// tryFrame is a try whose body is being emitted. The body is a Go function literal, so leaving
// it towards something outside is noted in a variable and done behind it.
type tryFrame struct {
	exit     string // the variable, "" as long as none is needed
	result   string // the variable for the value of a return
	used     [exitContinue + 1]bool
	loops    int // open loops within the body
	switches int // open switches within the innermost loop of the body
}

// try returns the innermost try whose body is being emitted, or nil.
func (f *fn) try() *tryFrame {
	if len(f.tries) == 0 {
		return nil
	}
	return f.tries[len(f.tries)-1]
}

func (f *fn) inLoop(body func()) {
	if t := f.try(); t != nil {
		switches := t.switches
		t.loops, t.switches = t.loops+1, 0
		defer func() { t.loops, t.switches = t.loops-1, switches }()
	}
	body()
}

func (f *fn) inSwitch(body func()) {
	if t := f.try(); t != nil {
		t.switches++
		defer func() { t.switches-- }()
	}
	body()
}

// leave emits return (of the variable that holds the result), break or continue.
func (f *fn) leave(s ast.Node, how int) {
	word := [...]string{exitReturn: "return", exitBreak: "break", exitContinue: "continue"}[how]
	t := f.try()
	local := t == nil || how == exitBreak && (t.loops > 0 || t.switches > 0) || how == exitContinue && t.loops > 0
	if local {
		f.line1(s, word)
		return
	}
	if t.exit == "" {
		t.exit = f.temp()
	}
	t.used[how] = true
	f.w.at(s.Span())
	f.w.add("%s = %d", t.exit, how)
	f.w.add("return")
}

// returnVar returns the variable that takes the value of a return out of a try.
func (f *fn) returnVar(t *tryFrame) string {
	if t.result == "" {
		t.result = f.temp()
	}
	return t.result
}

// tryCatch lowers try and catch, which only clients have.
func (f *fn) tryCatch(s *ast.TryCatch) {
	t := &tryFrame{}
	f.tries = append(f.tries, t)
	body := f.capture(func() { f.block(s.Body) })
	f.tries = f.tries[:len(f.tries)-1]
	f.w.at(s.Span())
	if t.exit != "" {
		f.w.add("%s := 0", t.exit)
	}
	if t.result != "" {
		f.w.add("var %s %s", t.result, f.goType(f.f.Result))
	}
	f.push()
	v := f.info.Defs[s.Catch].(*typecheck.Var)
	name := f.declare(v)
	catch := f.capture(func() { f.block(s.Catch.Body) })
	f.w.at(s.Span())
	if f.used[f.numbers[v]] {
		f.w.add("if %s, failed := aeonrt.Try(func() {", name)
	} else {
		f.w.add("if _, failed := aeonrt.Try(func() {")
	}
	f.w.buf.WriteString(body)
	f.w.add("}); failed {")
	f.w.buf.WriteString(catch)
	f.w.add("}")
	f.pop()
	f.afterTry(s, t)
}

// afterTry leaves towards where the body of a try wanted to go.
func (f *fn) afterTry(s ast.Node, t *tryFrame) {
	for how := exitReturn; how <= exitContinue; how++ {
		if !t.used[how] {
			continue
		}
		f.w.at(s.Span())
		f.w.add("if %s == %d {", t.exit, how)
		switch {
		case how != exitReturn || t.result == "":
			f.leave(s, how)
		case f.try() != nil:
			f.line1(s, f.returnVar(f.try())+" = "+t.result)
			f.leave(s, how)
		default:
			f.line1(s, "return "+t.result)
		}
		f.w.add("}")
	}
}

// await lowers `await e`.
func (f *fn) await(x *ast.Await) val {
	a := f.info.Awaits[x]
	check := "aeonrt.Must"
	if a.Call == nil {
		p := f.expr(x.X)
		return fresh(a.Result, check+"("+side(p.code)+".Await())")
	}
	c := f.info.Calls[a.Call]
	if isVoid(a.Result) {
		check = "aeonrt.Check"
	}
	vals := f.operands(f.receiverFirst, append([]ast.Expr{c.Recv}, a.Call.Args...)...)
	return fresh(a.Result, check+"("+side(vals[0].code)+"."+f.use(c.Func, "await")+"("+withFirst("cl", vals[1:])+"))")
}
