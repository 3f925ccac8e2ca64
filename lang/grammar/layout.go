package grammar

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// One brace that is missing would shift the meaning of all that follows: members would be statements, and declarations
// members. The count of braces does not tell where it belongs, but the layout does, where a file is laid out as
// `aeonc fmt` does it. So the brace is reported once, and the file is read as if it were there.

// mending puts the braces in that are missing.
type mending struct {
	*table
	line  int // indentation of the line
	open  []opened
	added []added
	diags []diag.Diagnostic
}

// mendedMax bounds what is put in: a file that misses more is no program with a mistake.
const mendedMax = 10

// opened is a `{` with the indentation of its line.
type opened struct{ index, indent int } // index -1: it was added

// added is a brace that stands before token before.
type added struct {
	kind   Kind
	before int
}

// mendBraces returns the tokens of a file with the braces that are missing, and says which these are. It returns none if
// nothing is missing, or if the layout does not tell as many as the count.
func mendBraces(t *table) ([]Token, []diag.Diagnostic) {
	missing, open := 0, 0
	for _, at := range t.sig {
		switch t.toks[at].Kind {
		case LBrace:
			open++
		case RBrace:
			if open == 0 {
				missing++
			} else {
				open--
			}
		}
	}
	if missing += open; missing == 0 || missing > mendedMax {
		return nil, nil
	}
	m := &mending{table: t}
	for i := range t.sig {
		m.token(i)
	}
	for len(m.open) > 0 {
		m.close(len(t.sig))
	}
	if len(m.added) != missing {
		return nil, nil
	}
	return m.tokens(), m.diags
}

func (m *mending) kind(i int) Kind { return m.toks[m.sig[i]].Kind }

// first reports whether token i is the first on its line.
func (m *mending) first(i int) bool {
	if i == 0 {
		return true
	}
	before, _ := m.src.LineCol(int(m.toks[m.sig[i-1]].End))
	line, _ := m.src.LineCol(int(m.toks[m.sig[i]].Start))
	return before != line
}

func (m *mending) token(i int) {
	k := m.kind(i)
	if m.first(i) {
		m.line = m.indent(i)
		m.dedent(i, k)
	}
	switch k {
	case LBrace:
		m.open = append(m.open, opened{i, m.line})
	case RBrace:
		if !m.first(i) && (len(m.open) == 0 || m.open[len(m.open)-1].index >= 0 && m.between(m.open[len(m.open)-1].index, i)) {
			m.beginInLine(i)
		}
		if len(m.open) > 0 {
			m.open = m.open[:len(m.open)-1]
		}
	}
}

// between reports whether a line ends between two tokens.
func (m *mending) between(i, j int) bool {
	a, _ := m.src.LineCol(int(m.toks[m.sig[i]].Start))
	b, _ := m.src.LineCol(int(m.toks[m.sig[j]].Start))
	return a != b
}

// beginInLine adds the `{` of the `}` at token i, before which all stands on its line: behind what is declared there.
func (m *mending) beginInLine(i int) {
	head := i
	for !m.first(head) {
		head--
	}
	for at := head + 1; at < i; at++ {
		if k := m.kind(at - 1); k == Enum || k == Class || k == Actorclass {
			if at++; m.kind(at) == Less { // type parameters
				for at < i && m.kind(at-1) != Greater {
					at++
				}
			}
			m.put(at, i, "here", m.line)
			return
		}
	}
	for at, parens := head, 0; at < i; at++ {
		switch m.kind(at) {
		case LParen:
			parens++
		case RParen:
			if parens--; parens == 0 {
				m.put(at+1, i, "here", m.line)
				return
			}
		}
	}
}

// dedent looks at the token that a line begins with: what is not further right than the line of a `{` stands behind its `}`.
func (m *mending) dedent(i int, k Kind) {
	indent := m.line
	if (k == Else || k == Catch) && len(m.open) > 0 {
		m.line = m.open[len(m.open)-1].indent // where the `}` would stand
		m.close(i)
		return
	}
	for len(m.open) > 0 {
		top := m.open[len(m.open)-1]
		if indent > top.indent || indent == top.indent && (k == RBrace || k == Case || k == Default || k == LBrace) {
			break
		}
		m.close(i)
	}
	if k == RBrace && (len(m.open) == 0 || indent > m.open[len(m.open)-1].indent) {
		m.begin(i, indent)
	}
}

// close adds the `}` of the innermost `{` before token i.
func (m *mending) close(i int) {
	top := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	m.added = append(m.added, added{RBrace, i})
	if top.index >= 0 {
		end := m.toks[m.sig[max(i-1, top.index)]].End
		before := ast.Span{Src: m.src, Start: end, End: end}
		if i < len(m.sig) {
			before = m.spanOf(i)
		}
		m.diags = append(m.diags, notClosed(m.spanOf(top.index), before, ast.Span{Src: m.src, Start: end, End: end}))
	}
}

// begin adds the `{` of the `}` at token i behind the head of what it ends: the line before it that begins as far to the right.
func (m *mending) begin(i, indent int) {
	for head := i - 1; head >= 0; head-- {
		if !m.first(head) || m.indent(head) != indent || m.kind(head) == Case || m.kind(head) == Default {
			continue
		}
		if m.kind(head) == RBrace && m.kind(head+1) != Else && m.kind(head+1) != Catch {
			return // this `}` ends nothing
		}
		at, parens := head, 0
		for ; at < i; at++ {
			if at > head && parens == 0 && m.first(at) {
				break
			}
			switch m.kind(at) {
			case LParen:
				parens++
			case RParen:
				parens--
			}
		}
		m.put(at, i, "at the end of this line", indent)
		return
	}
}

// put adds a `{` before token at, for the `}` at token i.
func (m *mending) put(at, i int, place string, indent int) {
	m.added = append(m.added, added{LBrace, at})
	m.open = append(m.open, opened{-1, indent})
	end := m.toks[m.sig[at-1]].End
	where := ast.Span{Src: m.src, Start: end, End: end}
	m.diags = append(m.diags, diag.New(diag.UnexpectedToken, where, "expected `{` %s", place).
		WithFix("insert {", diag.InsertAfter(where, " {")).With(m.spanOf(i), "for this `}`"))
}

func (m *mending) spanOf(i int) ast.Span {
	t := m.toks[m.sig[i]]
	return ast.Span{Src: m.src, Start: t.Start, End: t.End}
}

// tokens returns those of the file with the braces that were added, which have no text. They stand behind the token before.
func (m *mending) tokens() []Token {
	list := make([]Token, 0, len(m.toks)+len(m.added))
	from := 0
	slices.SortStableFunc(m.added, func(a, b added) int { return a.before - b.before })
	for _, a := range m.added {
		behind := 0
		end := int32(0)
		if a.before > 0 {
			behind = int(m.sig[a.before-1]) + 1
			end = m.toks[behind-1].End
		}
		list = append(list, m.toks[from:behind]...)
		list = append(list, Token{Kind: a.kind, Start: end, End: end})
		from = behind
	}
	return append(list, m.toks[from:]...)
}
