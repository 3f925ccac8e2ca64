package diag

import (
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
)

func spanOf(src *ast.Source, start, end int32) ast.Span {
	return ast.Span{Src: src, Start: start, End: end}
}

func TestSortOrdersAndDropsRepeats(t *testing.T) {
	src := ast.NewSource("a.aeon", "one\ntwo\n")
	list := []Diagnostic{
		New("AE0002", spanOf(src, 4, 7), "second"),
		New("AE0001", spanOf(src, 0, 3), "first"),
		New("AE0002", spanOf(src, 4, 7), "second"),
	}
	got := Sort(list)
	if len(got) != 2 || got[0].String() != "a.aeon:1:1: AE0001: first" || got[1].String() != "a.aeon:2:1: AE0002: second" {
		t.Fatalf("sorted to %v", got)
	}
}

func TestCapKeepsErrorsBeforeWarnings(t *testing.T) {
	src := ast.NewSource("a.aeon", "0123456789")
	var list []Diagnostic
	for i := range int32(6) {
		if i < 4 {
			list = append(list, Warn("AE0001", spanOf(src, i, i+1), "w"))
		} else {
			list = append(list, New("AE0001", spanOf(src, i, i+1), "e"))
		}
	}
	shown, left := Cap(list, 3)
	if len(shown) != 3 || left != 3 || shown[0].Severity != Warning || !HasErrors(shown) {
		t.Fatalf("shown %v, left %d", shown, left)
	}
	if n := len(slices.DeleteFunc(shown, func(d Diagnostic) bool { return d.Severity == Warning })); n != 2 {
		t.Fatalf("kept %d of 2 errors", n)
	}
}

func TestApplyFixesSkipsOverlaps(t *testing.T) {
	src := ast.NewSource("a.aeon", "x = NULL")
	null := New("AE0001", spanOf(src, 4, 8), "m").WithFix("write null", Replace(spanOf(src, 4, 8), "null"))
	semi := New("AE0001", spanOf(src, 8, 8), "m").WithFix("insert ;", InsertAfter(spanOf(src, 4, 8), ";"))
	again := New("AE0001", spanOf(src, 5, 6), "m").WithFix("no", Replace(spanOf(src, 5, 6), "u"))
	text, n := ApplyFixes(src, []Diagnostic{null, semi, again})
	if text != "x = null;" || n != 2 {
		t.Fatalf("%d fixes gave %q", n, text)
	}
}

func TestOutsideDropsWhatLiesWithinAnError(t *testing.T) {
	src := ast.NewSource("a.aeon", "one two three")
	at := func(start, end int32) Diagnostic {
		return New(UndefinedName, spanOf(src, start, end), "x")
	}
	warning := at(8, 13)
	warning.Severity = Warning
	got := Outside([]Diagnostic{at(0, 3), at(4, 6), at(4, 9), at(9, 11)}, []Diagnostic{at(4, 7), warning})
	if len(got) != 3 || got[0].Span.Start != 0 || got[1].Span.End != 9 || got[2].Span.Start != 9 {
		t.Errorf("got %v", got)
	}
}
