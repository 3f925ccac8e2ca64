package gobuild

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon"
)

// What `go env -w` has written decides what is compiled unless the environment does: an executable for another platform
// is another one, and what has nothing to do with that changes nothing.
func TestWrittenVariablesCount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	t.Setenv("GOENV", file)
	t.Setenv("GOARCH", "")
	t.Setenv("GOOS", "")
	found := func(written string) toolchain {
		t.Helper()
		if err := os.WriteFile(file, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
		golang, err := findGo(aeon.RuntimeSource().GoVersion)
		if err != nil {
			t.Fatal(err)
		}
		return golang
	}
	none, mips, windows := found(""), found("GOARCH=mips\n"), found("GOPROXY=off\nGOOS=windows\n")
	if none.id == mips.id || none.id == windows.id || mips.id == windows.id {
		t.Errorf("the ids are %s, %s and %s", none.id, mips.id, windows.id)
	}
	if got := windows.exeSuffix(); got != ".exe" {
		t.Errorf("executables of windows end in %q", got)
	}
	if proxy := found("# GOARCH=mips\nGOPROXY=off\n"); proxy != none {
		t.Errorf("%v and %v compile the same", proxy, none)
	}
	t.Setenv("GOARCH", "mips")
	if both := found("GOARCH=arm64\n"); both != mips {
		t.Errorf("the file decides: %v is not %v", both, mips)
	}
	t.Setenv("GOARCH", "")
	t.Setenv("GOENV", "off")
	if off := found("GOARCH=mips\n"); off != none {
		t.Errorf("a file that is not read decides: %v", off)
	}
}
