package grammar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// addSeeds gives a fuzz target all programs of testdata/lang and all examples
// of syntax codes that are of a readable size.
func addSeeds(f *testing.F) {
	f.Helper()
	n := 0
	err := filepath.WalkDir("../../testdata/lang", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.HasSuffix(path, ".txtar") {
			text = txtar.Parse(text).Files[0].Data
		}
		f.Add(string(text))
		n++
		return err
	})
	if err != nil || n == 0 {
		f.Fatalf("%d seeds, %v", n, err)
	}
	for _, info := range diag.Phase("syntax") {
		f.Add(info.Bad)
		f.Add(info.Good)
	}
	f.Add("package p\nvoid f(){x=\"a{\"b{c}\"}d\";}")
	f.Add("package p\nclass A {\nvoid f() {\nif (x) {\n}\nvoid g() {}\n}\nclass B {}")
	f.Add("package p\nvoid f() { a<b<c>,d>(e); a>>=b>>c; x!.y?.z![1:]; }")
}

// FuzzLexer checks that tokens are ordered, do not overlap, leave out nothing
// but white space and what is reported, and that strings are balanced.
func FuzzLexer(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		src := ast.NewSource("f.aeon", text)
		toks, diags := grammar.Scan(src)
		end, heads := int32(0), 0
		for i, tok := range toks {
			if tok.Start < end || tok.End < tok.Start || int(tok.End) > len(text) {
				t.Fatalf("token %d covers %d-%d behind %d", i, tok.Start, tok.End, end)
			}
			if gap := strings.TrimLeft(strings.TrimPrefix(text[end:tok.Start], "\ufeff"), " \t\r\n"); gap != "" && len(diags) == 0 {
				t.Fatalf("%q was left out silently", gap)
			}
			switch tok.Kind {
			case grammar.StrHead:
				heads++
			case grammar.StrTail:
				heads--
			}
			if heads < 0 {
				t.Fatal("a string ends that has not begun")
			}
			end = tok.End
		}
		if heads != 0 {
			t.Fatalf("%d strings do not end", heads)
		}
		if !utf8.ValidString(text) && len(diags) == 0 {
			t.Fatal("text that is not UTF-8 was taken")
		}
	})
}

// FuzzParse checks that parsing ends without a bug, that spans nest, and that
// a tree with Bad nodes never goes without an error.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, diags := grammar.Parse(ast.NewSource("f.aeon", text))
		for _, d := range diags {
			if d.Code == diag.Internal {
				t.Fatal(d)
			}
			if _, ok := diag.Lookup(d.Code); !ok {
				t.Fatalf("%s is not documented", d.Code)
			}
			if d.Span.Src == nil || d.Span.Start < 0 || d.Span.End < d.Span.Start || int(d.Span.End) > len(text) {
				t.Fatalf("%s has span %d-%d", d.Message, d.Span.Start, d.Span.End)
			}
			if d.Fix != nil {
				if _, err := diag.Apply(d.Span.Src, d.Fix.Edits); err != nil {
					t.Fatalf("%s: %v", d, err)
				}
			}
		}
		checkTree(t, file, diags)
	})
}

// checkTree walks a tree and checks the spans of its nodes.
func checkTree(t *testing.T, file *ast.File, diags []diag.Diagnostic) {
	var stack []ast.Node
	ast.Walk(file, func(n ast.Node) bool {
		s := n.Span()
		if s.Src != file.Src || s.Start < 0 || s.End < s.Start || int(s.End) > len(file.Src.Text) {
			t.Fatalf("%T has span %d-%d", n, s.Start, s.End)
		}
		if len(stack) > 0 && len(diags) == 0 {
			if outer := stack[len(stack)-1].Span(); s.Start < outer.Start || s.End > outer.End {
				t.Fatalf("%T %q lies outside of its %T %q", n, s.Text(), stack[len(stack)-1], outer.Text())
			}
		}
		switch n.(type) {
		case *ast.BadDecl, *ast.BadMember, *ast.BadStmt, *ast.BadExpr, *ast.BadType:
			if !diag.HasErrors(diags) {
				t.Fatalf("%T %q without an error", n, s.Text())
			}
		}
		stack = append(stack, n)
		return true
	}, func(ast.Node) { stack = stack[:len(stack)-1] })
}
