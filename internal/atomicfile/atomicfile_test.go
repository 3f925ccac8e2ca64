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
