package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aeon-lang/aeon/internal/atomicfile"
)

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, strings.NewReader("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "f" {
		t.Errorf("the link leads to %q, error %v", to, err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "new" {
		t.Errorf("its target is %q, error %v", text, err)
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "missing", "f")
	err := atomicfile.Write(name, strings.NewReader(""), 0o640)
	if err == nil || !strings.Contains(err.Error(), name+":") {
		t.Errorf("error %v does not name %s", err, name)
	}
}

func TestWriteReplacesAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := atomicfile.Write(name, strings.NewReader("first"), 0o640); err != nil {
		t.Fatal(err)
	}
	broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("disk gone")))
	if err := atomicfile.Write(name, broken, 0o640); err == nil {
		t.Error("a source that fails gave no error")
	}
	text, err := os.ReadFile(name)
	if err != nil || string(text) != "first" {
		t.Errorf("the file is %q, error %v", text, err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left", len(entries))
	}
	if err := atomicfile.Write(filepath.Join(dir, "missing", "f"), strings.NewReader(""), 0o640); err == nil {
		t.Error("written into a directory that does not exist")
	}
}
