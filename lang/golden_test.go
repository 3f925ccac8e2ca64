package lang_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

var update = flag.Bool("update", false, "rewrite what the golden files expect")

// golden runs f on the file "in.aeon" of every archive of a folder and
// compares its result with the file that is called name. A folder without
// archives fails.
func golden(t *testing.T, dir, name string, f func(t *testing.T, in []byte, comment string) string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "lang", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives in testdata/lang/%s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) == 0 || archive.Files[0].Name != "in.aeon" {
				t.Fatal("the first file must be in.aeon")
			}
			got := []byte(f(t, archive.Files[0].Data, string(archive.Comment)))
			if *update {
				archive.Files = []txtar.File{archive.Files[0], {Name: name, Data: got}}
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(archive.Files) != 2 || archive.Files[1].Name != name {
				t.Fatalf("the second file must be %s; run with -update", name)
			}
			if want := archive.Files[1].Data; !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// The trees of correct programs.
func TestGoldenSyntax(t *testing.T) {
	golden(t, "syntax", "tree", func(t *testing.T, in []byte, _ string) string {
		file, diags := lang.Parse("in.aeon", in)
		if len(diags) > 0 {
			t.Errorf("got %v", diags)
		}
		return ast.Dump(file)
	})
}

// The errors of wrong programs. The comment of an archive pins their number in
// a line "errors: N", so that one more is noticed when -update is used, too.
func TestGoldenErrors(t *testing.T) {
	golden(t, "errors", "errors", func(t *testing.T, in []byte, comment string) string {
		_, diags := lang.Parse("in.aeon", in)
		pinned := fmt.Sprintf("errors: %d\n", len(diags))
		if !strings.Contains(comment, pinned) {
			t.Errorf("the archive does not say %q: %v", pinned, diags)
		}
		var out strings.Builder
		if err := diag.WriteHuman(&out, diags, diag.HumanOptions{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	})
}

// The canonical layout of programs, which is its own canonical layout.
func TestGoldenFormat(t *testing.T) {
	golden(t, "format", "out.aeon", func(t *testing.T, in []byte, _ string) string {
		out, diags := lang.Format("in.aeon", in)
		if len(diags) > 0 {
			t.Fatalf("got %v", diags)
		}
		again, diags := lang.Format("out.aeon", out)
		if len(diags) > 0 || !bytes.Equal(out, again) {
			t.Errorf("formatted again: %v\n%s", diags, again)
		}
		return string(out)
	})
}

// The programs of testdata/lang are in canonical layout themselves.
func TestProgramsAreFormatted(t *testing.T) {
	for _, name := range []string{"everything.aeon", "steakhouse.aeon"} {
		text, err := os.ReadFile(filepath.Join("..", "testdata", "lang", name))
		if err != nil {
			t.Fatal(err)
		}
		out, diags := lang.Format(name, text)
		if len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		} else if !bytes.Equal(out, text) {
			t.Errorf("%s is formatted as\n%s", name, out)
		}
	}
}
