package spec

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// control says how a statement has ended.
type control uint8

const (
	next control = iota
	broke
	continued
	returned
)

// stmts runs a list of statements. [SEQ]
func (f *frame) stmts(list []ast.Stmt) control {
	for _, s := range list {
		if c := f.stmt(s); c != next {
			return c
		}
	}
	return next
}

// stmt runs one statement.
func (f *frame) stmt(s ast.Stmt) control {
	f.m.spend(f, s)
	switch s := s.(type) {
	case *ast.Block:
		return f.stmts(s.Stmts)
	case *ast.VarDecl:
		if s.Init != nil {
			f.locals[f.info.Defs[s].(*typecheck.Var)] = f.eval(s.Init)
		} else {
			delete(f.locals, f.info.Defs[s].(*typecheck.Var))
		}
	case *ast.Assign:
		f.assign(s)
	case *ast.IncDec:
		f.incDec(s)
	case *ast.If:
		return f.ifStmt(s)
	case *ast.While:
		return f.loop(s.Cond, nil, s.Body)
	case *ast.For:
		if s.Init != nil {
			f.stmt(s.Init)
		}
		return f.loop(s.Cond, s.Post, s.Body)
	case *ast.ForUpto:
		return f.forUpto(s)
	case *ast.ForEach:
		return f.forEach(s)
	case *ast.Switch:
		return f.switchStmt(s)
	case *ast.Match:
		return f.matchStmt(s)
	case *ast.Return:
		f.result = nil
		if s.X != nil {
			f.result = f.eval(s.X)
		}
		return returned
	case *ast.TailCall:
		f.eval(s.X)
		return returned
	case *ast.Break:
		return broke
	case *ast.Continue:
		return continued
	case *ast.TryCatch:
		return f.tryCatch(s)
	case *ast.ExprStmt:
		f.eval(s.X)
	default:
		f.effect(s)
	}
	return next
}

// effect runs a statement that has no part in the flow of control.
func (f *frame) effect(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.Require:
		if !f.eval(s.Cond).(bool) {
			f.fail(s, f.eval(s.Msg).(string))
		}
	case *ast.Assert:
		if !f.eval(s.Cond).(bool) {
			msg := "assertion failed: " + s.Cond.Span().Text()
			if s.Msg != nil {
				msg = f.eval(s.Msg).(string)
			}
			failure := f.failure(s, msg)
			failure.Assert = true
			panic(failure)
		}
	case *ast.Abort:
		f.fail(s, f.eval(s.Msg).(string))
	case *ast.Delete:
		f.delete(s, f.eval(s.X))
	case *ast.Cancel:
		switch v := f.eval(s.Name).(type) {
		case pendingRef:
			f.th.cancel(v.id)
		default:
			f.ev.cancel(f, f.timerName(s, v))
		}
	case *ast.GoCall:
		f.issueEffect(s)
	case *ast.Settle:
		f.th.settle(f, s)
	case *ast.Sleep:
		f.th.sleep(f, s, f.eval(s.D).(span))
	case *ast.Advance:
		f.th.advance(f, s, f.eval(s.D).(span))
	default:
		panic(bug{"no rule for a statement: " + s.Span().Text()})
	}
}

// ifStmt is [IF]. With a declaration it is taken where the value is not null.
func (f *frame) ifStmt(s *ast.If) control {
	taken := false
	if s.Decl != nil {
		v := f.eval(s.Decl.Init)
		if taken = v != nil; taken {
			f.locals[f.info.Defs[s.Decl].(*typecheck.Var)] = v
		}
	} else {
		taken = f.eval(s.Cond).(bool)
	}
	switch {
	case taken:
		return f.stmts(s.Then.Stmts)
	case s.Else != nil:
		return f.stmt(s.Else)
	}
	return next
}

// loop is [LOOP] for while and the C-style for.
func (f *frame) loop(cond ast.Expr, post ast.Stmt, body *ast.Block) control {
	for cond == nil || f.eval(cond).(bool) {
		if c, leave := f.round(body); leave {
			return c
		}
		if post != nil {
			f.stmt(post)
		}
	}
	return next
}

// round runs the body of a loop once, and says how to leave the loop if it is to be left.
func (f *frame) round(body *ast.Block) (c control, leave bool) {
	f.m.spend(f, body)
	if f.ev != nil {
		f.ev.spend(f, body)
	}
	switch c := f.stmts(body.Stmts); c {
	case broke:
		return next, true
	case returned:
		return returned, true
	}
	return next, false
}

func (f *frame) forUpto(s *ast.ForUpto) control {
	v := f.info.Defs[s].(*typecheck.Var)
	i := f.eval(s.From).(integer)
	end := f.eval(s.To).(integer)
	for f.locals[v] = i; compare(f.locals[v], end) < 0; {
		if c, leave := f.round(s.Body); leave {
			return c
		}
		f.locals[v] = f.compound(s, ast.OpAdd, f.locals[v], one(f.locals[v]))
	}
	return next
}

// forEach goes over the value that the expression had when the loop began.
func (f *frame) forEach(s *ast.ForEach) control {
	v := f.info.Defs[s].(*typecheck.Var)
	if s.Value != nil {
		return f.forEntries(s, v, f.info.Defs[s.Value].(*typecheck.Var))
	}
	for _, x := range elements(f.eval(s.X)) {
		f.locals[v] = x
		if c, leave := f.round(s.Body); leave {
			return c
		}
	}
	return next
}

// forEntries goes over keys and values, in ascending order of the keys.
func (f *frame) forEntries(s *ast.ForEach, k, v *typecheck.Var) control {
	for _, e := range f.eval(s.X).(*table).entries {
		f.locals[k], f.locals[v] = e.key, e.value
		if c, leave := f.round(s.Body); leave {
			return c
		}
	}
	return next
}

func elements(v value) []value {
	switch v := v.(type) {
	case *vector:
		return v.elems
	case *table:
		return v.keys().elems
	case *rows:
		return v.vector(wholeRow).elems
	case string:
		return octets(v)
	case byteString:
		return octets(string(v))
	}
	panic(bug{"a loop over something else"})
}

func octets(s string) []value {
	list := make([]value, len(s))
	for i := range len(s) {
		list[i] = octet(s[i])
	}
	return list
}

// switchStmt is [SWITCH]: the first case with an equal value; nothing falls through.
func (f *frame) switchStmt(s *ast.Switch) control {
	x := f.eval(s.X)
	for _, c := range s.Cases {
		if slices.ContainsFunc(c.Values, func(v ast.Expr) bool { return equal(x, f.eval(v)) }) {
			return leaveSwitch(f.stmts(c.Body))
		}
	}
	if i := slices.IndexFunc(s.Cases, func(c *ast.SwitchCase) bool { return c.Default }); i >= 0 {
		return leaveSwitch(f.stmts(s.Cases[i].Body))
	}
	return next
}

func leaveSwitch(c control) control {
	if c == broke {
		return next
	}
	return c
}

func (f *frame) matchStmt(s *ast.Match) control {
	x := f.eval(s.X).(enumValue)
	fallback := -1
	for i, c := range s.Cases {
		if c.Default {
			fallback = i
			continue
		}
		for _, p := range c.Patterns {
			if f.info.Patterns[p] == x.of {
				return leaveSwitch(f.stmts(c.Body))
			}
		}
	}
	if fallback >= 0 {
		return leaveSwitch(f.stmts(s.Cases[fallback].Body))
	}
	panic(bug{"a match without a case for its value"})
}
