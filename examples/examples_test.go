// Package examples checks that every example is formatted, passes its own tests
// and runs to its end, as the README says.
package examples

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
)

// says has what a run of each example must print, whatever the order of its events.
var says = map[string][]string{
	"accumulator":  {"it was 0, it is 120"},
	"bank":         {"in the bank: 400", "refused: ann has ", "eve: 30, fay: 70"},
	"binarytree":   {"planted: 1023 nodes", "took 9010 steps, and the nodes counted 9010 visits"},
	"btree":        {"400 removed: ", " leaves, values: 100", "a stale cache finds all: 100"},
	"hotel":        {" of 20 were lucky; the hotel has "},
	"metadata":     {"  home/eve/note1 (100 bytes)", "  tmp/note2 (200 bytes)", "refused: ownership cycle"},
	"philosophers": {"all 5 have eaten", "meals: 50"},
	"queue":        {"job 5, 0 left\nempty\n"},
	"shop":         {"lamp: 3 in stock\nnotebook: 12 in stock\npen: 40 in stock\n"},
	"steakhouse": {"the house is open: 10 grills, 4 cooks", "an order was undone: only 1 of 3 grills are free",
		"orders undone: 3, steaks ordered: 9, served: 9, on the grills: 0"},
	"wordcount": {"fish: 8\nmore: 4\nthe: 4\nyou: 4\n"},
}

// slow are examples in which hundreds of events wait at once, which takes long one step at a time: on several nodes their tests run alone.
var slow = map[string]bool{"binarytree": true, "btree": true}

// aeonc is the compiler, built once for all tests.
var aeonc string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "aeonc")
	if err != nil {
		log.Fatal(err)
	}
	aeonc = filepath.Join(dir, "aeonc")
	code := 1
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", aeonc, "../cmd/aeonc").CombinedOutput(); err != nil {
		log.Printf("building aeonc: %v\n%s", err, out)
	} else {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func TestExamples(t *testing.T) {
	aeon := func(args ...string) (stdout string) {
		t.Helper()
		var out, diagnostics bytes.Buffer
		cmd := exec.Command(aeonc, args...)
		cmd.Stdout, cmd.Stderr = &out, &diagnostics
		if err := cmd.Run(); err != nil {
			t.Errorf("aeonc %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), diagnostics.String())
		}
		return out.String()
	}
	aeon("fmt", "--check", "./...")
	if out := aeon("test", "./..."); !strings.Contains(out, ", 0 failed in 11 packages") {
		t.Errorf("aeonc test ./...:\n%s", out)
	}
	if out := aeon("test", "--nodes", "3", "--schedules", "5", "./..."); !strings.Contains(out, ", 0 failed in 11 packages") || strings.Contains(out, "over several stores: 0 events") {
		t.Errorf("aeonc test --nodes 3 ./...:\n%s", out)
	}
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	all := executable(t)
	ran := 0
	for _, d := range dirs {
		if sources, err := filepath.Glob(filepath.Join(d.Name(), "*.aeon")); err != nil || len(sources) == 0 {
			continue // not an example, or one in Go
		}
		want, ok := says[d.Name()]
		if !ok {
			t.Errorf("says has no line for the example %s", d.Name())
			continue
		}
		ran++
		for _, nodes := range []string{"1", "3"} {
			if nodes == "3" && slow[d.Name()] {
				continue
			}
			var stdout, diagnostics bytes.Buffer
			cmd := exec.Cmd{Path: all, Args: []string{d.Name(), "--nodes", nodes}, Stdout: &stdout, Stderr: &diagnostics}
			if err := cmd.Run(); err != nil {
				t.Errorf("%s --nodes %s: %v\n%s%s", d.Name(), nodes, err, stdout.String(), diagnostics.String())
			}
			out := stdout.String()
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("%s --nodes %s does not print %q:\n%s", d.Name(), nodes, w, out)
				}
			}
		}
	}
	if ran != len(says) {
		t.Errorf("%d examples ran, %d are listed", ran, len(says))
	}
}

// executable makes one executable of all examples, which runs the one by whose name it is started, on several nodes too: to compile each by itself
// for one node and for three would be a link for each. `aeonc run` of each of them is a step of .ci/run.
func executable(t *testing.T) string {
	req := gobuild.Request{Name: "examples", Quick: true}
	var imports, cases strings.Builder
	for i, name := range slices.Sorted(maps.Keys(says)) {
		units, err := load.Find([]string{name})
		if err != nil || len(units) != 1 {
			t.Fatalf("%s is %d packages: %v", name, len(units), err)
		}
		pkg, err := gobuild.NewLoader().Load(units[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(pkg.Closure()) != 1 {
			t.Fatalf("%s imports others", name)
		}
		made, err := gobuild.Generate(pkg, true)
		if err != nil {
			t.Fatal(err)
		}
		req.Packages = append(req.Packages, made)
		fmt.Fprintf(&imports, "\tp%d %q\n", i, made.ImportPath())
		fmt.Fprintf(&cases, "\tcase %q:\n\t\taeonrt.MainOf(p%d.AeonEntry(), nodes.Entry())\n", name, i)
	}
	req.Main = fmt.Appendf(nil, `package main

import (
	"os"

	aeonrt %q
	nodes %q

%s)

func main() {
	switch os.Args[0] {
%s	default:
		panic("there is no example " + os.Args[0])
	}
}
`, aeon.ModulePath+"/runtime", aeon.NodesPackage, &imports, &cases)
	cache, err := gobuild.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	b := gobuild.Builder{Cache: cache, Runtime: aeon.RuntimeSource()}
	made, err := b.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return made.Path
}
