package load_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aeon-lang/aeon/internal/load"
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
	if err := os.Symlink("x", "y"); err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := load.Unit{Dir: ".", Files: []string{"a.aeon", "b.aeon"}}
	x := load.Unit{Dir: "x", Files: []string{"x/c.aeon"}}
	deep := load.Unit{Dir: "x/deep", Files: []string{"x/deep/d.aeon"}}
	linked := load.Unit{Dir: "empty", Files: []string{"empty/link.aeon"}}
	for _, tt := range []struct {
		args string
		want []load.Unit
	}{
		{"", []load.Unit{root}},
		{".", []load.Unit{root}},
		{"x", []load.Unit{x}},
		{"./x/", []load.Unit{x}},
		{"./...", []load.Unit{root, linked, x, deep}},
		{"...", []load.Unit{root, linked, x, deep}},
		{"x/...", []load.Unit{x, deep}},
		{"x/... x", []load.Unit{x, deep}},
		{"x x/deep x/...", []load.Unit{x, deep}},
		{"a.aeon", []load.Unit{{Dir: ".", Files: []string{"a.aeon"}}}},
		{"b.aeon a.aeon", []load.Unit{root}},
		{"y/...", []load.Unit{{Dir: "y", Files: []string{"y/c.aeon"}}, {Dir: "y/deep", Files: []string{"y/deep/d.aeon"}}}},
		{". " + wd, []load.Unit{root}}, // a directory is one by all of its names
		{"b.aeon " + filepath.Join(wd, "a.aeon") + " " + filepath.Join(wd, "b.aeon"), []load.Unit{root}},
		{"y x", []load.Unit{{Dir: "y", Files: []string{"y/c.aeon"}}}},
		{"a.aeon x/c.aeon", []load.Unit{{Dir: ".", Files: []string{"a.aeon"}}, x}},
	} {
		got, err := load.Find(strings.Fields(tt.args))
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
		_, err := load.Find(strings.Fields(arg))
		var missing *load.NotFoundError
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
	if _, err := load.Find(nil); err == nil || !strings.Contains(err.Error(), "b.aeon") {
		t.Errorf("error %v", err)
	}
}
