package gobuild

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/typecheck"
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
		"astray/astray.go":      "package astray\n\nimport _ \"example.com/lost\"\n",
		"far/far.go":            "package far\n\nimport _ \"example.com/app/astray\"\n",
		"uses/uses.go":          "package uses\n\nimport _ \"example.com/app/broken\"\n",
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
		"example.com/app/cmd/tool": "it is a program", "example.com/app/broken": "Go does not compile it: ",
		"example.com/app/wrong": "wrong/wrong.go:3:13: cannot use", "example.com/app/below/deep": "Go says: no required module provides",
		"example.com/app/astray": "astray/astray.go:3:8: no required module provides package example.com/lost",
		"example.com/app/far":    "astray/astray.go:3:8: no required module provides package example.com/lost",
		"example.com/app/uses":   "Go does not compile it: ",
		"example.com/other":      "Go says: no required module provides package example.com/other", "-json": "Go says: malformed import path", "app": "Go does not find it",
	}
	var list []string
	for path := range paths {
		list = append(list, path)
	}
	remedies := map[string]string{
		"example.com/app/astray": "run `go mod tidy` in ", "example.com/app/far": "run `go mod tidy` in ", "example.com/other": "run `go get example.com/other` in ",
		"example.com/app/below/deep": "no Go code is there",
	}
	find := NewLoader().Go(dir, list)
	for path, want := range paths {
		pkg, err := find(path)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, not %q", path, err, want)
			}
			var e *typecheck.GoError
			remedy := ""
			if errors.As(err, &e) {
				remedy = e.Remedy
			}
			if want := remedies[path]; want == "" && remedy != "" || !strings.Contains(remedy, want) {
				t.Errorf("%s: the remedy is %q, not %q", path, remedy, want)
			}
		case pkg.Types.Name() != want || pkg.Standard != !strings.HasPrefix(path, "example.com/"):
			t.Errorf("%s: package %s, standard %v", path, pkg.Types.Name(), pkg.Standard)
		}
	}
}

// Whether Go compiles with C is the user's choice where their own packages are compiled, and without it elsewhere: no program needs a C compiler.
func TestOnlyPackagesOfTheUserMayHaveC(t *testing.T) {
	t.Setenv("CGO_ENABLED", "1")
	golang, cache := toolchain{path: "go"}, &Cache{t.TempDir()}
	last := func(cmd *exec.Cmd) (value string) {
		for _, v := range cmd.Env { // the last counts
			if after, ok := strings.CutPrefix(v, "CGO_ENABLED="); ok {
				value = after
			}
		}
		return value
	}
	if got := last(golang.command(t.Context(), cache, "build")); got != "0" {
		t.Errorf("a program of Aeon alone is compiled with CGO_ENABLED=%s", got)
	}
	if got := last(golang.inWorkspace(t.Context(), cache, layout{places: []*Place{{}}}, "work", "build")); got != "1" {
		t.Errorf("a program with packages of the user is compiled with CGO_ENABLED=%s, and the user has set 1", got)
	}
}

// A module is the same by whatever name it is reached, and so is what its code may import.
func TestAModuleMayBeReachedByALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(real, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(real, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o666), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"GO111MODULE": "on", "GOFLAGS": "", "GOWORK": "off"} {
		t.Setenv(name, value)
	}
	t.Chdir(filepath.Join(link, "sub"))
	p, err := findPlace(filepath.Join(real, "sub")) // as load names it, whatever the user is in
	if err != nil {
		t.Fatal(err)
	}
	if p.path != "example.com/m/sub" || p.dir != filepath.Join(real, "sub") || !p.mayImport("example.com/m/sub/internal/x") {
		t.Errorf("the code is at %s in %s", p.path, p.dir)
	}
}
