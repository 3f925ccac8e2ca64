package grammar

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// beginsTail reports whether token i is the word `tail` of a tail call. Everywhere else it
// is a name: behind a type of that name stands one that `=` or `;` follows.
func (p *parser) beginsTail(i int) bool {
	if p.kind(i) != Tail {
		return false
	}
	switch k := p.kind(i + 1); {
	case k == This || k == Actor || k == New:
		return true
	case k.IsName():
		switch p.kind(i + 2) {
		case Dot, QuestDot, Not, LParen, LBrack, Less:
			return p.kind(i+2) != LBrack || p.kind(i+3) != RBrack
		}
	}
	return false
}

// tailWithin is the error for the word `tail` at token i, behind which something stands that no
// tail call is, or which stands where no statement begins.
func (p *parser) tailWithin(i int) diag.Diagnostic {
	if i == p.stmtStart {
		return diag.New(diag.DecorationWithoutCall, p.at(i), "`tail` stands before a call, and this is none").
			With(p.at(i+1), "no call").WithHelp("write `tail actor.method(…);`")
	}
	d := diag.New(diag.UnexpectedToken, p.at(i), "`tail` begins a statement, and has no value")
	if p.kind(i-1) == Return && i-1 == p.stmtStart {
		d = d.WithFix("remove `return`", diag.Replace(p.at(i-1).To(p.at(i).AtStart()), ""))
	}
	return d.WithHelp("%s", tailHelp)
}

const tailHelp = "a tail call is a statement that ends the method, and its result is that of the method: write `tail f(…);`"

// tailCall reads `tail c.m(x);`.
func (p *parser) tailCall() (ast.Stmt, error) {
	start := p.cur
	p.cur++
	x, err := p.postfix()
	if err != nil {
		return nil, err
	}
	call, ok := x.(*ast.Call)
	if !ok {
		return nil, p.fail(start, diag.New(diag.DecorationWithoutCall, p.at(start), "`tail` stands before a call, and this is none").
			With(x.Span(), "no call").WithHelp("write `tail actor.method(…);`"))
	}
	switch k := p.kind(p.cur); k {
	case After, Every, As:
		return nil, p.fail(p.cur, diag.New(diag.TimerClause, p.at(p.cur), "only an `event` can be timed with `%s`", k).
			With(p.at(start), "a tail call goes on at once").WithHelp("use `event`, which begins a chain of its own"))
	}
	call.Mode, call.ModePos = ast.Tail, p.at(start)
	call.Range = p.span(start, p.cur)
	if _, width := p.binaryOp(); width > 0 {
		return nil, p.fail(p.cur, p.expected(p.cur, "`;`").WithHelp("%s", tailHelp))
	}
	if _, err := p.semi(); err != nil {
		return nil, err
	}
	return &ast.TailCall{Loc: p.loc(start), X: call}, nil
}
