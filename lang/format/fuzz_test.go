package format_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
)

// FuzzFormat checks that whatever parses can be formatted, that the printer's
// own proof (same tokens, same comments, same tree) holds, and that formatting
// twice is formatting once.
func FuzzFormat(f *testing.F) {
	n := 0
	err := filepath.WalkDir("../../testdata/lang", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		f.Add(string(text))
		n++
		return err
	})
	if err != nil || n == 0 {
		f.Fatalf("%d seeds, %v", n, err)
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
