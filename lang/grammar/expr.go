package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// parseExpr reads an expression for a production.
func (p *parser) parseExpr(lex *lexer.PeekingLexer) (ast.Expr, error) {
	p.enter(lex)
	if !startsExpr(p.kind(p.cur)) {
		return nil, participle.NextMatch
	}
	x, err := p.expr()
	p.leave(lex)
	return x, err
}

// startsExpr reports whether a token of kind k can start an expression.
func startsExpr(k Kind) bool {
	switch k {
	case Int, Char, Float, Duration, String, RawString, StrHead, LParen, LBrack, This, True, False, Null, New, Actor,
		Await, Async, Event, Plus, Minus, Not, Caret:
		return true
	}
	return k.IsName()
}

// expr reads an expression at p.cur.
func (p *parser) expr() (ast.Expr, error) { return p.binary(0) }

// binary reads operands and operators of at least the precedence min, where
// `??` has 0 and groups to the right, and the others are Go's and group to the left.
func (p *parser) binary(min int) (ast.Expr, error) {
	if err := p.push(); err != nil {
		return nil, err
	}
	defer p.pop()
	start := p.cur
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	for {
		op, width := p.binaryOp()
		if width == 0 || op.Precedence() < min {
			return x, nil
		}
		opStart, xHeight := p.cur, p.height
		p.cur += width
		next := op.Precedence() + 1
		if op == ast.OpNone {
			next = 0
		}
		y, err := p.binary(next)
		if err != nil {
			return nil, err
		}
		if err := p.grow(xHeight, opStart); err != nil {
			return nil, err
		}
		opPos := p.span(opStart, opStart+width)
		if op == ast.OpNone {
			x = &ast.Coalesce{Loc: p.loc(start), OpPos: opPos, X: x, Y: y}
			continue
		}
		x = &ast.Binary{Loc: p.loc(start), Op: op, OpPos: opPos, X: x, Y: y}
	}
}

// grow makes the tree that was just read one level higher than itself and its
// sibling. Chains such as a+b+c+… nest to the left without recursion here, but
// every later pass recurses into them.
func (p *parser) grow(sibling, at int) error {
	p.height = max(p.height, sibling) + 1
	if p.height > NestingMax {
		return p.tooDeep(at)
	}
	return nil
}

// binaryOps gives the operator of a token; OpNone stands for `??` here.
var binaryOps = [contextualLast]ast.Op{
	OrOr: ast.OpOr, AndAnd: ast.OpAnd, EqEq: ast.OpEq, NotEq: ast.OpNe, Less: ast.OpLt, LessEq: ast.OpLe,
	Greater: ast.OpGt, GreaterEq: ast.OpGe, Plus: ast.OpAdd, Minus: ast.OpSub, Pipe: ast.OpBitOr, Caret: ast.OpBitXor,
	Star: ast.OpMul, Slash: ast.OpDiv, Percent: ast.OpRem, Shl: ast.OpShl, Amp: ast.OpBitAnd, AndNot: ast.OpAndNot,
}

// binaryOp returns the operator at p.cur and how many tokens it has; none if
// there is no operator.
func (p *parser) binaryOp() (op ast.Op, width int) {
	k := p.kind(p.cur)
	switch {
	case k == QuestQuest:
		return ast.OpNone, 1
	case k == Greater && p.touches(p.cur, Greater):
		if p.touches(p.cur+1, GreaterEq) {
			return ast.OpNone, 0
		}
		return ast.OpShr, 2
	case k == Greater && p.touches(p.cur, GreaterEq): // >>=
		return ast.OpNone, 0
	}
	if op = binaryOps[k]; op != ast.OpNone {
		return op, 1
	}
	return ast.OpNone, 0
}

// touches reports whether token i+1 has kind k and no space before it.
func (p *parser) touches(i int, k Kind) bool {
	return p.kind(i+1) == k && p.tok(i+1).Start == p.tok(i).End
}

var unaryOps = [contextualLast]ast.Op{Plus: ast.OpAdd, Minus: ast.OpSub, Not: ast.OpNot, Caret: ast.OpBitXor}

// unary reads an operand with its prefixes.
func (p *parser) unary() (ast.Expr, error) {
	if err := p.push(); err != nil {
		return nil, err
	}
	defer p.pop()
	start := p.cur
	switch k := p.kind(start); k {
	case Plus, Minus, Not, Caret:
		p.cur++
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return &ast.Unary{Loc: p.loc(start), Op: unaryOps[k], X: x}, p.grow(0, start)
	case Await:
		p.cur++
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return &ast.Await{Loc: p.loc(start), X: x}, p.grow(0, start)
	case Async, Event:
		return p.decorated()
	case PlusPlus, MinusMinus:
		return nil, p.fail(start, p.expected(start, "an expression").
			WithHelp("%s is a statement of its own, written behind the variable", k))
	}
	return p.postfix()
}

// decorated reads a call with `async` or `event` and its timer clauses.
func (p *parser) decorated() (ast.Expr, error) {
	start, mode := p.cur, ast.Async
	if p.kind(start) == Event {
		mode = ast.Event
	}
	p.cur++
	if !startsExpr(p.kind(p.cur)) {
		return nil, p.fail(p.cur, p.expected(p.cur, "a call behind `"+mode.String()+"`"))
	}
	x, err := p.postfix()
	if err != nil {
		return nil, err
	}
	call, ok := x.(*ast.Call)
	if !ok {
		return nil, p.fail(start, diag.New(diag.DecorationWithoutCall, p.at(start), "`%s` decorates a call, and this is none", mode).
			With(x.Span(), "no call").WithHelp("write `%s actor.method(…)`", mode))
	}
	call.Mode, call.ModePos = mode, p.at(start)
	if err := p.timer(call); err != nil {
		return nil, err
	}
	call.Range = p.span(start, p.cur)
	return call, nil
}

// timer reads `after D`, `every D` and `as "name"`.
func (p *parser) timer(call *ast.Call) error {
	height := p.height
	clause := func(k Kind, to *ast.Expr) error {
		if p.kind(p.cur) != k {
			return nil
		}
		at := p.cur
		if call.Mode != ast.Event {
			return p.fail(at, diag.New(diag.TimerClause, p.at(at), "only an `event` can be timed with `%s`", k).
				With(call.ModePos, "this call is part of the running event").WithHelp("use `event` instead of `async`"))
		}
		p.cur++
		x, err := p.binary(0)
		if err != nil {
			return err
		}
		*to = x
		return p.grow(height, at)
	}
	if err := clause(After, &call.After); err != nil {
		return err
	}
	every := p.cur
	if err := clause(Every, &call.Every); err != nil {
		return err
	}
	if err := clause(As, &call.Name); err != nil {
		return err
	}
	if call.Every != nil && call.Name == nil {
		end := p.span(every, p.cur)
		p.note(every, diag.New(diag.TimerClause, end, "a repeated event needs a name to be cancelled by").
			WithFix("name it", diag.InsertAfter(end, ` as "name"`)).WithHelp(`add as "name"`))
		call.Name = &ast.BadExpr{Loc: ast.At(end.AtEnd())}
	}
	if call.Name != nil && call.After == nil && call.Every == nil {
		p.note(every, diag.New(diag.TimerClause, p.at(every), "a name is for timers, and this event has no `after` or `every`").
			WithHelp("write `event … after 5s as \"name\"`, or leave the name out"))
	}
	return nil
}
