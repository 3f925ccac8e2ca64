package gobuild_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
)

// tinyRuntime stands in for the runtime where a test is about building.
func tinyRuntime() aeon.Runtime {
	return aeon.Runtime{
		GoVersion: "1.26",
		Hash:      strings.Repeat("0123456789abcdef", 4),
		Files: []aeon.SourceFile{{Path: "runtime/runtime.go", Data: []byte(`package runtime

import "fmt"

type Package struct{ Name string }

func MainOf(entries ...any)     { fmt.Println("main of", entries[0].(*Package).Name) }
func MainTestOf(entries ...any) { for _, e := range entries { fmt.Println("tests of", e.(*Package).Name) } }
`)}},
	}
}

func packageNamed(name, dir, extra string) gobuild.Package {
	src := "package " + name + "\n\nimport aeonrt \"github.com/aeon-lang/aeon/runtime\"\n\nvar AeonPackage = aeonrt.Package{Name: \"" + name + "\"}\n\nfunc AeonEntry() any { return &AeonPackage }\n" + extra
	return gobuild.Package{Name: name, Dir: dir, Files: []gobuild.File{{Name: "a.go", Data: []byte(src)}}}
}

func newBuilder(t *testing.T) *gobuild.Builder {
	return &gobuild.Builder{Cache: gobuild.NewCache(filepath.Join(t.TempDir(), "cache")), Runtime: tinyRuntime()}
}

func output(t *testing.T, r gobuild.Result) string {
	t.Helper()
	out, err := exec.Command(r.Path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestBuildMakesAProgramOnce(t *testing.T) {
	b := newBuilder(t)
	req := gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"}
	first, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, first); first.Cached || got != "main of bank\n" {
		t.Errorf("first build: cached %v, output %q", first.Cached, got)
	}
	second, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !second.Cached || second.Path != first.Path {
		t.Errorf("second build: cached %v, %s instead of %s", second.Cached, second.Path, first.Path)
	}
	req.Packages[0] = packageNamed("bank", "/src/bank", "var X = 1\n")
	if edited, err := b.Build(t.Context(), req); err != nil || edited.Cached {
		t.Errorf("after an edit: cached %v, error %v", edited.Cached, err)
	}
}

// Suites of thousands of programs that are run once must not fill the disk. A package that others are built with at the
// same time stays.
func TestOfWhatIsBuiltOnceNothingStays(t *testing.T) {
	marker, start, cache := "a text that occurs nowhere else, "+rand.Text(), time.Now().Add(-time.Minute), goEnv(t, "GOCACHE")
	// Others use Go's cache, too: only new files are read, and any may vanish. It has many files in few directories, of which a new file
	// changes the time.
	kept := func(dir string) (n int) {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && name != dir {
				return nil
			}
			if err != nil || name == dir {
				return err
			}
			info, err := d.Info()
			switch old := err != nil || info.ModTime().Before(start); {
			case old && d.IsDir() && filepath.Dir(name) == cache:
				return fs.SkipDir
			case old || d.IsDir():
				return nil
			}
			if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(marker)) {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := 0
	for _, test := range []struct{ once, shared bool }{{false, false}, {true, false}, {true, true}} {
		b := newBuilder(t)
		bank := packageNamed("bank", "/src/bank", fmt.Sprintf("func Text() string { return %q + %q }\n", marker, fmt.Sprint(test)))
		bank.Shared = test.shared
		r, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{bank}, Name: "bank", Once: test.once})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exec.Command(r.Path).Output(); err != nil {
			t.Fatal(err)
		}
		now := kept(cache)
		if got := now - before; (got > 0) != (!test.once || test.shared) {
			t.Errorf("built with %+v: Go's cache has %d files of the program more than before", test, got)
		}
		before = now
		if err := r.Remove(); err != nil {
			t.Fatal(err)
		}
		if n := kept(b.Cache.Dir()); n > 0 {
			t.Errorf("%d files of a program that was removed are in the cache", n)
		}
	}
}

func TestBuildPutsManyTestPackagesInOneExecutable(t *testing.T) {
	b := newBuilder(t)
	// Two packages of one name in two directories are two packages.
	other := packageNamed("bank", "/b/bank", "")
	other.Files[0].Data = bytes.Replace(other.Files[0].Data, []byte(`"bank"`), []byte(`"the other bank"`), 1)
	r, err := b.Build(t.Context(), gobuild.Request{Kind: gobuild.Tests, Name: "tests", Packages: []gobuild.Package{
		packageNamed("bank", "/a/bank", ""), other, packageNamed("tree", "/a/tree", ""),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, r); got != "tests of bank\ntests of the other bank\ntests of tree\n" {
		t.Errorf("output %q", got)
	}
}

// A cache is the same by whatever name it is reached: Go would tell a directory that a link leads to by another one.
func TestACacheMayLieBehindALink(t *testing.T) {
	withoutNetwork(t, goEnv(t, "GOMODCACHE"))
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o777), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	b := &gobuild.Builder{Cache: gobuild.NewCache(filepath.Join(link, "cache")), Runtime: withStore()}
	for _, req := range []gobuild.Request{{Name: "once", Once: true}, {Name: "plain"}, {Name: "store", Store: true}} {
		req.Packages = []gobuild.Package{packageNamed("bank", "/src/bank", "")}
		r, err := b.Build(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", req.Name, err)
			continue
		}
		if got := output(t, r); !strings.HasSuffix(got, "main of bank\n") {
			t.Errorf("%s: output %q", req.Name, got)
		}
	}
	if err := b.Vet(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}}); err != nil {
		t.Errorf("vet: %v", err)
	}
}

