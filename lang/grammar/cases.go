package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

func (p *parser) switchStmt(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start := p.cur
	g, err := run(p, p.prods.switchStmt, lex)
	if err != nil {
		return nil, err
	}
	s := &ast.Switch{Loc: p.loc(start), X: g.X}
	var first *ast.SwitchCase
	for _, c := range g.Cases {
		c := c.(*ast.SwitchCase)
		if c.Default && first != nil {
			p.secondDefault(first.Span(), c.Span())
		} else if c.Default {
			first = c
		}
		s.Cases = append(s.Cases, c)
	}
	return s, nil
}

func (p *parser) matchStmt(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start := p.cur
	g, err := run(p, p.prods.match, lex)
	if err != nil {
		return nil, err
	}
	s := &ast.Match{Loc: p.loc(start), X: g.X}
	var first *ast.MatchCase
	for _, c := range g.Cases {
		c := c.(*ast.MatchCase)
		if c.Default && first != nil {
			p.secondDefault(first.Span(), c.Span())
		} else if c.Default {
			first = c
		}
		s.Cases = append(s.Cases, c)
	}
	return s, nil
}

func (p *parser) secondDefault(first, second ast.Span) {
	word := func(s ast.Span) ast.Span {
		return ast.Span{Src: s.Src, Start: s.Start, End: s.Start + int32(len("default"))}
	}
	p.diags = append(p.diags, diag.New(diag.DuplicateDefault, word(second), "a second `default`").
		With(word(first), "the first one").WithHelp("join the two"))
}

// parseCase reads one case of a switch.
func (p *parser) parseCase(lex *lexer.PeekingLexer) (caseNode, error) {
	c := &ast.SwitchCase{}
	err := p.caseClause(lex, &c.Loc, &c.Default, &c.Body, func() error {
		x, err := p.expr()
		c.Values = append(c.Values, x)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// parseMatchCase reads one case of a match.
func (p *parser) parseMatchCase(lex *lexer.PeekingLexer) (matchCaseNode, error) {
	c := &ast.MatchCase{}
	err := p.caseClause(lex, &c.Loc, &c.Default, &c.Body, func() error {
		x, err := p.patternAt()
		c.Patterns = append(c.Patterns, x)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// caseClause reads `case a, b:` or `default:` and the statements behind it;
// value reads what a case lists.
func (p *parser) caseClause(lex *lexer.PeekingLexer, loc *ast.Loc, isDefault *bool, body *[]ast.Stmt, value func() error) error {
	p.enter(lex)
	start, open := p.cur, len(p.open)
	if k := p.kind(start); k == RBrace || k == EOF {
		return participle.NextMatch
	}
	*isDefault = p.kind(start) == Default
	if err := p.caseHead(*isDefault, value); err != nil {
		if err := p.recover(lex, start, open, err); err != nil {
			return err
		}
	}
	p.leave(lex)
	inCases := p.inCases
	p.inCases = true
	defer func() { p.inCases = inCases }()
	list, err := p.stmts(lex)
	if err != nil {
		return err
	}
	*body = list
	p.enter(lex)
	*loc = p.loc(start)
	return nil
}

func (p *parser) caseHead(isDefault bool, value func() error) error {
	if !isDefault {
		if p.kind(p.cur) != Case {
			d := p.suggest(p.expected(p.cur, "`case`, `default` or `}`"), p.cur, "case", "default")
			if d.Help == "" {
				d = d.WithHelp("an alternative is written `case %s: …`, and what is left `default: …`", p.text(p.cur))
			}
			return p.fail(p.cur, d)
		}
		for {
			p.cur++
			if !startsExpr(p.kind(p.cur)) {
				return p.fail(p.cur, p.expected(p.cur, "a value behind `case`"))
			}
			if err := value(); err != nil {
				return err
			}
			if p.kind(p.cur) != Comma {
				break
			}
		}
	} else {
		p.cur++
	}
	if p.kind(p.cur) != Colon && p.startsLine(p.cur) {
		before := p.at(p.cur - 1)
		p.note(p.cur, diag.New(diag.UnexpectedToken, before.AtEnd(), "expected `:` behind the case").
			WithFix("insert :", diag.InsertAfter(before, ":")))
		return nil
	}
	if p.kind(p.cur) != Colon {
		return p.fail(p.cur, p.instead(p.cur, p.expected(p.cur, "`:` behind the case")))
	}
	p.cur++
	return nil
}

// patternAt reads one pattern of a match.
func (p *parser) patternAt() (*ast.Pattern, error) {
	start, lex := p.cur, p.lex
	p.leave(lex)
	g, err := run(p, p.prods.pattern, lex)
	if err != nil {
		return nil, err
	}
	x := &ast.Pattern{Loc: p.loc(start), Value: *g.Name.(*ast.Name), HasBinds: g.Open}
	if g.Sub != nil {
		x.Enum, x.Value = g.Name.(*ast.Name), *g.Sub.(*ast.Name)
	}
	for _, b := range g.Bind {
		x.Binds = append(x.Binds, *b.(*ast.Name))
	}
	return x, nil
}
