package grammar

import (
	"errors"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// compound reads a statement that starts with a keyword and has blocks, or `var`.
func (p *parser) compound(lex *lexer.PeekingLexer) (ast.Stmt, error) {
	start := p.cur
	switch p.kind(start) {
	case Var:
		g, err := run(p, p.prods.varDecl, lex)
		if err != nil {
			return nil, err
		}
		p.nameLocal(*g.Name.(*ast.Name))
		return &ast.VarDecl{Loc: p.loc(start), Name: *g.Name.(*ast.Name), Init: g.Init}, nil
	case If:
		g, err := run(p, p.prods.ifStmt, lex)
		if err != nil {
			return nil, err
		}
		head := g.Head.(*ifHead)
		s := &ast.If{Loc: p.loc(start), Decl: head.decl, Cond: head.cond, Then: g.Then.(*ast.Block)}
		if g.Else != nil {
			s.Else = g.Else
		}
		return s, nil
	case While:
		g, err := run(p, p.prods.while, lex)
		if err != nil {
			return nil, err
		}
		return &ast.While{Loc: p.loc(start), Cond: g.Cond, Body: g.Body.(*ast.Block)}, nil
	case For:
		g, err := run(p, p.prods.forStmt, lex)
		if err != nil {
			return nil, err
		}
		return p.loop(start, g), nil
	case Switch:
		return p.switchStmt(lex)
	case Match:
		return p.matchStmt(lex)
	default: // Try
		g, err := run(p, p.prods.try, lex)
		if err != nil {
			return nil, err
		}
		catch := &ast.CatchClause{Type: g.Type, Name: *g.Name.(*ast.Name), Body: g.Catch.(*ast.Block)}
		catch.Range = g.Type.Span().To(catch.Body.Span())
		return &ast.TryCatch{Loc: p.loc(start), Body: g.Body.(*ast.Block), Catch: catch}, nil
	}
}

// loop completes the loop that the head of a for has begun.
func (p *parser) loop(start int, g *forProd) ast.Stmt {
	body, loc := g.Body.(*ast.Block), p.loc(start)
	switch s := g.Head.(type) {
	case *ast.For:
		s.Loc, s.Body = loc, body
	case *ast.ForUpto:
		s.Loc, s.Body = loc, body
	case *ast.ForEach:
		s.Loc, s.Body = loc, body
	}
	return g.Head
}

// inParens reads `(…)` with f. An error in it is reported and skipped up to
// the `)` or the block, so that the block is read all the same.
func (p *parser) inParens(lex *lexer.PeekingLexer, f func() error) error {
	open := p.cur
	if p.kind(open) != LParen {
		return p.bareHead(lex, f)
	}
	p.cur++
	err := f()
	if err == nil {
		err = p.expectClosing(open, RParen)
	}
	if err == nil {
		p.leave(lex)
		return nil
	}
	p.leave(lex)
	var e *syntaxError
	if end := p.headEnd(open); end > 0 && errors.As(err, &e) && p.gaveUp == nil && e.index <= end {
		p.report(e)
		p.cur = end
		p.leave(lex)
		return nil
	}
	return err
}

// bareHead reads with f what should stand in parentheses and does not, as Go
// has it. What cannot be read is skipped up to the block.
func (p *parser) bareHead(lex *lexer.PeekingLexer, f func() error) error {
	start := p.cur
	what := "`(`"
	if p.kind(start) == LBrace {
		what = "`(` and a condition"
	}
	d := p.expected(start, what)
	if p.kind(start) != LBrace && f() == nil && p.kind(p.cur) == LBrace {
		p.note(start, d.WithFix("add parentheses", diag.InsertBefore(p.at(start), "("), diag.InsertAfter(p.at(p.cur-1), ")")))
		p.leave(lex)
		return nil
	}
	if p.gaveUp != nil {
		return p.gaveUp
	}
	i := start
	for p.kind(i) != LBrace && p.kind(i) != RBrace && p.kind(i) != EOF && !p.startsLine(i+1) {
		i++
	}
	if p.kind(start-1) == For {
		d = d.WithHelp("the loops are `for (T x : xs)`, `for (int i = 0 upto n)` and `for (int i = 0; i < n; i++)`")
	}
	if p.kind(i) != LBrace {
		return p.fail(start, d)
	}
	p.note(start, d)
	p.cur = max(i, p.base+lex.Cursor())
	p.leave(lex)
	return nil
}

// headEnd returns the index behind the `)` that belongs to the `(` at token
// open, or of the `{` before which it should stand, or 0.
func (p *parser) headEnd(open int) int {
	level, semis := 0, 0
	for i := open; i < p.end; i++ {
		switch p.kind(i) {
		case LParen, LBrack, StrHead:
			level++
		case RParen, RBrack, StrTail:
			if level--; level == 0 {
				if p.kind(i+1) == LBrace {
					return i + 1
				}
				return 0
			}
		case LBrace:
			return i
		case RBrace:
			return 0
		case Semi:
			if semis++; semis > 2 || p.startsLine(i+1) {
				return 0
			}
		}
	}
	return 0
}

// parseCond reads an expression in which a single `=` is a slip.
func (p *parser) parseCond(lex *lexer.PeekingLexer) (condNode, error) {
	p.enter(lex)
	if !startsExpr(p.kind(p.cur)) {
		return nil, participle.NextMatch
	}
	x, err := p.cond()
	p.leave(lex)
	return x, err
}

func (p *parser) cond() (ast.Expr, error) {
	if !startsExpr(p.kind(p.cur)) {
		return nil, p.fail(p.cur, p.expected(p.cur, "an expression"))
	}
	start := p.cur
	x, err := p.expr()
	if err != nil || p.kind(p.cur) != Assign {
		return x, err
	}
	at := p.cur
	p.note(at, diag.New(diag.AssignInCondition, p.at(at), "an assignment is no condition").
		WithHelp("to compare, write ==").WithFix("write ==", diag.Replace(p.at(at), "==")))
	p.cur++
	y, err := p.expr()
	if err != nil {
		return nil, err
	}
	return &ast.Binary{Loc: p.loc(start), Op: ast.OpEq, OpPos: p.at(at), X: x, Y: y}, nil
}

// parseHead reads `(cond)`.
func (p *parser) parseHead(lex *lexer.PeekingLexer) (headNode, error) {
	p.enter(lex)
	start := p.cur
	var x ast.Expr
	err := p.inParens(lex, func() (err error) {
		x, err = p.cond()
		return err
	})
	if err != nil {
		return nil, err
	}
	if x == nil {
		x = &ast.BadExpr{Loc: p.loc(start)}
	}
	return x, nil
}

// parseIfHead reads `(cond)` or `(T v = e)`.
func (p *parser) parseIfHead(lex *lexer.PeekingLexer) (ifHeadNode, error) {
	p.enter(lex)
	start := p.cur
	h := &ifHead{}
	err := p.inParens(lex, func() (err error) {
		if name, ok := p.declaresVar(p.cur); ok && !p.mayCompare(name) {
			h.decl, err = p.headDecl()
			return err
		}
		h.cond, err = p.cond()
		return err
	})
	if err != nil {
		return nil, err
	}
	h.Loc = p.loc(start)
	if h.decl == nil && h.cond == nil {
		h.cond = &ast.BadExpr{Loc: h.Loc}
	}
	return h, nil
}

// mayCompare reports whether what reads as `T name` before a condition's end
// may be an expression: `a ?? b` or `a<b>c`. Behind a declared name stands `=`.
func (p *parser) mayCompare(name int) bool {
	before := p.kind(name - 1)
	return (before == QuestQuest || before == Greater) && p.kind(name+1) != Assign
}

// headDecl reads `T v = e` or `var v = e`.
func (p *parser) headDecl() (*ast.VarDecl, error) {
	start := p.cur
	v, err := p.loopVar()
	if err != nil {
		return nil, err
	}
	if p.kind(p.cur) != Assign {
		at := p.cur
		switch p.text(at - 1) {
		case "in", "is", "instanceof", "and", "or": // an operator, read as the name of a variable
			at--
		}
		if p.text(at-1) == "not" {
			at = p.cur - 1
		}
		return nil, p.fail(p.cur, p.instead(at, p.expected(p.cur, "`=`")))
	}
	p.cur++
	if v.Init, err = p.expr(); err != nil {
		return nil, err
	}
	v.Loc = p.loc(start)
	return v, nil
}

// loopVar reads `T v` or `var v`; that it stands here is known.
func (p *parser) loopVar() (*ast.VarDecl, error) {
	start := p.cur
	v := &ast.VarDecl{}
	if p.kind(start) == Var {
		p.cur++
	} else {
		t, err := p.typ()
		if err != nil {
			return nil, err
		}
		v.Type = t
	}
	if p.kind(p.cur).IsKeyword() {
		p.note(p.cur, p.reserved(p.cur))
	}
	v.Name = p.name(p.cur)
	p.nameLocal(v.Name)
	p.cur++
	v.Loc = p.loc(start)
	return v, nil
}

// elseWords are how other languages join else and if.
var elseWords = map[string]bool{"elseif": true, "elif": true, "elsif": true, "elsef": true}

// parseElse reads `else` and what follows.
func (p *parser) parseElse(lex *lexer.PeekingLexer) (elseNode, error) {
	p.enter(lex)
	start := p.cur
	if k := p.kind(start); k != Else {
		if k != Ident || !elseWords[p.text(start)] || p.kind(start+1) != LParen {
			return nil, participle.NextMatch
		}
		return p.joinedElse(lex, start)
	}
	p.cur++
	p.leave(lex)
	if p.kind(p.cur) == If {
		return p.elseIf(lex)
	}
	if p.kind(p.cur) != LBrace {
		p.stmtStart = start
	}
	b, err := p.parseBranch(lex)
	if err == participle.NextMatch {
		return nil, p.fail(p.cur, p.expected(p.cur, "`{` or `if` behind `else`"))
	}
	return b, err
}

func (p *parser) elseIf(lex *lexer.PeekingLexer) (elseNode, error) {
	if err := p.push(); err != nil {
		return nil, err
	}
	defer p.pop()
	s, err := p.compound(lex)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// joinedElse reads `elseif (…) {…}`, which is reported.
func (p *parser) joinedElse(lex *lexer.PeekingLexer, start int) (elseNode, error) {
	p.note(start, diag.New(diag.ElseIfSpelling, p.at(start), "`%s` is written `else if`", p.text(start)).
		WithFix("write else if", diag.Replace(p.at(start), "else if")))
	// The production of if starts with the keyword, which is not here: read its
	// parts in the same order.
	if err := p.push(); err != nil {
		return nil, err
	}
	defer p.pop()
	p.cur++
	p.leave(lex)
	head, err := p.parseIfHead(lex)
	if err != nil {
		return nil, err
	}
	p.enter(lex)
	then, err := p.parseBranch(lex)
	if err == participle.NextMatch {
		return nil, p.fail(p.cur, p.expected(p.cur, "`{`"))
	}
	if err != nil {
		return nil, err
	}
	h := head.(*ifHead)
	s := &ast.If{Decl: h.decl, Cond: h.cond, Then: then.(*ast.Block)}
	switch next, err := p.parseElse(lex); {
	case err == nil:
		s.Else = next
	case err != participle.NextMatch:
		return nil, err
	}
	p.enter(lex)
	s.Loc = p.loc(start)
	return s, nil
}
