package aeon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon"
)

// A program is compiled from the embedded files alone, so every package that
// the runtime reaches must be among them, as it is on disk, and none may come
// from a module that is not there.
func TestEmbeddedRuntimeIsComplete(t *testing.T) {
	isEmbedded(t, aeon.ModulePath+"/runtime", func(pkg string) {
		t.Errorf("the runtime imports %s, which is neither of this module nor of the standard library", pkg)
	})
}

// The store may use other modules, those that this repository requires.
func TestEmbeddedStoreIsComplete(t *testing.T) {
	others := 0
	isEmbedded(t, aeon.GRPCPackage, func(string) { others++ }) // it imports StorePackage
	isEmbedded(t, aeon.ClusterPackage, func(string) { others++ })
	if others == 0 {
		t.Error("the store uses no other module: it need not be compiled apart")
	}
	for line := range strings.Lines(string(aeon.RuntimeSource().Requirements)) {
		if word, _, _ := strings.Cut(line, " "); word == "replace" || word == "exclude" || word == "module" || word == "toolchain" {
			t.Errorf("%q of go.mod means something else in the module of a program", line)
		}
	}
}

// isEmbedded checks that all packages of this module that pkg reaches, itself too, are embedded, and
// calls other for those of other modules.
func isEmbedded(t *testing.T, pkg string, other func(pkg string)) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}\t{{.Dir}}\t{{range .GoFiles}}{{.}} {{end}}{{end}}", pkg).Output()
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
		rel, ok := strings.CutPrefix(fields[0], aeon.ModulePath+"/")
		if !ok {
			other(fields[0])
			continue
		}
		packages++
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
		if strings.HasSuffix(f.Path, "_test.go") || strings.Contains(f.Path, "testdata") || strings.Contains(f.Path, "locktest") {
			t.Errorf("%s is a test's and need not be shipped", f.Path)
		}
	}
}
