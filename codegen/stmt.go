package codegen

import (
	goast "go/ast"
	"go/parser"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// stmts emits the statements of a block.
func (f *fn) stmts(list []ast.Stmt) {
	for i, s := range list {
		f.stmt(s)
		if f.terminates(list[i : i+1]) {
			return // what follows is never reached, and Go's vet says so
		}
	}
}

// block emits a block between braces that are already there.
func (f *fn) block(b *ast.Block) {
	f.push()
	defer f.pop()
	f.stmts(b.Stmts)
}

// stmt emits one statement. Every kind of statement has its line here.
func (f *fn) stmt(s ast.Stmt) {
	outer := f.line
	f.line = s.Span().Pos().Line()
	begin := f.w.buf.Len()
	defer func() {
		f.line = outer
		f.w.positionFrom(begin, s.Span())
	}()
	switch s := s.(type) {
	case *ast.Block:
		f.w.add("{")
		f.block(s)
		f.w.add("}")
	case *ast.VarDecl:
		f.varDecl(s)
	case *ast.Assign:
		f.assign(s)
	case *ast.IncDec:
		f.incDec(s)
	case *ast.If:
		f.ifStmt(s)
	case *ast.While:
		f.while(s)
	case *ast.For:
		f.forStmt(s)
	case *ast.ForUpto:
		f.forUpto(s)
	case *ast.ForEach:
		f.forEach(s)
	case *ast.Switch:
		f.switchStmt(s)
	case *ast.Match:
		f.matchStmt(s)
	case *ast.Return:
		f.returnStmt(s)
	case *ast.TailCall:
		f.tailCall(s)
	case *ast.GoCall:
		f.goCall(s)
	case *ast.Break:
		f.leave(s, exitBreak)
	case *ast.Continue:
		f.leave(s, exitContinue)
	case *ast.Require:
		f.require(s, s.Cond, s.Msg, "")
	case *ast.Assert:
		f.require(s, s.Cond, s.Msg, "assertion failed: "+s.Cond.Span().Text())
	case *ast.Abort:
		f.abort(s)
	case *ast.Delete:
		f.delete(s)
	case *ast.Cancel:
		f.cancel(s)
	case *ast.TryCatch:
		f.tryCatch(s)
	case *ast.Settle:
		f.line1(s, "cl.Settle()")
	case *ast.Sleep:
		d := f.expr(s.D)
		f.line1(s, "cl.Sleep("+goDuration(d)+")")
	case *ast.Advance:
		d := f.expr(s.D)
		f.line1(s, "cl.Advance("+goDuration(d)+")")
	case *ast.ExprStmt:
		f.exprStmt(s)
	case *ast.BadStmt:
		panic("codegen: asked to compile a package with errors")
	default:
		panic("codegen: no emitter for this statement")
	}
}

// line1 emits one line of Go for a statement.
func (f *fn) line1(s ast.Node, code string) {
	f.w.at(s.Span())
	f.w.add("%s", code)
}

func (f *fn) varDecl(s *ast.VarDecl) {
	v := f.info.Defs[s].(*typecheck.Var)
	if s.Init == nil {
		name := f.declare(v)
		f.line1(s, "var "+name+" "+f.goType(v.Type()))
		f.keepUsed(v)
		return
	}
	init := f.bind(s.Init)
	name := f.declare(v) // after the value, which may use a variable of this name further out
	f.line1(s, name+" := "+f.typed(init))
	f.keepUsed(v)
}

func (f *fn) exprStmt(s *ast.ExprStmt) {
	x := ast.Unparen(s.X)
	f.dropped, _ = x.(*ast.Call)
	v := f.expr(x)
	f.dropped = nil
	switch x.(type) {
	case *ast.Call, *ast.Await, *ast.New:
	default:
		panic("codegen: expression statement without effect")
	}
	if v.code == "" || v.stable && v.typ != nil && isTemporary(v.code) {
		if v.code != "" {
			f.w.add("_ = %s", v.code)
		}
		return
	}
	code := v.code
	if !isVoid(v.typ) && !isCall(code) {
		code = "_ = " + code // Go wants the value of a conversion or built-in function used
	}
	f.line1(s, code)
}

// isCall reports whether Go admits an expression as a statement.
func isCall(code string) bool {
	x, err := parser.ParseExpr(code)
	if err != nil {
		return false
	}
	call, ok := x.(*goast.CallExpr)
	if !ok {
		return false
	}
	switch fun := call.Fun.(type) {
	case *goast.Ident:
		return !predeclared[fun.Name]
	case *goast.SelectorExpr:
		id, ok := fun.X.(*goast.Ident)
		return !ok || id.Name != "aeonrt" || fun.Sel.Name != "Time" && fun.Sel.Name != "Duration"
	}
	return true
}

func (f *fn) ifStmt(s *ast.If) {
	f.push()
	defer f.pop()
	if s.Decl != nil {
		f.ifDecl(s)
	} else {
		cond := f.expr(s.Cond)
		f.w.at(s.Span())
		f.w.add("if %s {", cond.code)
		f.block(s.Then)
	}
	f.elseBranch(s.Else)
	f.w.add("}")
}

// ifDecl emits the head and first branch of `if (V v = e) { … }`.
func (f *fn) ifDecl(s *ast.If) {
	v := f.info.Defs[s.Decl].(*typecheck.Var)
	init := f.expr(s.Decl.Init)
	opt, ok := init.typ.(*typecheck.Optional)
	if !ok {
		panic("codegen: if with a value that is never null")
	}
	shared := side(f.share(init))
	name := f.declare(v)
	f.w.at(s.Span())
	if typecheck.IsRef(opt.Elem) {
		f.w.add("if %s := %s; !%s.IsNull() {", name, shared, name)
		f.block(s.Then)
		return
	}
	f.w.add("if %s, ok := %s.Get(); ok {", name, shared)
	f.keepUsed(v)
	if f.boxed(opt.Elem) && f.shares(opt.Elem) {
		f.w.add("%s.MarkShared()", name)
	}
	f.block(s.Then)
}

func (f *fn) elseBranch(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.Block:
		f.w.add("} else {")
		f.block(s)
	case *ast.If:
		text := f.capture(func() { f.ifStmt(s) })
		if mark, rest, ok := elseIf(text); ok {
			f.w.buf.WriteString("} else " + mark + rest)
			f.trimBrace()
			return
		}
		f.w.add("} else {")
		f.w.buf.WriteString(text)
		f.w.add("}")
		f.trimBrace()
	}
}

