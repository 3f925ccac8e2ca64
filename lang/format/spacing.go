package format

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/grammar"
)

// spaced reports whether a space stands between the last token and token i
// when they are on one line and no comment stands between.
func (p *printer) spaced(i int) bool {
	if p.last < 0 {
		return false
	}
	prev, k := p.kind(p.last), p.kind(i)
	prevRole, role := p.roles[p.last], p.roles[i]
	switch {
	case prev == grammar.LBrace && k == grammar.RBrace:
		return false
	case prev == grammar.LBrace || k == grammar.RBrace || k == grammar.LBrace:
		return true
	case opens(prev), prev == grammar.Dot, prev == grammar.QuestDot, prevRole == prefix:
		return prevRole == prefix && role == prefix && p.kind(p.last) == k && (k == grammar.Minus || k == grammar.Plus)
	}
	switch k {
	case grammar.RParen, grammar.RBrack, grammar.StrMid, grammar.StrTail, grammar.Comma, grammar.Semi, grammar.QuestDot,
		grammar.Quest, grammar.PlusPlus, grammar.MinusMinus:
		return false
	case grammar.Dot:
		return p.takesDot(p.last, i)
	case grammar.Not:
		return role == prefix
	case grammar.LParen:
		return !p.called(p.last)
	case grammar.LBrack:
		return role == literalTop
	case grammar.Colon:
		return p.top().kind == grammar.LParen
	}
	switch {
	case role == typeAngle, prevRole == typeAngle && prev == grammar.Less:
		return false
	case prev == grammar.Colon:
		return p.top().kind != grammar.LBrack || p.top().role == literalTop
	}
	return !p.joins(i)
}

// takesDot reports whether the dot i would become a part of token n before it, a number: any of a hexadecimal one, and of
// others one that no letter follows, but a comment.
func (p *printer) takesDot(n, i int) bool {
	switch p.kind(n) {
	case grammar.Int, grammar.Float, grammar.Duration:
		return strings.HasPrefix(strings.ToLower(p.toks[n].Text(p.src)), "0x") || p.kind(i+1) == grammar.Comment
	}
	return false
}

// opens reports whether a token of kind k is an opening bracket that no space
// stands behind, the braces of an interpolation among them.
func opens(k grammar.Kind) bool {
	return k == grammar.LParen || k == grammar.LBrack || k == grammar.StrHead || k == grammar.StrMid
}

// ends reports whether a token of kind k closes what opens is true of.
func ends(k grammar.Kind) bool {
	return k == grammar.RParen || k == grammar.RBrack || k == grammar.StrMid || k == grammar.StrTail
}

// called reports whether a `(` behind token i holds arguments or parameters,
// in contrast to the condition of a statement or an operand in parentheses.
func (p *printer) called(i int) bool {
	k := p.kind(i)
	switch k {
	case grammar.RParen, grammar.RBrack, grammar.Quest, grammar.Require, grammar.Assert, grammar.Sleep, grammar.Advance, grammar.Settle:
		return true
	case grammar.Not:
		return p.roles[i] != prefix
	case grammar.Greater:
		return p.roles[i] == typeAngle
	}
	return k.IsName() && p.roles[i] != clause
}

// joins reports whether token i continues the operator `>>` or `>>=` that the
// last token begins.
func (p *printer) joins(i int) bool {
	k := p.kind(i)
	return p.kind(p.last) == grammar.Greater && p.roles[p.last] == plain && (k == grammar.Greater || k == grammar.GreaterEq) &&
		p.toks[p.last].End == p.toks[i].Start
}

// infix reports whether token i is a binary operator or an assignment.
func (p *printer) infix(i int) bool {
	if i < 0 || p.roles[i] == prefix || p.roles[i] == typeAngle {
		return false
	}
	switch k := p.kind(i); k {
	case grammar.Plus, grammar.Minus, grammar.Star, grammar.Slash, grammar.Percent, grammar.Amp, grammar.Pipe, grammar.Caret,
		grammar.AndNot, grammar.Shl, grammar.EqEq, grammar.NotEq, grammar.Less, grammar.LessEq, grammar.Greater, grammar.GreaterEq,
		grammar.AndAnd, grammar.OrOr, grammar.QuestQuest:
		return true
	case grammar.Assign:
		return true
	default:
		return k >= grammar.PlusEq && k <= grammar.ShlEq
	}
}
