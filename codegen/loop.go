package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// loopBody emits the body of a loop; an actor pays for every round.
func (f *fn) loopBody(b *ast.Block) {
	if f.by == byActor {
		f.w.add("cx.Spend()")
	}
	f.inLoop(func() { f.block(b) })
}

// condition lowers the condition of a loop: in Go's head where it is one expression, else as the
// first statements of the body.
func (f *fn) condition(s ast.Node, cond ast.Expr) (head, first string) {
	if cond == nil || f.endless(cond) {
		return "", ""
	}
	var v val
	first = f.capture(func() { v = f.expr(cond) })
	if first == "" {
		return v.code, ""
	}
	first += f.capture(func() {
		f.w.at(s.Span())
		f.w.add("if !(%s) {", v.code)
		f.w.add("break")
		f.w.add("}")
	})
	return "", first
}

func (f *fn) while(s *ast.While) {
	head, first := f.condition(s, s.Cond)
	f.w.at(s.Span())
	f.w.add("for %s {", head)
	f.w.buf.WriteString(first)
	f.loopBody(s.Body)
	f.w.add("}")
}

func (f *fn) forStmt(s *ast.For) {
	f.push()
	defer f.pop()
	init := f.simple(s.Init)
	head, first := f.condition(s, s.Cond)
	post := f.simple(s.Post)
	wrap := init != "" && !oneLine(init)
	if wrap {
		f.w.add("{")
		f.w.buf.WriteString(init)
		init = ""
	}
	if post != "" && !oneLine(post) || first != "" && post != "" {
		f.forWithSteps(s, init, head, first, post)
	} else {
		f.w.at(s.Span())
		if init == "" && post == "" {
			f.w.add("for %s {", head)
		} else {
			f.w.add("for %s; %s; %s {", lastLine(init), head, lastLine(post))
		}
		f.w.buf.WriteString(first)
		f.loopBody(s.Body)
		f.w.add("}")
	}
	if wrap {
		f.w.add("}")
	}
}

// forWithSteps emits a loop whose step takes more than Go's head has room for.
func (f *fn) forWithSteps(s *ast.For, init, head, first, post string) {
	if init != "" {
		f.w.add("{")
		f.w.buf.WriteString(init)
	}
	again := f.temp()
	f.w.at(s.Span())
	f.w.add("for %s := false; ; %s = true {", again, again)
	f.w.add("if %s {", again)
	f.w.buf.WriteString(post)
	f.w.add("}")
	f.w.buf.WriteString(first)
	if head != "" {
		f.w.at(s.Span())
		f.w.add("if !(%s) {", head)
		f.w.add("break")
		f.w.add("}")
	}
	f.loopBody(s.Body)
	f.w.add("}")
	if init != "" {
		f.w.add("}")
	}
}

// simple emits a statement of the head of a for loop into text of its own.
func (f *fn) simple(s ast.Stmt) string {
	if s == nil {
		return ""
	}
	return f.capture(func() { f.stmt(s) })
}

func (f *fn) forUpto(s *ast.ForUpto) {
	f.push()
	defer f.pop()
	v := f.info.Defs[s].(*typecheck.Var)
	vals := f.reads(s.From, s.To)
	vals[0].typ = v.Type()
	name := f.declare(v)
	from, end := f.typed(vals[0]), vals[1].code
	step := name + "++" // which is at most the end, unless the body assigns the variable
	if v.Assigned {
		step = name + " = " + f.operate(ast.OpAdd, v.Type(), val{code: name, typ: v.Type()}, val{code: "1", typ: v.Type(), konst: true}).code
	}
	f.w.at(s.Span())
	if vals[1].konst || vals[1].stable {
		f.w.add("for %s := %s; %s < %s; %s {", name, from, name, end, step)
	} else {
		t := f.temp()
		f.w.add("for %s, %s := %s, %s; %s < %s; %s {", name, t, from, end, name, t, step)
	}
	f.loopBody(s.Body)
	f.w.add("}")
}

func (f *fn) forEach(s *ast.ForEach) {
	f.push()
	defer f.pop()
	if s.Value != nil {
		f.entryLoop(s)
		return
	}
	v := f.info.Defs[s].(*typecheck.Var)
	elem, isKey, index := v.Type(), false, "_, "
	code, isRows := f.rowLoop(s)
	if isRows {
		index = ""
	} else {
		code, isKey = f.loopItems(s)
	}
	name := f.declare(v)
	converts := isKey && elem == typecheck.Bytes
	text := f.capture(func() {
		f.ownLoopVar(v, name, converts)
		f.loopBody(s.Body)
	})
	f.w.at(s.Span())
	if f.named(v) || converts {
		f.w.add("for %s%s := range %s {", index, name, code)
	} else {
		f.w.add("for range %s {", code)
		text = dropFirstLine(text)
	}
	f.w.buf.WriteString(text)
	f.w.add("}")
}

// named reports whether code mentions a variable of a loop. A mutating call names it, too.
func (f *fn) named(v *typecheck.Var) bool { return f.used[f.numbers[v]] || v.Mutated }

// ownLoopVar begins the body of a loop: its variable is what the program sees.
func (f *fn) ownLoopVar(v *typecheck.Var, name string, bytesKey bool) {
	switch {
	case bytesKey:
		f.w.add("%s := %s.Bytes()", name, name)
	case v.Mutated && f.shares(v.Type()): // the loop's own copy is written
		f.w.add("%s := %s.Share()", name, name)
	}
	f.keepUsed(v)
}

// entryLoop emits a loop over the entries of a map.
func (f *fn) entryLoop(s *ast.ForEach) {
	xs := f.expr(s.X)
	code := xs.code
	if f.info.CopyLoops[s] {
		code = f.share(xs)
	}
	k, v := f.info.Defs[s].(*typecheck.Var), f.info.Defs[s.Value].(*typecheck.Var)
	key, val := f.declare(k), f.declare(v)
	converts := k.Type() == typecheck.Bytes
	body := f.capture(func() { f.loopBody(s.Body) })
	vars := ""
	head := f.capture(func() {
		if f.named(k) {
			f.ownLoopVar(k, key, converts)
			vars = key + " := "
		}
		if f.named(v) {
			f.ownLoopVar(v, val, false)
			if vars == "" {
				key = "_"
			}
			vars = key + ", " + val + " := "
		}
	})
	f.w.at(s.Span())
	f.w.add("for %srange aeonrt.EntriesOf(%s) {", vars, code)
	f.w.buf.WriteString(head + body)
	f.w.add("}")
}

// loopItems returns the elements that a loop goes through, as a Go slice, and whether they are keys.
func (f *fn) loopItems(s *ast.ForEach) (code string, isKey bool) {
	xs := f.expr(s.X)
	code = xs.code
	if f.info.CopyLoops[s] {
		code = f.share(xs)
	}
	code = side(code)
	switch xs.typ.(type) {
	case *typecheck.Vector:
		return code + ".Items()", false
	case *typecheck.Map, *typecheck.Set:
		return code + ".Keys().Items()", true
	}
	if xs.typ == typecheck.Bytes {
		return code + ".Data()", false
	}
	return "[]byte(" + code + ")", false
}
