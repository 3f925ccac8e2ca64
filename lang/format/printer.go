package format

import (
	"strings"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// printer writes the tokens of a file with canonical white space.
type printer struct {
	src   *ast.Source
	toks  []grammar.Token
	roles []role
	match []int          // for an open bracket the index of its partner
	next  []int          // for each token the index of the first from there on that is no comment
	ends  map[int32]bool // offsets where a package clause or import ends; true for an import
	out   strings.Builder
	lines []line // that have been written

	open       []bracket // that are open at the current token
	lineIndent int       // of the line that is being written
	last       int       // index of the last token that is no comment; -1 before the first

	broken bool // the grammar wants a line break before the next token
	empty  bool // … and an empty line
	fresh  bool // a comment has started a new line since the last token
}

// bracket is an open bracket.
type bracket struct {
	kind    grammar.Kind
	role    role
	content int  // indent of the lines within
	close   int  // indent of the closing bracket
	oneLine bool // braces that stay on one line
}

func newPrinter(src *ast.Source, file *ast.File, toks []grammar.Token) *printer {
	p := &printer{src: src, toks: toks, roles: roles(file, toks), match: partners(toks), next: nexts(toks), ends: map[int32]bool{}, last: -1, broken: true, lines: make([]line, 1, len(toks)/4+1)}
	p.ends[file.Package.Range.End] = false
	for _, d := range file.Imports {
		p.ends[d.Range.End] = true
	}
	return p
}

// partners pairs the brackets of a file without syntax errors.
func partners(toks []grammar.Token) []int {
	match := make([]int, len(toks))
	var open []int
	for i, t := range toks {
		switch t.Kind {
		case grammar.LBrace, grammar.LParen, grammar.LBrack, grammar.StrHead:
			open = append(open, i)
		case grammar.RBrace, grammar.RParen, grammar.RBrack, grammar.StrTail:
			match[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	return match
}

// nexts finds for each token, and for the end, the first token from there on that is no comment.
func nexts(toks []grammar.Token) []int {
	next := make([]int, len(toks)+1)
	next[len(toks)] = len(toks)
	for i := len(toks) - 1; i >= 0; i-- {
		next[i] = i
		if toks[i].Kind == grammar.Comment {
			next[i] = next[i+1]
		}
	}
	return next
}

// kind returns the kind of token i, EOF outside of the table.
func (p *printer) kind(i int) grammar.Kind {
	if i < 0 || i >= len(p.toks) {
		return grammar.EOF
	}
	return p.toks[i].Kind
}

// newlines counts the line breaks before token i in the original, up to two.
func (p *printer) newlines(i int) int {
	if i == 0 {
		return 0
	}
	return min(2, strings.Count(p.src.Text[p.toks[i-1].End:p.toks[i].Start], "\n"))
}

// top returns the innermost open bracket; its zero value is the file.
func (p *printer) top() bracket {
	if n := len(p.open); n > 0 {
		return p.open[n-1]
	}
	return bracket{}
}

// breakLine starts a new line, after an empty one if wanted.
func (p *printer) breakLine(indent int, emptyLine bool) {
	p.lineIndent, p.empty = indent, false
	if p.out.Len() == 0 {
		return
	}
	p.out.WriteByte('\n')
	if emptyLine {
		p.out.WriteByte('\n')
	}
	p.lines = append(p.lines, line{start: p.out.Len(), indent: indent})
	for range indent {
		p.out.WriteByte('\t')
	}
}

// mayLeaveEmptyLine reports whether an empty line before token i is kept:
// between statements and declarations, but not behind what opens a block.
func (p *printer) mayLeaveEmptyLine(i int) bool {
	if i == 0 || !p.broken || p.kind(i) == grammar.RBrace {
		return false
	}
	switch p.kind(i - 1) {
	case grammar.LBrace, grammar.Colon:
		return false
	}
	return true
}

// commentIndent is the indent of a comment on a line of its own: that of the
// token that follows, or, before a `}` or case, of the statements above it. A
// comment between two cases belongs to the one that it is aligned with.
func (p *printer) commentIndent(i int) int {
	next := p.next[i]
	if k := p.kind(next); (k == grammar.Case || k == grammar.Default) && p.column(i) > p.column(next) {
		return p.top().content
	}
	return p.indent(next, true)
}

// column is the number of characters before token i on its line.
func (p *printer) column(i int) int {
	start := strings.LastIndexByte(p.src.Text[:p.toks[i].Start], '\n') + 1
	return utf8.RuneCountInString(p.src.Text[start:p.toks[i].Start])
}

// indent is the indent of a line that starts with token i, or with a comment
// before it.
func (p *printer) indent(i int, isComment bool) int {
	top := p.top()
	switch k := p.kind(i); {
	case k == grammar.Case || k == grammar.Default, k == grammar.RBrace && !isComment:
		return top.close
	case (k == grammar.RParen || k == grammar.RBrack) && !isComment:
		return top.close
	case top.kind == grammar.LParen || top.kind == grammar.LBrack || top.role == listBrace:
		return top.content
	case p.broken || k == grammar.Else || k == grammar.Catch || k == grammar.EOF || k == grammar.RBrace:
		return top.content
	}
	return top.content + 1 // a statement goes on
}

// nest keeps the stack of open brackets.
func (p *printer) nest(i int) {
	switch k := p.kind(i); k {
	case grammar.LParen, grammar.LBrack:
		p.open = append(p.open, bracket{kind: k, role: p.roles[i], content: p.lineIndent + 1, close: p.lineIndent})
	case grammar.LBrace:
		block := p.top().content
		p.open = append(p.open, bracket{kind: k, role: p.roles[i], content: block + 1, close: block, oneLine: p.oneLine(i)})
	case grammar.RParen, grammar.RBrack, grammar.RBrace:
		p.open = p.open[:len(p.open)-1]
	}
}

// oneLine reports whether the braces that open at token i stay on one line:
// bodies and lists that the author wrote so, without blocks and comments
// within, and anything that is empty.
func (p *printer) oneLine(i int) bool {
	end := p.match[i]
	if end > i+1 && p.roles[i] != bodyBrace && p.roles[i] != listBrace {
		return false
	}
	for _, t := range p.toks[i+1 : end] {
		if t.Kind == grammar.LBrace || t.Kind == grammar.Comment {
			return false
		}
	}
	return !strings.Contains(p.src.Text[p.toks[i].End:p.toks[end].Start], "\n")
}

// after decides about a line break behind token i.
func (p *printer) after(i int) {
	top, next := p.top(), p.kind(p.next[i+1])
	p.broken = false
	switch p.kind(i) {
	case grammar.LBrace:
		p.broken = !top.oneLine
	case grammar.RBrace:
		p.broken = next != grammar.Else && next != grammar.Catch
		p.empty = len(p.open) == 0
	case grammar.Semi:
		p.broken = !top.oneLine && top.kind != grammar.LParen
		p.empty = len(p.open) == 0 && next != grammar.Const
	case grammar.Colon:
		p.broken = top.role == caseBrace
	case grammar.Comma:
		j := p.next[i+1]
		p.broken = top.role == listBrace && !top.oneLine && strings.Contains(p.src.Text[p.toks[i].End:p.toks[j].Start], "\n")
	default:
		if top.role == listBrace && !top.oneLine && next == grammar.RBrace {
			p.broken = true
		}
	}
	if isImport, ok := p.ends[p.toks[i].End]; ok && len(p.open) == 0 {
		p.broken, p.empty = true, !isImport || next != grammar.Import
	}
	if next == grammar.RBrace && top.kind == grammar.LBrace && !top.oneLine {
		p.broken = true
	}
}
