package format_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/format"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// programs returns the correct programs of testdata/lang, by name.
func programs(tb testing.TB) map[string]string {
	tb.Helper()
	found := map[string]string{}
	root := filepath.Join("..", "..", "testdata", "lang")
	for _, pattern := range []string{"*.aeon", "syntax/*.txtar", "format/*.txtar"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			tb.Fatalf("no programs match %s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			if strings.HasSuffix(path, ".txtar") {
				text = txtar.Parse(text).Files[0].Data
			}
			if _, diags := grammar.Parse(ast.NewSource(path, string(text))); len(diags) == 0 {
				found[filepath.Base(path)] = string(text)
			}
		}
	}
	return found
}

// scramble writes the tokens of a program with random white space and comments
// between them, and returns how many comments it has put in.
func scramble(r *rand.Rand, text string) (string, int) {
	src := ast.NewSource("s.aeon", text)
	toks, _ := grammar.Scan(src)
	var out strings.Builder
	comments, holes := 0, 0
	chance := 2 + r.IntN(20)
	for i, t := range toks {
		if t.Kind == grammar.Comment {
			continue
		}
		switch {
		case i > 0 && toks[i-1].End == t.Start && toks[i-1].Kind == grammar.Greater:
		case holes > 0 && i > 0: // one line
			out.WriteString([]string{text[toks[i-1].End:t.Start], " ", "\t "}[min(2, r.IntN(chance))])
			if r.IntN(chance) == 0 {
				comments++
				fmt.Fprintf(&out, "/* %d */", comments)
			}
		default:
			out.WriteString([]string{" ", "\n", "\n\n\n", " \t ", "\r\n"}[min(4, r.IntN(chance))])
			for r.IntN(chance) == 0 {
				comments++
				fmt.Fprintf(&out, []string{"/* %d */", "// %d\n", " /* %d */ ", "\n// %d  \n", "/* %d \n */\n\n"}[r.IntN(5)], comments)
			}
		}
		switch t.Kind {
		case grammar.StrHead:
			holes++
		case grammar.StrTail:
			holes--
		}
		out.WriteString(t.Text(src))
	}
	return out.String(), comments
}

// However a program is laid out, formatting keeps its tokens and comments, and
// formatting again changes nothing.
func TestAnyLayoutIsFormatted(t *testing.T) {
	for name, text := range programs(t) {
		for seed := range uint64(60) {
			scrambled, comments := scramble(rand.New(rand.NewPCG(seed, 1)), text)
			once, diags, err := format.Source(ast.NewSource(name, scrambled))
			if err != nil || len(diags) > 0 {
				t.Fatalf("%s, seed %d: %v %v in\n%s", name, seed, err, diags, scrambled)
			}
			toks, _ := grammar.Scan(ast.NewSource(name, once))
			kept := 0
			for _, tok := range toks {
				if tok.Kind == grammar.Comment {
					kept++
				}
			}
			if kept != comments {
				t.Fatalf("%s, seed %d: %d of %d comments kept", name, seed, kept, comments)
			}
			twice, _, err := format.Source(ast.NewSource(name, once))
			if err != nil || once != twice {
				t.Fatalf("%s, seed %d: %v, formatted once:\n%s\ntwice:\n%s", name, seed, err, once, twice)
			}
			for i, line := range strings.Split(once, "\n") {
				if strings.TrimRight(line, " \t") != line && !strings.Contains(once, "`") {
					t.Fatalf("%s, seed %d: line %d ends in white space", name, seed, i+1)
				}
			}
		}
	}
}
