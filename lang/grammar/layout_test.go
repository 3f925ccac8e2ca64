package grammar

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// TestOneMissingBraceIsOneError takes each brace out of each sample program in turn, and counts the errors.
func TestOneMissingBraceIsOneError(t *testing.T) {
	var samples []string
	for _, glob := range []string{"../../examples/*/*.aeon", "../../testdata/lang/*.aeon", "../../testdata/lang/format/*.aeon"} {
		found, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, found...)
	}
	if len(samples) < 10 {
		t.Fatalf("there are %d samples", len(samples))
	}
	counts := map[int]int{}
	braces := 0
	for _, name := range samples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, toks, diags := ParseWithTokens(ast.NewSource(name, string(text)))
		if len(diags) > 0 {
			continue
		}
		for _, tok := range toks {
			if tok.Kind != LBrace && tok.Kind != RBrace {
				continue
			}
			braces++
			without := string(text[:tok.Start]) + string(text[tok.End:])
			_, diags := Parse(ast.NewSource(name, without))
			counts[len(diags)]++
			if n := len(diags); n != 1 {
				line := 1
				for _, c := range text[:tok.Start] {
					if c == '\n' {
						line++
					}
				}
				t.Logf("%s:%d: without `%s`: %d errors: %v", name, line, text[tok.Start:tok.End], n, diags)
			}
		}
	}
	t.Logf("%d braces, errors: %v", braces, counts)
	if braces < 900 || counts[1] != braces {
		t.Errorf("of %d missing braces %d gave one error: %v", braces, counts[1], counts)
	}
}

// A brace too many behind one that stands at the same place ends nothing, and gets no `{`.
func TestAStrayBraceIsNoMissingOne(t *testing.T) {
	_, diags := Parse(ast.NewSource("stray.aeon", "package p\n\nactorclass A {\n\tint n = 0;\n}\n}\n"))
	if len(diags) != 1 || diags[0].Code != diag.StrayClosing {
		t.Errorf("%v", diags)
	}
}
