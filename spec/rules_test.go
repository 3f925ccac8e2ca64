package spec_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wordsMax is how long semantics.md may be: an hour of reading.
const wordsMax = 6000

var (
	ruleName    = regexp.MustCompile(`\[[A-Z]+(?:-[A-Z]+)*\]`)
	definitions = regexp.MustCompile(`\*\*((?:\[[A-Z]+(?:-[A-Z]+)*\] ?)+)\*\*`)
)

// TestRulesHaveCode requires that each rule of semantics.md is named in a comment of the code that carries
// it out, and that comments, and the page itself, name no rule that it does not define.
func TestRulesHaveCode(t *testing.T) {
	page, err := os.ReadFile("semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(page))); n > wordsMax {
		t.Errorf("semantics.md has %d words, and may have %d", n, wordsMax)
	}
	defined := map[string]bool{}
	for _, m := range definitions.FindAllStringSubmatch(string(page), -1) {
		for _, name := range ruleName.FindAllString(m[1], -1) {
			if defined[name] {
				t.Errorf("semantics.md defines %s twice", name)
			}
			defined[name] = true
		}
	}
	if len(defined) < 50 {
		t.Fatalf("semantics.md defines only %d rules: has its form changed?", len(defined))
	}
	for _, name := range ruleName.FindAllString(string(page), -1) {
		if !defined[name] {
			t.Errorf("semantics.md uses %s, which it does not define", name)
		}
	}
	named := map[string]bool{}
	for _, dir := range []string{"../typecheck", ".", "../runtime/lock", "../runtime/order", "../runtime/activation", "../runtime/exec"} {
		for file, text := range comments(t, dir) {
			for _, name := range ruleName.FindAllString(text, -1) {
				named[name] = true
				if !defined[name] {
					t.Errorf("%s names %s, which semantics.md does not define", file, name)
				}
			}
		}
	}
	for name := range defined {
		if !named[name] {
			t.Errorf("no code names %s", name)
		}
	}
}

// comments returns the comments of the Go files of a folder, without its tests.
func comments(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range f.Comments {
			texts[path] += group.Text()
		}
	}
	return texts
}

// settledMax is the number of ambiguities that programs can show: A29 and later are about snapshots,
// starvation and migration.
const settledMax = 28

// ambiguity is the number of one in section 9.
var ambiguity = regexp.MustCompile(`\[A[0-9]+\]`)

// TestRulesHaveGoldenPrograms requires a golden program for each static and dynamic rule, for each
// ambiguity settled, and for each cell of the call table that can be written.
func TestRulesHaveGoldenPrograms(t *testing.T) {
	page, err := os.ReadFile("semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, settled, cells := map[string]bool{}, map[string]bool{}, 0
	err = filepath.WalkDir("../testdata/semantics", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		comment, _, _ := strings.Cut(string(text), "\n-- ")
		for _, name := range ruleName.FindAllString(comment, -1) {
			shown[name] = true
		}
		for _, name := range ambiguity.FindAllString(comment, -1) {
			settled[name] = true
		}
		if strings.HasPrefix(d.Name(), "call-") {
			cells++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rules, _, _ := strings.Cut(string(page), "## 7 ") // what follows is how the runtime gives them
	for _, m := range definitions.FindAllStringSubmatch(rules, -1) {
		for _, name := range ruleName.FindAllString(m[1], -1) {
			if !shown[name] {
				t.Errorf("no golden program shows %s", name)
			}
		}
	}
	for i := range settledMax {
		if name := fmt.Sprintf("[A%d]", i+1); !settled[name] {
			t.Errorf("no golden program shows how %s is settled", name)
		}
	}
	if cells != 72 {
		t.Errorf("there are golden programs for %d cells of the call table, and 72 can be written", cells)
	}
}
