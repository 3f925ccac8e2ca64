package grammar

import "github.com/aeon-lang/aeon/lang/ast"

// doc returns the comments that stand directly above the declaration that
// starts at token i: each on lines of its own, with no empty line between.
func (p *parser) doc(i int) *ast.CommentGroup {
	at := int(p.sig[i])
	first, below := at, p.toks[at].Start
	for first > 0 && p.toks[first-1].Kind == Comment {
		c := p.toks[first-1]
		if p.newlines(c.End, below) != 1 {
			break
		}
		before := int32(0)
		if first > 1 {
			before = p.toks[first-2].End
		}
		if first > 1 && p.newlines(before, c.Start) == 0 {
			break // it trails the line above
		}
		first, below = first-1, c.Start
	}
	if first == at {
		return nil
	}
	g := &ast.CommentGroup{}
	for _, c := range p.toks[first:at] {
		span := ast.Span{Src: p.src, Start: c.Start, End: c.End}
		g.List = append(g.List, &ast.Comment{Loc: ast.At(span), Text: span.Text()})
		g.Range = g.Range.To(span)
	}
	return g
}

// newlines counts the newlines in a range of the text, up to two.
func (p *parser) newlines(from, to int32) int {
	n := 0
	for _, c := range []byte(p.src.Text[from:to]) {
		if c == '\n' {
			if n++; n == 2 {
				break
			}
		}
	}
	return n
}
