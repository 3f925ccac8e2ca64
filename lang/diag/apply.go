package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Apply carries out edits on the text of src; edits of other sources are
// ignored. It fails if edits overlap or lie outside the text.
func Apply(src *ast.Source, edits []Edit) (string, error) {
	var mine []Edit
	for _, e := range edits {
		if e.Span.Src == src {
			mine = append(mine, e)
		}
	}
	slices.SortStableFunc(mine, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
	})
	var out strings.Builder
	at := int32(0)
	for _, e := range mine {
		if e.Span.Start < at || e.Span.End < e.Span.Start || int(e.Span.End) > len(src.Text) {
			return "", fmt.Errorf("edit at offset %d overlaps another or lies outside %s", e.Span.Start, src.Name)
		}
		out.WriteString(src.Text[at:e.Span.Start])
		out.WriteString(e.New)
		at = e.Span.End
	}
	out.WriteString(src.Text[at:])
	return out.String(), nil
}

// ApplyFixes carries out the fixes of all diagnostics for src, skipping a fix
// that overlaps an earlier one. It returns the text and the number applied.
func ApplyFixes(src *ast.Source, list []Diagnostic) (text string, applied int) {
	var edits []Edit
	text = src.Text
	for _, d := range list {
		if d.Fix == nil {
			continue
		}
		next, err := Apply(src, append(slices.Clone(edits), d.Fix.Edits...))
		if err != nil {
			continue
		}
		edits = append(edits, d.Fix.Edits...)
		text = next
		applied++
	}
	return text, applied
}
