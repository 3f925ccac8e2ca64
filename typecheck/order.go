package typecheck

import (
	"cmp"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
)

// sortFuncs orders functions by where they are declared, so that results do
// not depend on the order of a map.
func sortFuncs(list []*Func) { slices.SortFunc(list, compareFuncs) }

func compareFuncs(a, b *Func) int {
	return cmp.Or(compareSpans(a.span, b.span), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.FullName(), b.FullName()))
}

func compareSpans(a, b ast.Span) int {
	return cmp.Or(cmp.Compare(a.Pos().File(), b.Pos().File()), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}
