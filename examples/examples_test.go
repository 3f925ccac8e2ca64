// Package examples checks that every example is formatted, passes its own tests
// and runs to its end, as the README says.
package examples

import (
	"bytes"
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
			out := aeon("run", "--nodes", nodes, d.Name())
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("aeonc run --nodes %s %s does not print %q:\n%s", nodes, d.Name(), w, out)
				}
			}
		}
	}
	if ran != len(says) {
		t.Errorf("%d examples ran, %d are listed", ran, len(says))
	}
}
