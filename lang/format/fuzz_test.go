package format_test

import (
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
)

// FuzzFormat checks that whatever parses can be formatted, that the printer's
// own proof (same tokens, same comments, same tree) holds, and that formatting
// twice is formatting once.
func FuzzFormat(f *testing.F) {
	for _, text := range programs(f) {
		f.Add(text)
	}
	for _, info := range diag.Phase("syntax") {
		f.Add(info.Good)
	}
	f.Add("package p // c\n/* a */ /* b */\nvoid f(/*x*/int/*y*/a)/*z*/{// q\n\n\n/*w*/return;/*e*/}//end")
	f.Add("package p\nvoid f() { - -a(); x = - -a; if (a) { /**/ } /**/ else /**/ { } }")
	f.Fuzz(func(t *testing.T, text string) {
		once, diags, err := format.Source(ast.NewSource("f.aeon", text))
		if err != nil {
			t.Fatal(err)
		}
		if diag.HasErrors(diags) {
			return
		}
		twice, _, err := format.Source(ast.NewSource("f.aeon", once))
		if err != nil {
			t.Fatal(err)
		}
		if once != twice {
			t.Fatalf("formatted once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}
