package grammar

// braces holds the `{` (by index in sig) whose `}` is missing.
type braces map[int]bool

// matchBraces pairs the braces of the whole file: for a `{` with a partner the
// index of its `}`, else 0.
func (t *table) matchBraces() []int32 {
	match := make([]int32, len(t.sig))
	var open []int32
	for i, at := range t.sig {
		switch t.toks[at].Kind {
		case LBrace:
			open = append(open, int32(i))
		case RBrace:
			if n := len(open); n > 0 {
				match[open[n-1]] = int32(i)
				open = open[:n-1]
			}
		}
	}
	return match
}

// indent returns the number of bytes of white space that the line of token i
// starts with, at most 1000: it is asked for every brace.
func (t *table) indent(i int) int {
	off := int(t.toks[t.sig[i]].Start)
	line, _ := t.src.LineCol(off)
	start := t.src.LineStart(line)
	n := start
	for n < min(off, start+1000) && (t.src.Text[n] == ' ' || t.src.Text[n] == '\t') {
		n++
	}
	return n - start
}

// missingBraces finds the braces that lack their partner in a declaration that
// starts at token from and whose outer `{` is not closed. Which one it is the
// count cannot tell, but the layout can: a `}` that starts a line further left
// than the line of the innermost `{` belongs to one further out. The
// declaration ends where the outer brace is closed, or before the next one.
func (p *parser) missingBraces(from int) (bare braces, end int) {
	type opening struct{ index, indent int }
	var open []opening
	bare = make(braces)
	pop := func() { open = open[:len(open)-1] }
	for i := from; i < len(p.sig); i++ {
		k := p.toks[p.sig[i]].Kind
		starts := p.startsLine(i)
		if len(open) > 0 && starts && i > from && p.startsDecl(i) && p.indent(i) <= open[0].indent {
			end = i
			break
		}
		switch k {
		case LBrace:
			open = append(open, opening{i, p.indent(i)})
		case RBrace:
			for starts && len(open) > 0 && p.indent(i) < open[len(open)-1].indent {
				bare[open[len(open)-1].index] = true
				pop()
			}
			if len(open) > 0 {
				pop()
			}
			if len(open) == 0 {
				return bare, i + 1
			}
		}
		end = i + 1
	}
	for _, o := range open {
		bare[o.index] = true
	}
	return bare, end
}

// startsDecl reports whether token i can only be the start of a declaration.
func (t *table) startsDecl(i int) bool {
	kind := func(i int) Kind {
		if i < 0 || i >= len(t.sig) {
			return EOF
		}
		return t.toks[t.sig[i]].Kind
	}
	switch k := kind(i); k {
	case Client:
		return kind(i+1) == Class
	case Class:
		return kind(i-1) != Client
	default:
		return topLevel[k]
	}
}

// topLevel holds the words that start a declaration and nothing else.
var topLevel = [contextualLast]bool{Actorclass: true, Class: true, Client: true, Enum: true, Const: true, Extern: true, Import: true}
