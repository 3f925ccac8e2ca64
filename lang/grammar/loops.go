package grammar

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// parseForHead reads the parentheses of a for: which of the three loops it is
// shows only behind the variable.
func (p *parser) parseForHead(lex *lexer.PeekingLexer) (forHeadNode, error) {
	p.enter(lex)
	start := p.cur
	var s ast.Stmt
	err := p.inParens(lex, func() (err error) {
		s, err = p.forHead()
		return err
	})
	if err != nil {
		return nil, err
	}
	if s == nil { // the body uses what could not be read
		s = &ast.For{Init: &ast.BadStmt{Loc: ast.At(p.span(start, p.cur))}}
	}
	return s, nil
}

func (p *parser) forHead() (ast.Stmt, error) {
	if p.kind(p.cur) == Yield {
		return nil, p.fail(p.cur, diag.New(diag.MisplacedModifier, p.at(p.cur), "a local takes no `yield`").
			WithHelp("a local is yield if anything assigned to it is").
			WithFix("remove it", diag.Replace(p.at(p.cur).To(p.at(p.cur+1).AtStart()), "")))
	}
	if _, ok := p.declaresVar(p.cur); !ok {
		var init ast.Stmt
		if p.kind(p.cur) != Semi {
			var err error
			if init, err = p.expressionStmt(p.cur); err != nil {
				return nil, err
			}
		}
		return p.forRest(init)
	}
	v, err := p.loopVar()
	if err != nil {
		return nil, err
	}
	var value *ast.LoopValue
	if _, second := p.declaresVar(p.cur + 1); p.kind(p.cur) == Comma && second {
		p.cur++
		w, err := p.loopVar()
		if err != nil {
			return nil, err
		}
		value = &ast.LoopValue{Loc: w.Loc, Type: w.Type, Name: w.Name}
		if p.kind(p.cur) != Colon {
			return nil, p.fail(p.cur, p.expected(p.cur, "`:` and a map").WithHelp("a loop over the entries of a map: `for (K k, V v : m) { … }`"))
		}
	}
	switch p.kind(p.cur) {
	case Colon:
		p.cur++
		x, err := p.expr()
		return &ast.ForEach{Type: v.Type, Name: v.Name, Value: value, X: x}, err
	case Semi:
		if v.Type == nil {
			return nil, p.fail(p.cur, p.expected(p.cur, "`=` and a value behind `var`"))
		}
		return p.forRest(v)
	case Assign:
		p.cur++
	default:
		d := p.expected(p.cur, "`:` or `=` behind the loop variable")
		switch before := p.cur - 1; {
		case p.kind(p.cur) == Ident && (p.text(p.cur) == "in" || p.text(p.cur) == "of") && (p.kind(p.cur+1) == Int || p.kind(p.cur+1) == Float):
			d = d.WithHelp("a loop that counts: `for (int %s = 0 upto n) { … }`", p.text(before))
		case p.kind(p.cur) == Comma:
			d = d.WithHelp("a loop has one variable: `for (T x : xs)`; over a map it has two, `for (K k, V v : m)`; to count, `for (int i = 0 upto xs.size())`")
		case p.kind(p.cur) == Ident && (p.text(p.cur) == "in" || p.text(p.cur) == "of"):
			d = d.WithHelp("a loop over a vector or set: `for (T x : xs) { … }`").WithFix("write :", diag.Replace(p.at(p.cur), ":"))
		case p.text(before) == "in" || p.text(before) == "of": // for (x in xs)
			d = d.WithHelp("a loop over a vector or set: `for (T %s : %s) { … }`", p.text(before-1), p.text(p.cur))
		}
		return nil, p.fail(p.cur, d)
	}
	if v.Init, err = p.expr(); err != nil {
		return nil, err
	}
	if p.kind(p.cur) != Upto {
		v.Range = v.Range.To(v.Init.Span())
		return p.forRest(v)
	}
	p.cur++
	to, err := p.expr()
	return &ast.ForUpto{Type: v.Type, Name: v.Name, From: v.Init, To: to}, err
}

// forRest reads `; cond; post`.
func (p *parser) forRest(init ast.Stmt) (ast.Stmt, error) {
	s := &ast.For{Init: init}
	if p.kind(p.cur) != Semi {
		what := "`;`"
		if init != nil {
			what = "`;` or `upto`"
		}
		d := p.suggest(p.expected(p.cur, what), p.cur, "upto")
		switch word := p.text(p.cur); {
		case word == "to" || word == "until" || word == "till":
			d = d.WithHelp("did you mean `upto`? The end is not included").WithFix("write upto", diag.Replace(p.at(p.cur), "upto"))
		case p.kind(p.cur) == Colon:
			d = p.instead(p.cur, d)
		}
		return nil, p.fail(p.cur, d)
	}
	p.cur++
	var err error
	if p.kind(p.cur) != Semi {
		if s.Cond, err = p.cond(); err != nil {
			return nil, err
		}
	}
	if p.kind(p.cur) != Semi {
		return nil, p.fail(p.cur, p.expected(p.cur, "`;` behind the condition of the loop"))
	}
	p.cur++
	if p.kind(p.cur) != RParen {
		s.Post, err = p.expressionStmt(p.cur)
	}
	return s, err
}
