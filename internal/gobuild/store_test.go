package gobuild_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
)

// withStore is the tiny runtime with a store that needs a module of this repository, a small one.
func withStore() aeon.Runtime {
	rt, whole := tinyRuntime(), aeon.RuntimeSource()
	rt.Requirements, rt.Sums = whole.Requirements, whole.Sums
	rt.Hash = strings.Repeat("fedcba9876543210", 4)
	rt.Files = []aeon.SourceFile{
		{Path: "runtime/runtime.go", Data: []byte(`package runtime

import "fmt"

type Package struct{ Name string }

type Option func()

func WithStore(open func(string) string) Option { return func() { fmt.Println(open("data")) } }

func MainOf(entries ...any) {
	for _, o := range entries[1:] {
		o.(Option)()
	}
	fmt.Println("main of", entries[0].(*Package).Name)
}
`)},
		{Path: "runtime/node/node.go", Data: []byte(`package node

import (
	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime"
)

var Number = rapid.Int()

func Entry() any { return runtime.WithStore(func(dir string) string { return "opened " + dir }) }
`)},
	}
	return rt
}

// withoutNetwork hides from Go all modules but those in the directory cache.
func withoutNetwork(t *testing.T, cache string) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", cache)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestAProgramWithTheStoreTakesModulesFromTheCache(t *testing.T) {
	withoutNetwork(t, goEnv(t, "GOMODCACHE"))
	b := newBuilder(t)
	b.Runtime = withStore()
	var told []gobuild.First
	b.Progress = func(f gobuild.First) { told = append(told, f) }
	r, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank", Store: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, r); got != "opened data\nmain of bank\n" {
		t.Errorf("output %q", got)
	}
	plain, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, plain); plain.Path == r.Path || got != "main of bank\n" {
		t.Errorf("without the store: output %q", got)
	}
	if _, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "var X = 1\n")}, Name: "bank", Store: true}); err != nil {
		t.Fatal(err)
	}
	if len(told) != 3 || told[0] != (gobuild.First{Runtime: true, Store: true}) || told[1] != (gobuild.First{}) || told[2] != (gobuild.First{}) {
		t.Errorf("told of %+v", told)
	}
}

func TestMissingModulesNameTheRemedyAndConcernOnlyTheStore(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "mod")
	withoutNetwork(t, empty)
	b := newBuilder(t)
	b.Runtime = withStore()
	req := gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank", Store: true}
	_, err := b.Build(t.Context(), req)
	var missing *gobuild.StoreModulesError
	if !errors.As(err, &missing) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{empty, "GOPROXY=off", "once with a network", "pgregory.net/rapid", "a program that keeps its state in memory needs none"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
	req.Store = false
	if r, err := b.Build(t.Context(), req); err != nil || output(t, r) != "main of bank\n" {
		t.Errorf("without the store: %v", err)
	}
	if entries, err := os.ReadDir(empty); err == nil && len(entries) > 1 { // Go puts its own cache/ there
		t.Errorf("a program without the store has put %v into the module cache", entries)
	}
}

// A failure of a build that misses no module is not explained by missing modules.
func TestOtherFailuresAreNotBlamedOnModules(t *testing.T) {
	withoutNetwork(t, goEnv(t, "GOMODCACHE"))
	b := newBuilder(t)
	b.Runtime = withStore()
	_, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "var x int = \"s\"\n")}, Name: "bank", Store: true})
	var bug *gobuild.GeneratedCodeError
	if !errors.As(err, &bug) {
		t.Errorf("error %v", err)
	}
}

func TestAModuleCacheThatCannotBeWrittenIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(file, "mod")
	withoutNetwork(t, cache)
	b := newBuilder(t)
	b.Runtime = withStore()
	_, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank", Store: true})
	var refused *gobuild.ModuleCacheError
	if !errors.As(err, &refused) || refused.Cache != cache || !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), "set GOMODCACHE") {
		t.Fatalf("error %v", err)
	}
}
