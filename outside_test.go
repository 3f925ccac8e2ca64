package aeon_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon"
)

// TestFromOutside does what a user does in a module of their own: requires this one, generates, builds, runs, kills, and
// runs again.
func TestFromOutside(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	do := func(args ...string) {
		t.Helper()
		if out, err := run("go", args...); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	rt := aeon.RuntimeSource()
	write("go.mod", "module example.com/outside\n"+string(rt.Requirements)+ // no network is needed then
		"\nrequire "+aeon.ModulePath+" v0.0.0\nreplace "+aeon.ModulePath+" => "+root+"\ntool "+aeon.ModulePath+"/cmd/aeonc\n")
	write("go.sum", string(rt.Sums))
	for from, to := range map[string]string{"main.go": "main.go", "shop.aeon": "shop/shop.aeon", "stock.aeon": "stock/stock.aeon"} {
		text, err := os.ReadFile(filepath.Join("testdata", "outside", from))
		if err != nil {
			t.Fatal(err)
		}
		write(to, string(text))
	}
	do("tool", "aeonc", "gen", "./shop")
	do("tool", "aeonc", "gen", "--check", "./shop")
	write("shop/other.aeon", "package shop\n\nactorclass Other { yield Other? next; void take(yield Other o) { next = o; } }\n")
	if out, err := run("go", "tool", "aeonc", "gen", "--check", "./shop"); err == nil || !strings.Contains(out, "other_aeon.go is not what aeonc generates") {
		t.Errorf("gen --check: %v\n%s", err, out)
	}
	do("tool", "aeonc", "gen", "./shop")
	do("vet", "./...")
	program := filepath.Join(dir, "outside")
	do("build", "-ldflags=-s -w", "-o", program, ".")
	if out, err := run(program, "kill"); err == nil || out != "" {
		t.Fatalf("the program was not killed: %v\n%s", err, out)
	}
	const want = `0 [{"Name":"tea","Count":2,"Size":"LARGE"}] <nil>` + "\n"
	if out, err := run(program); err != nil || out != want {
		t.Errorf("after it was killed the program says %s (%v); it should say %s", out, err, want)
	}
	write("wrong/wrong.go", `package wrong

import "example.com/outside/shop"

func Wrong(a shop.Shop, b shop.Other) { b.Take(nil, a) }
`)
	if out, err := run("go", "build", "./wrong"); err == nil || !strings.Contains(out, "cannot use a") {
		t.Errorf("a reference of the wrong class compiles: %v\n%s", err, out)
	}

	// The linker leaves the sources out of programs that do not ask for them, as this test does.
	text := rt.Files[0].Data
	for name, has := range map[string]bool{program: false, os.Args[0]: true} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, text) != has {
			t.Errorf("%s has the source of %s: %v", name, rt.Files[0].Path, !has)
		}
	}
}
