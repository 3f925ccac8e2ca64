package spec_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var ruleName = regexp.MustCompile(`\[([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*)\]`)

// TestRulesHaveCode compares the names of rules in semantics.md with those in the comments of the
// interpreter: the dynamic rules, sections 4 to 6, must all be there, and no other name may.
func TestRulesHaveCode(t *testing.T) {
	page, err := os.ReadFile("semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, dynamic, found := strings.Cut(string(page), "\n## 4 ")
	dynamic, _, ended := strings.Cut(dynamic, "\n## 7 ")
	if !found || !ended {
		t.Fatal("semantics.md has no sections 4 to 7")
	}
	all := names(string(page))
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source found: %v", err)
	}
	var code []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, comment, ok := strings.Cut(line, "//"); ok {
				for _, name := range names(comment) {
					code = append(code, name)
					if !slices.Contains(all, name) {
						t.Errorf("%s speaks of [%s], which semantics.md does not know", file, name)
					}
				}
			}
		}
	}
	for _, name := range names(definitions(dynamic)) {
		if !slices.Contains(code, name) {
			t.Errorf("no code says that it carries out [%s]", name)
		}
	}
}

// definitions returns the bold parts of a text: there the rules are defined.
func definitions(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "**") {
		if i%2 == 1 {
			b.WriteString(part)
		}
	}
	return b.String()
}

func names(text string) (list []string) {
	for _, m := range ruleName.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}