// A program may have the name of anything that lies beside it in the cache.
func TestAProgramMayHaveAnyName(t *testing.T) {
	b := newBuilder(t)
	for _, name := range []string{"lock", "src", "bin"} {
		r, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed(name, "/src/"+name, "")}, Name: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := output(t, r), "main of "+name+"\n"; r.Cached || got != want || filepath.Base(r.Path) != name {
			t.Errorf("%s: cached %v, %s, output %q", name, r.Cached, r.Path, got)
		}
	}
}

func TestConcurrentBuildsShareACache(t *testing.T) {
	b := newBuilder(t)
	var wg sync.WaitGroup
	var made atomic.Int32
	for i := range 6 {
		wg.Go(func() {
			name := []string{"ann", "bob"}[i%2]
			r, err := b.Build(context.Background(), gobuild.Request{Packages: []gobuild.Package{packageNamed(name, "/src/"+name, "")}, Name: name})
			if err != nil {
				t.Error(err)
				return
			}
			if !r.Cached {
				made.Add(1)
			}
			if out, err := exec.Command(r.Path).Output(); err != nil || string(out) != "main of "+name+"\n" {
				t.Errorf("%s: output %q, error %v", name, out, err)
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n != 2 {
		t.Errorf("two executables were made %d times", n)
	}
}

func TestBuildRepairsADamagedCache(t *testing.T) {
	b := newBuilder(t)
	req := gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"}
	r, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var damaged int
	err = filepath.WalkDir(b.Cache.Dir(), func(name string, d os.DirEntry, err error) error {
		if err == nil && (filepath.Base(name) == "runtime.go" || filepath.Base(name) == "a.go") {
			damaged++
			return os.WriteFile(name, []byte("broken"), 0o666)
		}
		return err
	})
	if err != nil || damaged != 2 {
		t.Fatalf("damaged %d files: %v", damaged, err)
	}
	if err := os.Remove(r.Path); err != nil {
		t.Fatal(err)
	}
	again, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, again); got != "main of bank\n" {
		t.Errorf("output %q", got)
	}
}

func TestGeneratedCodeThatDoesNotCompileIsKept(t *testing.T) {
	b := newBuilder(t)
	_, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "var x int = \"s\"\n")}, Name: "bank"})
	var bug *gobuild.GeneratedCodeError
	if !errors.As(err, &bug) {
		t.Fatalf("error %v", err)
	}
	kept, _ := filepath.Glob(filepath.Join(bug.Dir, "*", "bank", "a.go"))
	if len(kept) != 1 || !strings.Contains(bug.Output, "cannot use \"s\"") {
		t.Errorf("kept %v, output %q", kept, bug.Output)
	}
}

func TestMissingAndOldToolchainsNameTheRemedy(t *testing.T) {
	req := gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	check := func(want string) {
		t.Helper()
		_, err := newBuilder(t).Build(t.Context(), req)
		var missing *gobuild.ToolchainError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "https://go.dev/dl/") {
			t.Errorf("error %v, want one with %q and where to get Go", err, want)
		}
	}
	check("no Go toolchain found")
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho go1.19.3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("is go1.19.3, and aeonc needs Go 1.26 or newer")

	// What the root of Go says of itself is believed: to run it would take longer.
	root := t.TempDir()
	for name, text := range map[string]string{"VERSION": "go1.20.1\ntime 2023-02-01T00:00:00Z\n", "bin/go": "#!/bin/sh\necho go1.30\n"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(root, "bin"))
	for _, other := range []string{"", root} {
		t.Setenv("GOROOT", other)
		check("is go1.20.1, and aeonc needs Go 1.26 or newer")
	}
}

func TestAnUnusableCacheNamesTheRemedy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	b := &gobuild.Builder{Cache: gobuild.NewCache(filepath.Join(file, "cache")), Runtime: tinyRuntime()}
	_, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"})
	var unusable *gobuild.CacheError
	if !errors.As(err, &unusable) || !strings.Contains(err.Error(), gobuild.EnvCache) {
		t.Errorf("error %v", err)
	}
}

func TestCleanDeletesOnlyACache(t *testing.T) {
	b := newBuilder(t)
	if _, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"}); err != nil {
		t.Fatal(err)
	}
	if freed, err := b.Cache.Clean(); err != nil || freed < 1<<20 {
		t.Errorf("freed %d bytes, error %v", freed, err)
	}
	if _, err := os.Stat(b.Cache.Dir()); !os.IsNotExist(err) {
		t.Errorf("the cache is still there: %v", err)
	}
	home := t.TempDir()
	precious := filepath.Join(home, "thesis.txt")
	if err := os.WriteFile(precious, []byte("years"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := gobuild.NewCache(home).Clean(); err == nil {
		t.Error("a directory that is no cache was deleted")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestCopyToReplacesWholeFiles(t *testing.T) {
	b := newBuilder(t)
	r, err := b.Build(t.Context(), gobuild.Request{Packages: []gobuild.Package{packageNamed("bank", "/src/bank", "")}, Name: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "bank")
	if err := os.WriteFile(out, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.CopyTo(out); err != nil {
		t.Fatal(err)
	}
	if got, err := exec.Command(out).Output(); err != nil || string(got) != "main of bank\n" {
		t.Errorf("output %q, error %v", got, err)
	}
	if err := r.CopyTo(filepath.Join(t.TempDir(), "missing", "bank")); err == nil {
		t.Error("copied into a directory that does not exist")
	}
}
