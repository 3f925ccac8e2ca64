package grammar

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// literal reads a number, character, duration or string. What is wrong within
// a literal has been reported by the scanner, which marks the token Bad.
func (p *parser) literal() (ast.Expr, error) {
	start := p.cur
	if p.kind(start) == StrHead {
		return p.interpolated()
	}
	p.cur++
	text, loc, bad := p.text(start), p.loc(start), p.tok(start).Bad
	switch p.kind(start) {
	case Int:
		v, _ := parseInt(text)
		return &ast.IntLit{Loc: loc, Text: text, Value: v}, nil
	case Char:
		return &ast.IntLit{Loc: loc, Text: text, Value: charValue(text, bad)}, nil
	case Float:
		v, _ := parseFloat(text)
		return &ast.FloatLit{Loc: loc, Text: text, Value: v}, nil
	case Duration:
		v, _ := time.ParseDuration(text)
		return &ast.DurationLit{Loc: loc, Text: text, Value: v}, nil
	case RawString:
		return &ast.StringLit{Loc: loc, Raw: true, Value: inner(text, bad)}, nil
	default:
		return &ast.StringLit{Loc: loc, Value: unescapeAll(inner(text, bad))}, nil
	}
}

// inner strips the delimiters of a string or a part of one: one byte at either end.
func inner(text string, bad bool) string {
	if bad { // the end may be missing
		return ""
	}
	return text[1 : len(text)-1]
}

func charValue(text string, bad bool) uint64 {
	if bad {
		return 0
	}
	text = text[1 : len(text)-1]
	if text[0] != '\\' {
		r, _ := utf8.DecodeRuneInString(text)
		return uint64(r)
	}
	r, _, _, err := strconv.UnquoteChar(text, '\'')
	if err != nil {
		return 0
	}
	return uint64(r)
}

// interpolated reads "a{x}b{y}c".
func (p *parser) interpolated() (ast.Expr, error) {
	start := p.cur
	lit := &ast.InterpolatedString{}
	height := 0
	for {
		i := p.cur
		if text := unescapeAll(inner(p.text(i), p.tok(i).Bad)); text != "" {
			lit.Parts = append(lit.Parts, &ast.StringLit{Loc: ast.At(p.at(i)), Value: text})
		}
		p.cur++
		if p.kind(i) == StrTail {
			break
		}
		if k := p.kind(p.cur); k == StrMid || k == StrTail {
			hole := p.span(i, p.cur+1)
			p.note(p.cur, diag.New(diag.EmptyInterpolation, hole, "nothing stands between the braces of the interpolation").
				WithHelp(`write {expression}, or \{ for a brace that is text`))
			continue
		}
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		lit.Parts, height = append(lit.Parts, x), max(height, p.height)
		if k := p.kind(p.cur); k != StrMid && k != StrTail {
			return nil, p.fail(p.cur, p.expected(p.cur, "`}` and the rest of the string"))
		}
	}
	p.height = height
	lit.Loc = p.loc(start)
	return lit, p.grow(height, start)
}
