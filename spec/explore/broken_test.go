package explore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata/explore")

func loadProgram(t testing.TB, file string) *spec.Program {
	t.Helper()
	p, err := load.NewLoader().Load(load.Unit{Dir: filepath.Dir(file), Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	if diag.HasErrors(p.Diagnostics) {
		t.Fatal(p.Diagnostics)
	}
	return spec.Load(p)
}

// TestBrokenExamples explores copies of examples with a mistake in them. The order that
// shows it is the shortest, and runs again by its code.
func TestBrokenExamples(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("..", "..", "testdata", "explore", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("testdata/explore holds no archives (%v)", err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(archive)
			if err != nil || len(a.Files) != 2 {
				t.Fatalf("want a program and what is wrong with it (%v)", err)
			}
			file := filepath.Join(t.TempDir(), a.Files[0].Name)
			if err := os.WriteFile(file, a.Files[0].Data, 0o644); err != nil {
				t.Fatal(err)
			}
			p := loadProgram(t, file)
			got := ""
			for _, e := range p.Tests() {
				got += describe(t, p, e)
			}
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(archive, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(a.Files[1].Data) {
				t.Errorf("found\n%s\nwant\n%s", got, a.Files[1].Data)
			}
		})
	}
}

func describe(t *testing.T, p *spec.Program, e spec.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", e.Name)
	r := Run(p, e, Config{})
	if r.Failing == nil {
		fmt.Fprintf(&b, "\tcomplete: %t, %d orders, %d states\n", r.Complete, r.Orders, r.States)
		return b.String()
	}
	if !r.Shortest {
		t.Errorf("%s: the order is not the shortest", e.Name)
	}
	for i, s := range r.Failing.Steps {
		fmt.Fprintf(&b, "%5d  %s\n", i+1, s)
	}
	fmt.Fprintf(&b, "\t%s at %s\n\treplay %s\n", r.Failing.Failure.Msg, r.Failing.Failure.Trace(), r.Code)
	choices, err := Decode(r.Code)
	if err != nil {
		t.Fatal(err)
	}
	again := p.Run(e, &spec.Replay{Choices: choices}, spec.Options{StopAtFailure: true})
	if again.Failure == nil || again.Failure.Msg != r.Failing.Failure.Msg || len(again.Steps) != len(r.Failing.Steps) {
		t.Errorf("%s: the code runs another order: %v", e.Name, again.Steps)
	}
	return b.String()
}

// TestExamplesAreCovered explores every test of every example to the end, and wants one of each that
// has several orders.
func TestExamplesAreCovered(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "*.aeon"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples holds no programs (%v)", err)
	}
	for _, file := range files {
		p := loadProgram(t, file)
		several := false
		for _, e := range p.Tests() {
			r := Run(p, e, Config{StatesMax: 20_000})
			if !r.Complete {
				t.Errorf("%s: %s is not covered: %s %v", file, e.Name, r.Incomplete, r.Failing)
				continue
			}
			several = several || r.Orders.IsInt64() && r.Orders.Int64() > 1 || !r.Orders.IsInt64()
			t.Logf("%-16s %-62s %6d states %6d steps %8s orders, %v", filepath.Base(file), e.Name, r.States, r.Steps, r.Orders, r.Took)
		}
		if !several {
			t.Errorf("%s has no test with several orders", file)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, choices := range [][]int{nil, {0, 0}, {1}, {0, 3, 0, 35, 36, 0, 1000, 2, 0}} {
		code := Encode(choices)
		back, err := Decode(code)
		if err != nil || Encode(back) != code {
			t.Errorf("%v became %q, then %v (%v)", choices, code, back, err)
		}
	}
	for _, code := range []string{"A", "1(", "(x)", "(-1)", "1 2"} {
		if _, err := Decode(code); err == nil {
			t.Errorf("%q is taken for a code", code)
		}
	}
}
