package grammar

import (
	"fmt"
	"os"
	"strings"
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

// TestReservedWordsAreDocumented compares the lists of words of docs/language.md with those of the scanner.
func TestReservedWordsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	words := make([]string, 0, keywordLast)
	for kind := keywordFirst + 1; kind < keywordLast; kind++ {
		words = append(words, kind.String())
	}
	if list := "`" + strings.Join(words, " ") + "`"; !strings.Contains(string(text), list) {
		t.Errorf("docs/language.md does not list %s", list)
	}
	_, shape, _ := strings.Cut(string(text), "end in `.aeon`. `")
	shape, _, _ = strings.Cut(shape, "`")
	for kind := contextualFirst + 1; kind < contextualLast; kind++ {
		if !strings.Contains(" "+shape+" ", " "+kind.String()+" ") {
			t.Errorf("docs/language.md does not list the contextual word %s", kind)
		}
	}
}
