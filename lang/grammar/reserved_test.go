package grammar

import (
	"fmt"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// TestReservedNameIsOneError names a member by each reserved word, behind each order of modifiers: the one error is at the word.
func TestReservedNameIsOneError(t *testing.T) {
	heads := []string{"void", "int", "ro int", "internal void", "internal int", "internal ro int", "ro internal int", "pure int", "internal vector<int>", "internal pending<int>?"}
	for kind := keywordFirst + 1; kind < keywordLast; kind++ {
		for _, head := range heads {
			for _, rest := range []string{"(int x) { }", "() { }", ";"} {
				if rest == ";" && head != "int" && head != "internal int" {
					continue
				}
				text := fmt.Sprintf("package p\n\nactorclass A {\n\t%s %s%s\n\tint last() { return 1; }\n}\n", head, kind, rest)
				file, _, diags := ParseWithTokens(ast.NewSource("a.aeon", text))
				if len(diags) > 0 && diags[0].Code == diag.MisplacedModifier && rest == ";" {
					diags = diags[1:] // `internal` before a field
				}
				if len(diags) != 1 || diags[0].Code != diag.ReservedWord || diags[0].Span.Text() != kind.String() {
					t.Errorf("%s %s%s: %v", head, kind, rest, diags)
				} else if n := len(file.Decls[0].(*ast.ClassDecl).Members); n != 2 {
					t.Errorf("%s %s%s: the class has %d members", head, kind, rest, n)
				}
			}
		}
	}
}
