package grammar

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

const goCallHelp = "a call of a Go function after the commit is a statement: `event go f(…) retry 5;`, or `event go f(…) retry 5 then m(…);`"

// goCall reads `event go f(x) retry n then m(y);`.
func (p *parser) goCall() (ast.Stmt, error) {
	start := p.cur
	p.cur += 2
	x, err := p.goCalled(p.at(start))
	if err != nil {
		return nil, err
	}
	if p.kind(p.cur) != Retry {
		return nil, p.fail(p.cur, p.expected(p.cur, "`retry`").WithHelp("say how often the call is tried, at most: `event go f(…) retry 5;`"))
	}
	p.cur++
	s := &ast.GoCall{X: x}
	if s.Retry, err = p.binary(0); err != nil {
		return nil, err
	}
	if p.kind(p.cur) == Then {
		p.cur++
		if s.Then, err = p.goCalled(p.at(p.cur - 1)); err != nil {
			return nil, err
		}
	}
	if _, err := p.semi(); err != nil {
		return nil, err
	}
	s.Loc = p.loc(start)
	return s, nil
}

// goCalled reads `f(x)` or, behind `event go`, `package.f(x)`; word stands before it.
func (p *parser) goCalled(word ast.Span) (*ast.Call, error) {
	start := p.cur
	x, err := p.postfix()
	if err != nil {
		return nil, err
	}
	if call, ok := x.(*ast.Call); ok && len(call.TypeArgs) == 0 {
		fun := call.Fun
		if of, ok := fun.(*ast.Field); ok && word.Text() == Event.String() {
			fun = of.X
		}
		if _, ok := fun.(*ast.Ident); ok {
			call.Mode, call.ModePos = ast.Event, word
			return call, nil
		}
	}
	return nil, p.fail(start, diag.New(diag.DecorationWithoutCall, x.Span(), "here stands the call of a function or a method by its name").
		WithHelp("%s", goCallHelp))
}
