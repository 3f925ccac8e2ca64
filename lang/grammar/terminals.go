package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// parseName reads a declared name. A reserved word in its place is reported
// and taken for the name if what follows fits.
func (p *parser) parseName(lex *lexer.PeekingLexer) (nameNode, error) {
	p.enter(lex)
	i := p.cur
	switch k := p.kind(i); {
	case k.IsName():
	case k.IsKeyword() && p.endsName(i+1):
		p.note(i, p.reserved(i))
	case k.IsKeyword():
		return nil, p.fail(i, p.expected(i, "a name"))
	default:
		return nil, participle.NextMatch
	}
	p.cur++
	p.leave(lex)
	name := p.name(i)
	return &name, nil
}

// endsName reports whether token i may follow a declared name.
func (p *parser) endsName(i int) bool {
	switch p.kind(i) {
	case Assign, Semi, Comma, LParen, RParen, LBrace, Colon, Greater:
		return true
	}
	return false
}

// reserved is the error that a keyword is used as a name.
func (p *parser) reserved(i int) diag.Diagnostic {
	word := p.text(i)
	return diag.New(diag.ReservedWord, p.at(i), "`%s` is a keyword and cannot be a name", word).
		WithFix("rename it", diag.Replace(p.at(i), word+"_"))
}

// nameLocal reports a local or parameter whose name would be read as null. Where the
// declaration goes on to use the name, that has been said.
func (p *parser) nameLocal(name ast.Name) {
	if !nullWords[name.Text] {
		return
	}
	if p.nullNames == nil {
		p.nullNames = make(map[string]bool)
	}
	p.nullNames[name.Text] = true
	p.diags = append(p.diags, diag.New(diag.ReservedWord, name.Span(), "`%s` cannot be a name: it would be taken for null", name.Text).
		WithFix("rename it", diag.Replace(name.Span(), name.Text+"_")))
}

// parsePlainString reads a string that may not be interpolated.
func (p *parser) parsePlainString(lex *lexer.PeekingLexer) (plainString, error) {
	p.enter(lex)
	switch i := p.cur; p.kind(i) {
	case String, RawString:
		x, err := p.literal()
		p.leave(lex)
		return x, err
	case StrHead:
		return nil, p.fail(i, diag.New(diag.UnexpectedToken, p.at(i), "expected a plain string here, found an interpolated one").
			WithHelp(`write \{ for a brace that is text`))
	}
	return nil, participle.NextMatch
}

// parseSemi reads the `;` that ends a statement or member. If it is missing at
// the end of a line it is reported and parsing goes on as if it were there.
func (p *parser) parseSemi(lex *lexer.PeekingLexer) (semiNode, error) {
	p.enter(lex)
	m, err := p.semi()
	p.leave(lex)
	return m, err
}

func (p *parser) semi() (*marker, error) {
	i := p.cur
	if p.kind(i) == Semi {
		p.cur++
		return &marker{p.loc(i)}, nil
	}
	if i > p.base && (p.kind(i) == RBrace || p.kind(i) == EOF || p.startsLine(i)) {
		before := p.at(i - 1)
		if !p.tok(i - 1).Bad {
			p.note(i, diag.New(diag.MissingSemicolon, before.AtEnd(), "missing `;`").
				WithFix("insert ;", diag.InsertAfter(before, ";")))
		}
		return &marker{ast.At(before.AtEnd())}, nil
	}
	return nil, p.fail(i, p.instead(i, p.expected(i, "`;`")))
}

// parseOpen reads a `{` and remembers it for the `}` that closes it.
func (p *parser) parseOpen(lex *lexer.PeekingLexer) (openNode, error) {
	start := p.base + lex.Cursor()
	if err := p.openBrace(lex); err != nil {
		return nil, err
	}
	return &marker{p.loc(start)}, nil
}

func (p *parser) openBrace(lex *lexer.PeekingLexer) error {
	p.enter(lex)
	i := p.cur
	if p.kind(i) != LBrace {
		return p.fail(i, p.expected(i, "`{`"))
	}
	p.open = append(p.open, i)
	p.cur++
	p.leave(lex)
	return nil
}

// parseClose reads the `}` of the innermost `{`. Where it was found missing it
// is reported and parsing goes on as if it were there.
func (p *parser) parseClose(lex *lexer.PeekingLexer) (closeNode, error) {
	open := p.open[len(p.open)-1]
	p.closeBrace(lex)
	return &marker{p.loc(open)}, nil
}

func (p *parser) closeBrace(lex *lexer.PeekingLexer) {
	p.enter(lex)
	open := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	if i := p.cur; p.kind(i) == RBrace && !p.bare[open] {
		p.cur++
	} else {
		p.note(open, notClosed(p.at(open), p.at(i), p.at(max(i-1, open))))
	}
	p.leave(lex)
}

// notClosed is the error that a `{` has no `}`, which may stand behind last.
func notClosed(open, next, last ast.Span) diag.Diagnostic {
	return diag.New(diag.UnclosedBracket, open, "`{` is not closed").
		With(next, "expected its `}` before this").
		WithFix("close it", diag.InsertAfter(last, "\n}"))
}
