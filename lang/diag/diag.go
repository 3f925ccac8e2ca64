// Package diag holds the compiler's diagnostics: their codes, each declared
// once with an explanation and an example, and the forms they are shown in.
package diag

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Severity says what a diagnostic does to the build.
type Severity uint8

// The severities. Only errors fail a build.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one finding. Fill it with New and the With methods, or directly.
type Diagnostic struct {
	Code      Code
	Severity  Severity
	Span      ast.Span // primary: where the user should look first
	Message   string   // one line, no final stop, names what was expected and what was found
	Label     string   // short text under the primary span; may be empty
	Secondary []Label  // other places that belong to it
	Help      string   // the remedy in words; may be empty
	Fix       *Fix     // the remedy as edits; nil if there is none
}

// Label is a secondary span with its explanation.
type Label struct {
	Span ast.Span
	Text string
}

// Fix is a remedy that a machine can apply.
type Fix struct {
	Text  string // what applying it does, in the imperative
	Edits []Edit // do not overlap; all in one source unless stated by their spans
}

// Edit replaces the text of a span; an empty span inserts.
type Edit struct {
	Span ast.Span
	New  string
}

// New returns an error diagnostic.
func New(code Code, span ast.Span, format string, args ...any) Diagnostic {
	return Diagnostic{Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
}

// Warn returns a warning.
func Warn(code Code, span ast.Span, format string, args ...any) Diagnostic {
	d := New(code, span, format, args...)
	d.Severity = Warning
	return d
}

// WithLabel sets the text under the primary span.
func (d Diagnostic) WithLabel(format string, args ...any) Diagnostic {
	d.Label = fmt.Sprintf(format, args...)
	return d
}

// With adds a secondary span.
func (d Diagnostic) With(span ast.Span, format string, args ...any) Diagnostic {
	d.Secondary = append(slices.Clip(d.Secondary), Label{span, fmt.Sprintf(format, args...)})
	return d
}

// WithHelp sets the remedy in words.
func (d Diagnostic) WithHelp(format string, args ...any) Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// WithFix sets the remedy as edits.
func (d Diagnostic) WithFix(text string, edits ...Edit) Diagnostic {
	d.Fix = &Fix{Text: text, Edits: edits}
	return d
}

// Replace is an edit that puts text in the place of span.
func Replace(span ast.Span, text string) Edit { return Edit{span, text} }

// InsertBefore is an edit that inserts text in front of span.
func InsertBefore(span ast.Span, text string) Edit { return Edit{span.AtStart(), text} }

// InsertAfter is an edit that inserts text behind span.
func InsertAfter(span ast.Span, text string) Edit { return Edit{span.AtEnd(), text} }

// HasErrors reports whether one of the diagnostics fails the build.
func HasErrors(list []Diagnostic) bool {
	return slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders diagnostics by file, position, code and message, and drops
// those that repeat one at the same place with the same code and message.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, compare)
	return slices.CompactFunc(list, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

// Outside returns the diagnostics of list that do not lie within the primary span of an
// error in others: the checker need not report what the parser has reported.
func Outside(list, others []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(slices.Clone(list), func(d Diagnostic) bool {
		return slices.ContainsFunc(others, func(o Diagnostic) bool {
			return o.Severity == Error && o.Span.Src == d.Span.Src && o.Span.Start <= d.Span.Start && d.Span.End <= o.Span.End
		})
	})
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Span.Pos().File(), b.Span.Pos().File()),
		cmp.Compare(a.Span.Start, b.Span.Start),
		cmp.Compare(a.Span.End, b.Span.End),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
	)
}

// Cap returns the first max diagnostics and how many were left out. Errors
// stay before warnings: a warning never displaces an error.
func Cap(list []Diagnostic, max int) (shown []Diagnostic, left int) {
	if len(list) <= max {
		return list, 0
	}
	errors := slices.DeleteFunc(slices.Clone(list), func(d Diagnostic) bool { return d.Severity != Error })
	if len(errors) >= max {
		return errors[:max], len(list) - max
	}
	room := max - len(errors)
	for _, d := range list {
		if d.Severity != Error {
			if room == 0 {
				continue
			}
			room--
		}
		shown = append(shown, d)
	}
	return shown, len(list) - len(shown)
}
