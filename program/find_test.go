package program_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aeon-lang/aeon/program"
)

// tree makes files in a new directory and moves there.
func tree(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte("package p\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFind(t *testing.T) {
	tree(t, "a.aeon", "b.aeon", ".hidden.aeon", "_draft.aeon", "notes.txt", "x/c.aeon", "x/deep/d.aeon", "x/testdata/e.aeon", ".git/f.aeon", "_old/g.aeon", "empty/readme")
	if err := os.Symlink(filepath.Join("..", "a.aeon"), filepath.Join("empty", "link.aeon")); err != nil {
		t.Fatal(err)
	}
	root := program.Unit{Dir: ".", Files: []string{"a.aeon", "b.aeon"}}
	x := program.Unit{Dir: "x", Files: []string{"x/c.aeon"}}
	deep := program.Unit{Dir: "x/deep", Files: []string{"x/deep/d.aeon"}}
	linked := program.Unit{Dir: "empty", Files: []string{"empty/link.aeon"}}
	for _, tt := range []struct {
		args string
		want []program.Unit
	}{
		{"", []program.Unit{root}},
		{".", []program.Unit{root}},
		{"x", []program.Unit{x}},
		{"./x/", []program.Unit{x}},
		{"./...", []program.Unit{root, linked, x, deep}},
		{"...", []program.Unit{root, linked, x, deep}},
		{"x/...", []program.Unit{x, deep}},
		{"x/... x", []program.Unit{x, deep}},
		{"a.aeon", []program.Unit{{Dir: ".", Files: []string{"a.aeon"}}}},
		{"b.aeon a.aeon", []program.Unit{root}},
		{"a.aeon x/c.aeon", []program.Unit{{Dir: ".", Files: []string{"a.aeon"}}, x}},
	} {
		got, err := program.Find(strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%q: %v", tt.args, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.args, diff)
		}
	}
}

func TestFindNamesWhatIsMissing(t *testing.T) {
	tree(t, "notes.txt", "empty/readme", "dir.aeon/x")
	if err := os.Symlink("nowhere", "empty/broken"); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"":          "there are no .aeon files in the current directory",
		"empty":     "there are no .aeon files in empty",
		"missing":   "missing does not exist",
		"notes.txt": "notes.txt is not an .aeon file",
		"empty/...": "matches no packages",
		"gone/...":  "gone is not a directory",
		"dir.aeon":  "there are no .aeon files in dir.aeon",
	} {
		_, err := program.Find(strings.Fields(arg))
		var missing *program.NotFoundError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", arg, err, want)
		}
	}
}

func TestFindReportsALinkThatLeadsNowhere(t *testing.T) {
	tree(t, "a.aeon")
	if err := os.Symlink("nowhere", "b.aeon"); err != nil {
		t.Fatal(err)
	}
	if _, err := program.Find(nil); err == nil || !strings.Contains(err.Error(), "b.aeon") {
		t.Errorf("error %v", err)
	}
}
