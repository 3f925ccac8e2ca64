package ast

import (
	"fmt"
	"sort"
	"strings"
)

// Source is one file of program text. Every span points to its Source, so a
// position can be shown without a table of files on the side. A Source is
// immutable and may be shared between goroutines.
type Source struct {
	Name string // as the user named it; shown in diagnostics
	Text string

	lines []int32 // offset of the first byte of every line
}

// NewSource returns the source for a text that is called name in messages.
func NewSource(name, text string) *Source {
	s := &Source{Name: name, Text: text, lines: make([]int32, 1, 1+strings.Count(text, "\n"))}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, int32(i+1))
		}
	}
	return s
}

// Lines returns the number of lines; a text that ends in a newline has an empty last one.
func (s *Source) Lines() int { return len(s.lines) }

// Line returns line n (from 1) without its newline, or "" if there is none.
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	end := len(s.Text)
	if n < len(s.lines) {
		end = int(s.lines[n]) - 1
	}
	return strings.TrimSuffix(s.Text[s.lines[n-1]:end], "\r")
}

// LineCol returns the line and column, both from 1, of a byte offset. Columns
// count bytes, as Go's tools do.
func (s *Source) LineCol(off int) (line, col int) {
	i := sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > off })
	return i, off - int(s.lines[i-1]) + 1
}

// LineStart returns the offset of the first byte of line n (from 1).
func (s *Source) LineStart(n int) int { return int(s.lines[n-1]) }

// Pos is one place in a source. The zero Pos is "nowhere".
type Pos struct {
	Src *Source
	Off int32
}

// IsValid reports whether p is a place.
func (p Pos) IsValid() bool { return p.Src != nil }

// File returns the name of the source, or "".
func (p Pos) File() string {
	if p.Src == nil {
		return ""
	}
	return p.Src.Name
}

// Offset returns the byte offset in the source.
func (p Pos) Offset() int { return int(p.Off) }

// Line returns the line, from 1; 0 if p is not valid.
func (p Pos) Line() int { line, _ := p.LineCol(); return line }

// Col returns the column in bytes, from 1; 0 if p is not valid.
func (p Pos) Col() int { _, col := p.LineCol(); return col }

// LineCol returns both, at the cost of one search.
func (p Pos) LineCol() (line, col int) {
	if p.Src == nil {
		return 0, 0
	}
	return p.Src.LineCol(int(p.Off))
}

// String returns file:line:col.
func (p Pos) String() string {
	if p.Src == nil {
		return "-"
	}
	line, col := p.LineCol()
	return fmt.Sprintf("%s:%d:%d", p.Src.Name, line, col)
}

// Span is the text from Start up to, not including, End.
type Span struct {
	Src        *Source
	Start, End int32
}

// IsValid reports whether s is a place.
func (s Span) IsValid() bool { return s.Src != nil }

// Pos returns where the span starts.
func (s Span) Pos() Pos { return Pos{s.Src, s.Start} }

// EndPos returns where the span ends.
func (s Span) EndPos() Pos { return Pos{s.Src, s.End} }

// Text returns the source text of the span.
func (s Span) Text() string {
	if s.Src == nil {
		return ""
	}
	return s.Src.Text[s.Start:s.End]
}

// To returns the span from the start of s to the end of t. Either may be invalid.
func (s Span) To(t Span) Span {
	if s.Src == nil {
		return t
	}
	if t.Src == nil {
		return s
	}
	return Span{s.Src, s.Start, max(s.End, t.End)}
}

// Contains reports whether the byte offset lies in s.
func (s Span) Contains(off int) bool { return int(s.Start) <= off && off < int(s.End) }

// AtStart returns the empty span at the start of s, where text can be inserted.
func (s Span) AtStart() Span { return Span{s.Src, s.Start, s.Start} }

// AtEnd returns the empty span just behind s.
func (s Span) AtEnd() Span { return Span{s.Src, s.End, s.End} }

// String returns file:line:col of the start.
func (s Span) String() string { return s.Pos().String() }
