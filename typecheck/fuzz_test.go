package typecheck

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// goldenSources parses the source files of an archive.
func goldenSources(t testing.TB, file string) []*ast.File {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, f := range txtar.Parse(data).Files {
		if strings.HasSuffix(f.Name, ".aeon") {
			tree, _ := lang.Parse(f.Name, f.Data)
			files = append(files, tree)
		}
	}
	return files
}

// FuzzCheck checks whatever the parser makes of a text, syntax errors or not.
// The checker must not panic; its spans lie in the source; a second run agrees;
// and a program without errors has effects for all code of actors.
func FuzzCheck(f *testing.F) {
	for _, area := range areas {
		for _, file := range goldenFiles(f, area) {
			for _, src := range goldenSources(f, file) {
				f.Add(src.Src.Text)
			}
		}
	}
	for _, phase := range []string{"check", "syntax"} {
		for _, info := range diag.Phase(phase) {
			f.Add(info.Bad)
			f.Add(info.Good)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return // longer than what users write; see TestHostilePrograms
		}
		file, syntax := lang.Parse("fuzz.aeon", []byte(text))
		info, diags := Check([]*ast.File{file}, Options{})
		for _, d := range diags {
			if d.Span.Src == nil || d.Span.Start < 0 || d.Span.End < d.Span.Start || int(d.Span.End) > len(d.Span.Src.Text) {
				t.Fatalf("%s: span %d-%d lies outside of the source", d.Code, d.Span.Start, d.Span.End)
			}
			if _, known := diag.Lookup(d.Code); !known {
				t.Fatalf("%s is not documented", d.Code)
			}
		}
		_, again := Check([]*ast.File{file}, Options{})
		if show(diags) != show(again) {
			t.Fatalf("two runs gave\n%s\nand\n%s", show(diags), show(again))
		}
		if len(syntax) > 0 || diag.HasErrors(diags) {
			return
		}
		info.Package.AllFuncs(func(fn *Func) {
			if fn.Context != ClientContext && fn.Effects == nil {
				t.Fatalf("%s has no effects", fn.FullName())
			}
		})
	})
}
