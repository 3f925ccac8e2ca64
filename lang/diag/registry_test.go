package diag

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/errors")

// The tables are complete, in order, and within their ranges.
func TestRegistry(t *testing.T) {
	seen := Code("")
	for _, p := range phases() {
		for _, i := range p.codes {
			if i.Code <= seen {
				t.Errorf("%s stands behind %s", i.Code, seen)
			}
			seen = i.Code
			if i.Code < p.first || i.Code > p.last {
				t.Errorf("%s is outside of the range of %s", i.Code, p.name)
			}
			if i.Title == "" || i.Explanation == "" {
				t.Errorf("%s is not explained", i.Code)
			}
			if p.name != "internal" && (i.BadProgram() == "" || i.Good == "") {
				t.Errorf("%s has no example", i.Code)
			}
		}
	}
	if len(Phase("syntax")) < 20 {
		t.Errorf("only %d syntax codes", len(Phase("syntax")))
	}
}

// docs/errors has one page per code, as Page writes it.
func TestErrorPages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "errors")
	want := map[string]string{}
	index := "# Diagnostics\n\nEvery diagnostic of the compiler has a code. `aeonc explain CODE` shows its page.\n\n| code | what |\n|---|---|\n"
	for _, i := range All() {
		want[string(i.Code)+".md"] = i.Page()
		index += "| [" + string(i.Code) + "](" + string(i.Code) + ".md) | " + strings.ReplaceAll(i.Title, "|", `\|`) + " |\n"
	}
	want["README.md"] = index
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := want[e.Name()]; !ok {
			t.Errorf("%s is no page of a code; run the test with -update", e.Name())
		} else if string(got) != text {
			t.Errorf("%s is not what the registry says; run the test with -update", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		t.Errorf("%s is missing; run the test with -update", name)
	}
}
