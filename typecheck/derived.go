package typecheck

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// withoutDerived drops the errors that follow from another: a second one about the very
// same text (the pass that came first knows best), and names that seem to be missing
// because the parser could not read their declaration.
func withoutDerived(files []*ast.File, list []diag.Diagnostic) []diag.Diagnostic {
	var lost map[string]bool
	seen := make(map[ast.Span]bool)
	kept := list[:0]
	for _, d := range list {
		if d.Severity == diag.Error {
			if seen[d.Span] {
				continue
			}
			seen[d.Span] = true
			switch d.Code {
			case diag.UndefinedName, diag.UndefinedType, diag.UnknownMember:
				if lost == nil {
					lost = unreadWords(files)
				}
				if lost[d.Span.Text()] {
					continue
				}
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// unreadWords returns the words in what the parser passed over.
func unreadWords(files []*ast.File) map[string]bool {
	words := make(map[string]bool)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BadDecl, *ast.BadMember:
			case *ast.BadStmt:
				if n.X != nil { // an expression, which declares nothing
					return true
				}
			default:
				return true
			}
			for _, w := range strings.FieldsFunc(n.Span().Text(), func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
			}) {
				words[w] = true
			}
			return false
		})
	}
	return words
}
