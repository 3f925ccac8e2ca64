package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// stmts reads the statements of a block or case.
func (p *parser) stmts(lex *lexer.PeekingLexer) ([]ast.Stmt, error) {
	var list []ast.Stmt
	for {
		s, err := p.parseStmt(lex)
		if err == participle.NextMatch {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
}

// parseStmt reads one statement of a block. What is wrong with it is reported
// here and leaves a BadStmt; only a fatal error is returned.
func (p *parser) parseStmt(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	p.enter(lex)
	start := p.cur
	if k := p.kind(start); k == RBrace || k == EOF || p.inCases && (k == Case || k == Default) {
		return nil, participle.NextMatch
	}
	if err := p.push(); err != nil {
		return nil, err
	}
	defer p.pop()
	open, stmtStart, inCases := len(p.open), p.stmtStart, p.inCases
	p.stmtStart = start
	known := len(p.diags)
	s, err := p.stmt(lex)
	p.stmtStart, p.inCases = stmtStart, inCases
	if err == nil {
		p.leave(lex)
		return s, nil
	}
	err = p.blame(start, known, foreignStmts, err)
	if err := p.recover(lex, start, open, err); err != nil {
		return nil, err
	}
	return &ast.BadStmt{Loc: p.loc(start)}, nil
}

// stmt reads the statement at p.cur.
func (p *parser) stmt(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start := p.cur
	switch p.kind(start) {
	case LBrace:
		return p.block(lex)
	case Var, If, While, For, Switch, Match, Try:
		return p.compound(lex)
	case Return, Break, Continue, Require, Abort, Assert, Delete, Cancel, Settle, Sleep, Advance:
		return p.simple(lex)
	case Semi:
		p.cur++
		return nil, p.fail(start, diag.New(diag.UnexpectedToken, p.at(start), "an empty statement").
			WithFix("remove it", diag.Replace(p.at(start), "")))
	case Yield:
		return nil, p.fail(start, diag.New(diag.MisplacedModifier, p.at(start), "a local takes no `yield`").
			WithHelp("a local is yield if anything assigned to it is").
			WithFix("remove it", diag.Replace(p.span(start, start+1).To(p.at(start+1).AtStart()), "")))
	case Const, Class, Actorclass, Enum, Void, Ro:
		return nil, p.nestedDecl(start)
	case Else, Catch:
		return nil, p.fail(start, diag.New(diag.UnexpectedToken, p.at(start), "`%s` without what it belongs to", p.kind(start)))
	}
	if p.beginsTail(start) {
		return p.tailCall()
	}
	if p.kind(start) == Event && p.kind(start+1) == Go && p.kind(start+2).IsName() {
		return p.goCall()
	}
	if name, ok := p.declaresVar(start); ok {
		if p.declaresFunc(start) && p.bodyFollows(name+1) {
			return nil, p.nestedDecl(start)
		}
		if err, done := p.foreignLocal(name); done {
			return nil, err
		}
		return p.typedVar(lex)
	}
	s, err := p.expressionStmt(p.cur)
	if err != nil {
		return nil, err
	}
	if _, err := p.semi(); err != nil {
		return nil, err
	}
	setEnd(s, p.span(start, p.cur))
	return s, nil
}

// bodyFollows reports whether the parentheses at token i are followed by `{` or `=`,
// looking a few hundred tokens far.
func (p *parser) bodyFollows(i int) bool {
	level := 0
	for end := i + 300; i < end; i++ {
		switch p.kind(i) {
		case LParen:
			level++
		case RParen:
			if level--; level == 0 {
				return p.kind(i+1) == LBrace || p.kind(i+1) == Assign
			}
		case Semi, LBrace, RBrace, EOF:
			return false
		}
	}
	return false
}

func (p *parser) nestedDecl(start int) error {
	what := "a function"
	switch p.kind(start) {
	case Const:
		what = "a constant"
	case Class, Actorclass:
		what = "a class"
	case Enum:
		what = "an enum"
	}
	d := diag.New(diag.NestedDeclaration, p.at(start), "%s cannot be declared within a function", what)
	if p.kind(start) == Const {
		d = d.WithHelp("a local that is assigned once needs no word: `int n = 1;`")
	}
	if n := len(p.open); n > 0 {
		d = d.With(p.at(p.open[n-1]), "the block that it stands in; is a `}` missing above?")
	}
	return p.fail(start, d)
}

// block reads `{ … }`. It has no production because half of all the
// reflection would be spent on it.
func (p *parser) block(lex *lexer.PeekingLexer) (*ast.Block, error) {
	start, inCases := p.cur, p.inCases
	defer func() { p.inCases = inCases }()
	p.inCases = false
	if err := p.openBrace(lex); err != nil {
		return nil, err
	}
	list, err := p.stmts(lex)
	if err != nil {
		return nil, err
	}
	p.closeBrace(lex)
	if p.gaveUp != nil {
		return nil, p.gaveUp
	}
	return &ast.Block{Loc: p.loc(start), Stmts: list}, nil
}

// parseBlock reads the body of a function.
func (p *parser) parseBlock(lex *lexer.PeekingLexer) (blockNode, error) {
	p.enter(lex)
	if p.kind(p.cur) != LBrace {
		return nil, participle.NextMatch
	}
	b, err := p.block(lex)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// parseBranch reads the block of a control statement. A single statement in
// its place is reported and read.
func (p *parser) parseBranch(lex *lexer.PeekingLexer) (branchNode, error) {
	p.enter(lex)
	start := p.cur
	switch p.kind(start) {
	case LBrace:
		return p.parseBlock(lex)
	case EOF, RBrace, Case, Default, RParen, RBrack:
		return nil, participle.NextMatch
	case Semi:
		return nil, p.fail(start, diag.New(diag.MissingBraces, p.at(start), "expected a block, found `;`").
			WithFix("write an empty block", diag.Replace(p.at(start), "{\n}")))
	}
	reported := len(p.diags)
	s, err := p.parseStmt(lex)
	if err != nil {
		return nil, err
	}
	p.enter(lex)
	if len(p.diags) == reported {
		p.note(start, diag.New(diag.MissingBraces, p.at(start), "the body of `%s` must stand in braces", p.kind(p.stmtStart)).
			WithFix("add braces", diag.InsertBefore(s.Span(), "{ "), diag.InsertAfter(s.Span(), " }")))
	}
	return &ast.Block{Loc: p.loc(start), Stmts: []ast.Stmt{s}}, nil
}

// typedVar reads `T name = e;`.
func (p *parser) typedVar(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start := p.cur
	g, err := run(p, p.prods.typedVar, lex)
	if err != nil {
		return nil, err
	}
	d := &ast.VarDecl{Loc: p.loc(start), Type: g.Type, Name: *g.Name.(*ast.Name), Init: g.Init}
	p.nameLocal(d.Name)
	if p.kind(start).IsName() && p.kind(start+1).IsName() && localWords[p.text(start)] {
		p.note(start, foreignWord(p.at(start), localHelp).WithFix("write var", diag.Replace(p.at(start), "var")))
		if d.Type = nil; d.Init == nil {
			d.Type = &ast.BadType{Loc: ast.At(p.at(start))}
		}
	}
	return d, nil
}

// parseFieldInit reads `= e`.
func (p *parser) parseFieldInit(lex *lexer.PeekingLexer) (fieldInit, error) {
	p.enter(lex)
	if p.kind(p.cur) != Assign {
		return nil, participle.NextMatch
	}
	p.cur++
	x, err := p.expr()
	p.leave(lex)
	return x, err
}

// simple reads a statement that starts with a keyword and has no block.
func (p *parser) simple(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start, k := p.cur, p.kind(p.cur)
	switch k {
	case Return:
		g, err := run(p, p.prods.returnStmt, lex)
		if err != nil {
			return nil, err
		}
		return &ast.Return{Loc: p.loc(start), X: g.X}, nil
	case Break, Continue:
		if _, err := run(p, p.prods.jump, lex); err != nil {
			return nil, err
		}
		if k == Break {
			return &ast.Break{Loc: p.loc(start)}, nil
		}
		return &ast.Continue{Loc: p.loc(start)}, nil
	case Require:
		g, err := run(p, p.prods.require, lex)
		if err != nil {
			return nil, err
		}
		return &ast.Require{Loc: p.loc(start), Cond: g.Cond, Msg: g.Msg}, nil
	case Assert:
		g, err := run(p, p.prods.assert, lex)
		if err != nil {
			return nil, err
		}
		return &ast.Assert{Loc: p.loc(start), Cond: g.Cond, Msg: g.Msg}, nil
	case Abort, Delete, Cancel:
		return p.operandStmt(lex)
	case Settle:
		if _, err := run(p, p.prods.settle, lex); err != nil {
			return nil, err
		}
		return &ast.Settle{Loc: p.loc(start)}, nil
	default: // Sleep, Advance
		g, err := run(p, p.prods.duration, lex)
		if err != nil {
			return nil, err
		}
		if k == Sleep {
			return &ast.Sleep{Loc: p.loc(start), D: g.D}, nil
		}
		return &ast.Advance{Loc: p.loc(start), D: g.D}, nil
	}
}

func (p *parser) operandStmt(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start, k := p.cur, p.kind(p.cur)
	g, err := run(p, p.prods.operand, lex)
	if err != nil {
		return nil, err
	}
	switch k {
	case Abort:
		return &ast.Abort{Loc: p.loc(start), Msg: g.X}, nil
	case Delete:
		return &ast.Delete{Loc: p.loc(start), X: g.X}, nil
	default:
		return &ast.Cancel{Loc: p.loc(start), Name: g.X}, nil
	}
}

// assignOps gives the operator of a compound assignment.
var assignOps = [contextualLast]ast.Op{
	PlusEq: ast.OpAdd, MinusEq: ast.OpSub, StarEq: ast.OpMul, SlashEq: ast.OpDiv, PercentEq: ast.OpRem, AmpEq: ast.OpBitAnd,
	PipeEq: ast.OpBitOr, CaretEq: ast.OpBitXor, AndNotEq: ast.OpAndNot, ShlEq: ast.OpShl,
}

// expressionStmt reads an assignment, `x++`, or a call, without its `;`.
func (p *parser) expressionStmt(start int) (ast.Stmt, error) {
	if k := p.kind(start); !startsExpr(k) {
		if k == PlusPlus || k == MinusMinus {
			return nil, p.fail(start, p.expected(start, "a statement").WithHelp("write %s behind the variable", k))
		}
		return nil, p.fail(start, p.expected(start, "a statement"))
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	at, op := p.cur, ast.OpNone
	switch k := p.kind(at); {
	case k == PlusPlus || k == MinusMinus:
		p.cur++
		return &ast.IncDec{Loc: p.loc(start), X: x, Dec: k == MinusMinus, OpPos: p.at(at)}, p.checkTarget(start, x)
	case k == Assign && p.touches(at, Greater):
		return nil, p.fail(at, p.instead(at, p.expected(at, "a statement")))
	case k == Assign:
		p.cur++
	case assignOps[k] != ast.OpNone:
		op = assignOps[k]
		p.cur++
	case k == Greater && p.touches(at, Greater) && p.touches(at+1, GreaterEq), k == Greater && p.touches(at, GreaterEq): // >>=
		op = ast.OpShr
		p.cur += 2
	default:
		return p.callStmt(start, x)
	}
	opPos := p.span(at, p.cur)
	if !startsExpr(p.kind(p.cur)) {
		return nil, p.fail(p.cur, p.expected(p.cur, "an expression"))
	}
	y, err := p.expr()
	if err != nil {
		return nil, err
	}
	return &ast.Assign{Loc: p.loc(start), LHS: x, Op: op, OpPos: opPos, RHS: y}, p.checkTarget(start, x)
}

// checkTarget reports an assignment to what is no path.
func (p *parser) checkTarget(start int, x ast.Expr) error {
	for y := x; ; {
		switch z := y.(type) {
		case *ast.Ident, *ast.BadExpr:
			return nil
		case *ast.This:
			if y != x {
				return nil
			}
		case *ast.Field:
			y = z.X
			continue
		case *ast.Index:
			y = z.X
			continue
		case *ast.NonNull:
			if y != x {
				y = z.X
				continue
			}
		}
		p.note(start, diag.New(diag.NotAssignable, x.Span(), "this cannot be assigned to").
			WithHelp("assign to a variable, a field, or an element: x, x.f, x[i], x!.f"))
		return nil
	}
}

// callStmt makes a statement of an expression that has an effect.
func (p *parser) callStmt(start int, x ast.Expr) (ast.Stmt, error) {
	switch x.(type) {
	case *ast.Call, *ast.New, *ast.Await:
		return &ast.ExprStmt{Loc: p.loc(start), X: x}, nil
	}
	if k := p.kind(p.cur); k != Semi && k != RBrace && k != EOF && !p.startsLine(p.cur) {
		return nil, p.fail(p.cur, p.instead(p.cur, p.expected(p.cur, "`;`")))
	}
	d := diag.New(diag.NotAStatement, x.Span(), "this expression does nothing as a statement").
		WithHelp("use its value, or remove it")
	d = p.suggest(d, start, "break", "continue", "return", "settle")
	p.note(start, d)
	return &ast.BadStmt{Loc: p.loc(start), X: x}, nil
}

// setEnd gives a statement the span that includes its `;`.
func setEnd(s ast.Stmt, span ast.Span) {
	switch s := s.(type) {
	case *ast.IncDec:
		s.Range = span
	case *ast.Assign:
		s.Range = span
	case *ast.ExprStmt:
		s.Range = span
	case *ast.BadStmt:
		s.Range = span
	}
}
