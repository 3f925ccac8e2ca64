package gobuild

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages of the standard library are found everywhere, those of a module in its directories, and the rest has a reason.
func TestGoPackagesAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                "module example.com/app\n\ngo 1.26\n",
		"mail/mail.go":          "package mail\n\nfunc Send() {}\n",
		"internal/own/own.go":   "package own\n",
		"cmd/tool/main.go":      "package main\n\nfunc main() {}\n",
		"broken/broken.go":      "package broken\n\nfunc (\n",
		"strings/strings.go":    "package strings\n",
		"wrong/wrong.go":        "package wrong\n\nvar n int = \"\"\n",
		"below/deep/nothing.md": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"GO111MODULE": "on", "GOFLAGS": "", "GOWORK": "off"} {
		t.Setenv(name, value)
	}
	paths := map[string]string{ // the name of the package, or a part of the reason
		"strings": "strings", "math/rand/v2": "rand", "example.com/app/mail": "mail", "example.com/app/internal/own": "own",
		"internal/abi": "only Go's own code", "vendor/golang.org/x/net/idna": "only Go's own code",
		"example.com/app/cmd/tool": "it is a program", "example.com/app/broken": "Go does not find it, or does not compile it",
		"example.com/app/wrong": "Go does not find it, or does not compile it", "example.com/app/below/deep": "Go does not find it",
		"example.com/other": "Go does not find it", "-json": "Go does not find it", "app": "Go does not find it",
	}
	var list []string
	for path := range paths {
		list = append(list, path)
	}
	find := NewLoader().Go(dir, list)
	for path, want := range paths {
		pkg, err := find(path)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, not %q", path, err, want)
			}
		case pkg.Types.Name() != want || pkg.Standard != !strings.HasPrefix(path, "example.com/"):
			t.Errorf("%s: package %s, standard %v", path, pkg.Types.Name(), pkg.Standard)
		}
	}
}
