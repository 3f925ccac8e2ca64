package format

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/grammar"
)

func (p *printer) print() string {
	for i := 0; i < len(p.toks); i++ {
		if p.kind(i) == grammar.Comment {
			p.comment(i)
			continue
		}
		p.separate(i)
		l := &p.lines[len(p.lines)-1]
		if l.first == grammar.EOF {
			l.first = p.kind(i)
		}
		l.comment = 0 // what stood before this token trails nothing
		p.out.WriteString(p.toks[i].Text(p.src))
		p.nest(i)
		p.last, p.fresh = i, false
		p.after(i)
	}
	return p.aligned()
}

// comment writes a comment: behind what precedes it if it was on that line,
// else on a line of its own.
func (p *printer) comment(i int) {
	text := canonical(p.src, p.toks[i])
	switch newlines := p.newlines(i); {
	case newlines > 0:
		p.breakLine(p.commentIndent(i), p.mayLeaveEmptyLine(i) && (newlines == 2 || p.empty))
		p.fresh = true
	case i == 0, strings.HasPrefix(text, "/*") && opens(p.kind(i-1)):
	default:
		if l := &p.lines[len(p.lines)-1]; l.comment == 0 && l.first != grammar.EOF {
			l.comment = p.out.Len()
		}
		p.out.WriteByte(' ')
	}
	p.out.WriteString(text)
}

// separate writes the white space before token i.
func (p *printer) separate(i int) {
	newlines, behindComment := p.newlines(i), p.kind(i-1) == grammar.Comment
	switch {
	case p.broken && !p.fresh,
		p.broken && p.kind(i) == grammar.RBrace,
		behindComment && (newlines > 0 || strings.HasPrefix(p.src.Text[p.toks[i-1].Start:], "//")),
		newlines > 0 && p.keepsBreak(i):
		p.breakLine(p.indent(i, false), p.mayLeaveEmptyLine(i) && (newlines == 2 || p.empty))
	case behindComment:
		if k := p.kind(i); !ends(k) && k != grammar.Comma && k != grammar.Semi {
			p.out.WriteByte(' ')
		}
	case p.spaced(i):
		p.out.WriteByte(' ')
	}
}

// keepsBreak reports whether a line that the author broke before token i,
// within a statement, stays so.
func (p *printer) keepsBreak(i int) bool {
	prev, k := p.kind(p.last), p.kind(i)
	if prev == grammar.LParen && k == grammar.RParen || prev == grammar.LBrack && k == grammar.RBrack {
		return false
	}
	switch prev {
	case grammar.LParen, grammar.LBrack, grammar.Comma:
		return true
	}
	switch k {
	case grammar.RParen, grammar.RBrack, grammar.Dot, grammar.QuestDot:
		return true
	}
	return p.infix(p.last) || p.infix(i) && !p.joins(i) || p.roles[i] == clause || p.roles[i] == tableClause
}

// canonical returns the text that is printed for a token. Only comments
// change: white space at the end of their lines is dropped.
func canonical(src *ast.Source, t grammar.Token) string {
	text := t.Text(src)
	if t.Kind != grammar.Comment {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r")
	}
	return strings.Join(lines, "\n")
}
