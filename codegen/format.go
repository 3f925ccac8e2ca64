package codegen

import (
	"bytes"
	"fmt"
	"go/format"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Marks stand in generated text for what is known only later.
const (
	// markHere on a line by itself ends the stretch that is mapped to a source: what follows is ours.
	markHere = "//aeon:here"
	// markUse begins a line that uses a variable so that Go does not call it unused; the line goes if
	// the program uses it. The variable's number follows.
	markUse = "\x00use "
)

// writer collects Go text.
type writer struct {
	buf  bytes.Buffer
	name func(*ast.Source) string
}

// add writes one line of Go that has no counterpart in the source.
func (w *writer) add(format string, args ...any) {
	fmt.Fprintf(&w.buf, format, args...)
	w.buf.WriteByte('\n')
}

// at makes the next line of Go report the position of span.
func (w *writer) at(span ast.Span) {
	if !span.IsValid() {
		return
	}
	if name := w.name(span.Src); name != "" && strings.IndexFunc(name, control) < 0 {
		line, col := span.Pos().LineCol()
		fmt.Fprintf(&w.buf, "//line %s:%d:%d\n", name, line, col)
	}
}

// positionFrom gives the text from an offset on the position of span, unless it begins with one: parts of a statement that are computed
// first may fail as the rest may.
func (w *writer) positionFrom(begin int, span ast.Span) {
	text := w.buf.Bytes()[begin:]
	if len(text) == 0 || bytes.HasPrefix(text, []byte("//line ")) {
		return
	}
	text = bytes.Clone(text)
	w.buf.Truncate(begin)
	w.at(span)
	w.buf.Write(text)
}

// mark returns the comment that makes what follows on the same line of Go report the position of span.
func (w *writer) mark(span ast.Span) string {
	name := w.name(span.Src)
	if name == "" || strings.IndexFunc(name, control) >= 0 || strings.Contains(name, "*/") {
		return ""
	}
	line, col := span.Pos().LineCol()
	return fmt.Sprintf("/*line %s:%d:%d*/", name, line, col)
}

// here ends the stretch that at began.
func (w *writer) here() {
	if w.buf.Len() > 0 {
		w.buf.WriteString(markHere + "\n")
	}
}

// finish resolves the marks in the text of a file. Text that users keep is formatted first; formatting takes most of
// the time, and the text of a cache is for the Go compiler alone.
func (p *pkg) finish(name string, text []byte) (File, error) {
	if !p.mapped || p.opts.API {
		var err error
		if text, err = formatted(text); err != nil {
			return File{}, err
		}
	}
	var out bytes.Buffer
	mapped := false // is the current line mapped to a source?
	var last []byte // the mark that holds until the next; every line repeats it, as the lines of one statement have one position
	marked := false // does the mark stand in front of the line?
	line := 0
	for text := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(text)
		switch {
		case string(trimmed) == markHere:
			if mapped {
				line++
				fmt.Fprintf(&out, "//line %s:%d:1\n", name, line+1)
			}
			mapped = false
			continue
		case bytes.HasPrefix(text, []byte("//line ")):
			mapped, last, marked = true, text, true
		case mapped && !marked && len(trimmed) > 0:
			line++
			out.Write(last)
		default:
			marked = false
		}
		line++
		out.Write(text)
		if !mapped && bytes.Contains(text, []byte("/*line ")) { // it holds to the end of the file otherwise
			line++
			fmt.Fprintf(&out, "//line %s:%d:1\n", name, line+1)
		}
	}
	return File{Name: name, Content: out.Bytes()}, nil
}

// formatted returns the text of a file as gofmt writes it.
func formatted(text []byte) ([]byte, error) {
	out, err := format.Source(text)
	if err != nil {
		return nil, fmt.Errorf("codegen: generated Go does not parse: %w\n%s", err, numbered(text))
	}
	return out, nil
}

func numbered(text []byte) string {
	var sb strings.Builder
	for i, l := range strings.Split(string(text), "\n") {
		fmt.Fprintf(&sb, "%4d %s\n", i+1, l)
	}
	return sb.String()
}

// quote returns s as a Go string literal. Every text of a program ends up in one of these or in a name
// that names.go has admitted.
func quote(s string) string { return strconv.Quote(s) }

// doc writes a doc comment.
func (w *writer) doc(text string) {
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		// A space behind the slashes keeps the comment from being a directive.
		w.add("%s", strings.TrimRight("// "+strings.Map(printable, l), " "))
	}
}

// printable drops what could end a comment or confuse an editor.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == 0xfeff {
		return -1
	}
	return r
}

// control reports whether r cannot be a part of a //line directive.
func control(r rune) bool { return r < ' ' || r == 0x7f }
