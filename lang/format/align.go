package format

import (
	"strings"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/grammar"
)

// line is one line that the printer has written. A line that starts within a
// raw string or a comment is not listed: it belongs to the one above it.
type line struct {
	start   int          // offset in the output, behind the line break
	indent  int          // tabs that it starts with
	first   grammar.Kind // its first token; EOF if there is none before its comments
	comment int          // offset of the space before its trailing comments; 0 if there are none
}

// aligned puts the trailing comments of neighbouring lines into one column and
// returns the text with its last line break. As in gofmt, lines are neighbours if
// they belong to one list of statements, members or operands. A line without
// trailing comment, an empty line and the end of a construct of several lines
// separate them.
func (p *printer) aligned() string {
	text := p.out.String()
	var out strings.Builder
	out.Grow(len(text) + len(text)/16)
	done := 0
	for i := 0; i < len(p.lines); {
		n := block(text, p.lines[i:])
		if n > 1 {
			done = pad(&out, text, done, p.lines[i:i+n])
		}
		i += max(n, 1)
	}
	out.WriteString(text[done:])
	out.WriteByte('\n')
	return out.String()
}

// block counts the lines, from the first on, whose comments stand in one column.
func block(text string, lines []line) int {
	n := 0
	for n < len(lines) && hasColumn(text, lines[n]) {
		if n > 0 && !continues(text, lines[n-1], lines[n]) {
			break
		}
		n++
	}
	return n
}

// hasColumn reports whether a line has a trailing comment on the line that it
// starts on.
func hasColumn(text string, l line) bool {
	return l.comment > 0 && !strings.Contains(text[l.start:l.comment], "\n")
}

// continues reports whether line l goes on with the block that above is in.
func continues(text string, above, l line) bool {
	return l.indent == above.indent && !closes(above.first) && !closes(l.first) &&
		!strings.Contains(text[above.comment:l.start-1], "\n")
}

// closes reports whether a line that starts with a token of kind k ends what
// was begun above it.
func closes(k grammar.Kind) bool {
	switch k {
	case grammar.RBrace, grammar.RParen, grammar.RBrack, grammar.Case, grammar.Default:
		return true
	}
	return false
}

// pad writes text from offset done up to the last comment of a block, with the
// spaces that put the comments into one column, and returns how far it got.
func pad(out *strings.Builder, text string, done int, block []line) int {
	widest := 0
	for _, l := range block {
		widest = max(widest, utf8.RuneCountInString(text[l.start:l.comment]))
	}
	for _, l := range block {
		out.WriteString(text[done:l.comment])
		for range widest - utf8.RuneCountInString(text[l.start:l.comment]) {
			out.WriteByte(' ')
		}
		done = l.comment
	}
	return done
}
