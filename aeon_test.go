package aeon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon"
)

// roots are the packages that generated code imports.
var roots = []string{"./runtime"}

// A program is compiled from the embedded files alone, so every package that
// the runtime reaches must be among them, as it is on disk, and none may come
// from a module that is not there.
func TestEmbeddedRuntimeIsComplete(t *testing.T) {
	args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}\t{{.Dir}}\t{{range .GoFiles}}{{.}} {{end}}{{end}}"}, roots...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	embedded := map[string]string{}
	for _, f := range aeon.RuntimeSource().Files {
		embedded[f.Path] = string(f.Data)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		packages++
		rel, ok := strings.CutPrefix(fields[0], aeon.ModulePath+"/")
		if !ok {
			t.Errorf("the runtime imports %s, which is neither of this module nor of the standard library", fields[0])
			continue
		}
		for name := range strings.FieldsSeq(fields[2]) {
			disk, err := os.ReadFile(filepath.Join(fields[1], name))
			if err != nil {
				t.Fatal(err)
			}
			if embedded[rel+"/"+name] != string(disk) {
				t.Errorf("%s/%s is imported by the runtime and not embedded", rel, name)
			}
		}
	}
	if packages == 0 {
		t.Fatal("go list named no package: the test checks nothing")
	}
}

func TestEmbeddedRuntimeLeavesTestsOut(t *testing.T) {
	rt := aeon.RuntimeSource()
	if len(rt.Files) == 0 || len(rt.Hash) != 64 || rt.GoVersion == "" {
		t.Fatalf("%d files, hash %q, Go %q", len(rt.Files), rt.Hash, rt.GoVersion)
	}
	for _, f := range rt.Files {
		if strings.HasSuffix(f.Path, "_test.go") || strings.Contains(f.Path, "testdata") {
			t.Errorf("%s is a test's and need not be shipped", f.Path)
		}
	}
}