// elseIf reports whether the text of an if statement can follow `else`. Go wants the `if` on the same line,
// so its position becomes a comment.
func elseIf(text string) (mark, rest string, ok bool) {
	if line, tail, found := strings.Cut(text, "\n"); found && strings.HasPrefix(line, "//line ") && !strings.Contains(line, "*/") {
		mark, text = "/*"+strings.TrimPrefix(line, "//")+"*/ ", tail
	}
	return mark, text, strings.HasPrefix(text, "if ")
}

// trimBrace takes back the closing brace of an `else if`, which its caller writes.
func (f *fn) trimBrace() {
	f.w.buf.Truncate(f.w.buf.Len() - len("}\n"))
}

func (f *fn) returnStmt(s *ast.Return) {
	if s.X == nil {
		f.leave(s, exitReturn)
		return
	}
	v := f.expr(s.X)
	code := v.code
	if !f.movesOut(s.X) {
		code = f.share(v)
	}
	if t := f.try(); t != nil {
		f.line1(s, f.returnVar(t)+" = "+code)
		f.leave(s, exitReturn)
		return
	}
	f.line1(s, "return "+code)
}

// movesOut reports whether x is a whole local: it ends with the function, so that its value need
// not be copied.
func (f *fn) movesOut(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok || len(f.tries) > 0 {
		return false
	}
	v, ok := f.info.Uses[id].(*typecheck.Var)
	if !ok {
		return false
	}
	switch v.Kind {
	case typecheck.LocalVar, typecheck.ParamVar:
		return !f.boxed(nonNull(v.Type()))
	}
	return false
}

// terminates reports whether Go takes the last of the statements, as we emit it, for a terminating one.
func (f *fn) terminates(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.Return, *ast.TailCall:
		return true
	case *ast.Abort:
		return true
	case *ast.Break, *ast.Continue:
		return false
	case *ast.Block:
		return f.terminates(s.Stmts)
	case *ast.If:
		if s.Else == nil || !f.terminates(s.Then.Stmts) {
			return false
		}
		return f.terminates([]ast.Stmt{s.Else})
	case *ast.While:
		return f.endless(s.Cond) && !breaks(s.Body)
	case *ast.For:
		return (s.Cond == nil || f.endless(s.Cond)) && !breaks(s.Body)
	case *ast.Switch:
		return f.switchTerminates(s)
	case *ast.Match:
		return f.matchTerminates(s)
	}
	return false
}

// endless reports whether a loop condition is the constant true, so that we emit none.
func (f *fn) endless(cond ast.Expr) bool {
	c := f.info.ConstOf(cond)
	return c != nil && c.ExactString() == "true"
}

// breaks reports whether a break in the body leaves the loop or switch that the body is of.
func breaks(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Break:
			found = true
		case *ast.While, *ast.For, *ast.ForUpto, *ast.ForEach, *ast.Switch, *ast.Match:
			return false
		}
		return !found
	})
	return found
}
