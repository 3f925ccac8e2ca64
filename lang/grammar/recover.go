package grammar

import (
	"errors"

	"github.com/alecthomas/participle/v2/lexer"
)

// errorsMax bounds what is kept of a file that is wrong from end to end.
const errorsMax = 10_000

// recover reports err, which was met while reading what starts at token start,
// and moves behind it: after its `;`, after the `}` that balances it, or before
// what cannot belong to it. A fatal error is passed on instead.
func (p *parser) recover(lex *lexer.PeekingLexer, start, open int, err error) error {
	var e *syntaxError
	if !errors.As(err, &e) {
		e = &syntaxError{diag: p.expected(p.cur, "something else"), index: p.cur}
	}
	p.report(e)
	if p.gaveUp != nil || len(p.diags) > errorsMax {
		err := p.giveUp(e)
		p.leave(lex)
		return err
	}
	p.open = p.open[:open]
	p.cur = p.resync(start, max(e.index, start))
	p.leave(lex)
	p.enter(lex) // a production may have been further already
	return nil
}

// resync returns where to go on after an error at token bad in what starts at
// token start. The result is behind start.
func (p *parser) resync(start, bad int) int {
	level, parens := 0, 0
	for i := start; i < p.end; i++ {
		k := p.kind(i)
		if i > bad && level == 0 && startsStmt[k] && p.startsLine(i) {
			return i
		}
		switch k {
		case LBrace:
			if end := int(p.match[i]); end > i && end < p.end && end <= bad {
				i = end // no need to look into what was read
				continue
			}
			level++
		case RBrace:
			if level == 0 {
				return max(i, start+1)
			}
			if level--; level == 0 && i >= bad && p.kind(i+1) != Else && p.kind(i+1) != Catch {
				switch k := p.kind(i + 1); {
				case parens > 0 && (k == RParen || k == Comma):
					continue // braces within an expression
				case k == Semi && !p.startsLine(i+1):
					i++ // it ends what was wrong
				}
				return i + 1
			}
		case LParen, LBrack, StrHead:
			parens++
		case RParen, RBrack, StrTail:
			parens = max(0, parens-1)
		case Semi:
			if level == 0 && i >= bad && (parens == 0 || p.kind(i+1) == RBrace || p.startsLine(i+1)) {
				return i + 1
			}
		}
	}
	return p.end
}

// startsStmt holds the words that start a statement or member and nothing else.
var startsStmt = [contextualLast]bool{
	If: true, While: true, For: true, Switch: true, Return: true, Break: true, Continue: true, Require: true, Abort: true,
	Assert: true, Delete: true, Cancel: true, Try: true, Settle: true, Sleep: true, Advance: true, Var: true, Case: true,
	Default: true, Void: true, Ro: true, Yield: true,
}
