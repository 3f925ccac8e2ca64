package typecheck

import (
	"regexp"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// withoutDerived drops the errors that follow from another: a second one about the very
// same text (that of the earlier pass stays), and names that seem to be missing because
// the parser could not read their declaration.
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
					lost = unreadNames(files)
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

// unreadNames returns the names that seem to be declared in what the parser passed over.
func unreadNames(files []*ast.File) map[string]bool {
	names := make(map[string]bool)
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
			addDeclared(names, n.Span().Text())
			return false
		})
	}
	return names
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// addDeclared adds the words that stand behind another word, as the name of a variable
// stands behind its type, or behind what ends a type or an item of a list.
func addDeclared(names map[string]bool, text string) {
	end, before := 0, ""
	for _, at := range word.FindAllStringIndex(text, -1) {
		gap := strings.TrimSpace(text[end:at[0]])
		w := text[at[0]:at[1]]
		switch {
		case gap == "" && end > 0:
			switch before {
			case "new", "return", "event", "async", "await", "delete":
			default:
				names[w] = true
			}
		case gap != "" && strings.ContainsRune("?>],", rune(gap[len(gap)-1])):
			names[w] = true
		}
		switch rest := strings.TrimLeft(text[at[1]:], " \t"); {
		case strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, "in "): // x := 1, x: int, x in xs
			names[w] = true
		}
		end, before = at[1], w
	}
}
