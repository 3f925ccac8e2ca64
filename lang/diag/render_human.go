package diag

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
)

// HumanOptions controls WriteHuman.
type HumanOptions struct {
	Color bool // with ANSI colours
	// Max is how many diagnostics are written at most; 0 means all. What is
	// left out is counted in a last line.
	Max int
}

// WriteHuman writes diagnostics with the source lines they are about, for users.
// The list should be sorted.
func WriteHuman(w io.Writer, list []Diagnostic, o HumanOptions) error {
	shown, left := list, 0
	if o.Max > 0 {
		shown, left = Cap(list, o.Max)
	}
	h := &human{color: o.Color}
	for i := range shown {
		if i > 0 {
			h.out.WriteByte('\n')
		}
		h.diagnostic(&shown[i])
	}
	if left > 0 {
		fmt.Fprintf(&h.out, "\n… and %d more\n", left)
	}
	_, err := io.WriteString(w, h.out.String())
	return err
}

type human struct {
	out   strings.Builder
	color bool
}

const (
	bold  = "1"
	red   = "1;31"
	amber = "1;33"
	blue  = "34"
	green = "32"
)

func (h *human) paint(style, text string) string {
	if !h.color || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// mark is one underlined piece of one line.
type mark struct {
	line, col, width int // from 1, in bytes
	text             string
	primary          bool
}

func (h *human) diagnostic(d *Diagnostic) {
	style := red
	if d.Severity == Warning {
		style = amber
	}
	fmt.Fprintf(&h.out, "%s: %s\n", h.paint(style, d.Severity.String()+"["+string(d.Code)+"]"), h.paint(bold, d.Message))
	if d.Span.IsValid() {
		h.excerpts(d, style)
	}
	if d.Help != "" {
		fmt.Fprintf(&h.out, "  %s: %s\n", h.paint(green, "help"), d.Help)
	}
	if d.Fix != nil {
		fmt.Fprintf(&h.out, "  %s: %s\n", h.paint(green, "fix"), d.Fix.Text)
	}
}

// excerpts writes the marked lines, file by file, the primary file first.
func (h *human) excerpts(d *Diagnostic, style string) {
	marks := map[*ast.Source][]mark{}
	sources := []*ast.Source{d.Span.Src}
	add := func(s ast.Span, text string, primary bool) {
		if !s.IsValid() {
			return
		}
		if !slices.Contains(sources, s.Src) {
			sources = append(sources, s.Src)
		}
		marks[s.Src] = append(marks[s.Src], markOf(s, text, primary))
	}
	add(d.Span, d.Label, true)
	for _, l := range d.Secondary {
		add(l.Span, l.Text, false)
	}
	gutter := 1
	for _, list := range marks {
		for _, m := range list {
			gutter = max(gutter, len(strconv.Itoa(m.line)))
		}
	}
	for i, src := range sources {
		arrow, at := "-->", d.Span
		if i > 0 {
			arrow = ":::"
			at = ast.Span{Src: src, Start: int32(src.LineStart(marks[src][0].line))}
		}
		fmt.Fprintf(&h.out, "%s%s %s\n", strings.Repeat(" ", gutter), h.paint(blue, arrow), at)
		h.lines(src, marks[src], gutter, style)
	}
}

// markOf cuts a span to its first line; an empty span marks one column.
func markOf(s ast.Span, text string, primary bool) mark {
	line, col := s.Pos().LineCol()
	width := min(int(s.End-s.Start), len(s.Src.Line(line))-col+1)
	return mark{line: line, col: col, width: max(1, width), text: text, primary: primary}
}

func (h *human) lines(src *ast.Source, marks []mark, gutter int, style string) {
	slices.SortStableFunc(marks, func(a, b mark) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.col - b.col
	})
	bar := strings.Repeat(" ", gutter) + " " + h.paint(blue, "|")
	fmt.Fprintln(&h.out, bar)
	last := 0
	for _, m := range marks {
		if m.line != last {
			if last > 0 && m.line > last+1 {
				fmt.Fprintf(&h.out, "%s\n", h.paint(blue, strings.Repeat(".", gutter+2)))
			}
			text, _ := excerpt(src.Line(m.line), m.col)
			fmt.Fprintf(&h.out, "%s %s %s\n", h.paint(blue, fmt.Sprintf("%*d", gutter, m.line)), h.paint(blue, "|"), text)
			last = m.line
		}
		_, col := excerpt(src.Line(m.line), m.col)
		sign, paint := "-", blue
		if m.primary {
			sign, paint = "^", style
		}
		under := strings.Repeat(sign, underline(src.Line(m.line), m))
		if m.text != "" {
			under += " " + m.text
		}
		fmt.Fprintf(&h.out, "%s %s%s\n", bar, strings.Repeat(" ", col), h.paint(paint, under))
	}
}

const (
	tabWidth        = 4
	excerptCharsMax = 160
)

// excerpt returns what is shown of a line, tabs expanded, and the column (from
// 0, in characters) at which byte column col is shown. Of a very long line a
// window around the column is shown.
func excerpt(line string, col int) (text string, shownCol int) {
	before := line[:min(col-1, len(line))]
	cut := ""
	if utf8.RuneCountInString(before) > excerptCharsMax {
		start := len(before) - excerptCharsMax/2
		for !utf8.RuneStart(before[start]) {
			start++
		}
		before, line, cut = before[start:], line[start:], "…"
	}
	text = cut + plain(line)
	if utf8.RuneCountInString(text) > excerptCharsMax {
		text = string([]rune(text)[:excerptCharsMax]) + "…"
	}
	return text, utf8.RuneCountInString(cut) + utf8.RuneCountInString(plain(before))
}

// plain makes a piece of source safe to show: tabs become spaces and control
// characters a replacement.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\ufffd'
		}
		return r
	}, strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth)))
}

// underline is the number of characters that a mark underlines.
func underline(line string, m mark) int {
	from := min(m.col-1, len(line))
	n := utf8.RuneCountInString(plain(line[from:min(from+m.width, len(line))]))
	return min(max(1, n), excerptCharsMax)
}
