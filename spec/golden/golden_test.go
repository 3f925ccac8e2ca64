package golden_test

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/spec/batch"
	"github.com/aeon-lang/aeon/spec/golden"
)

var (
	update = flag.Bool("update", false, "write the outcomes into the golden files")
	seeds  = flag.Int("seeds", 6, "how often each compiled program runs")
	stored = flag.Int("stored", 2, "how many of these runs are repeated on a store")
	stores = flag.Int("stores", 1, "how many of these runs are repeated on three stores")
	limit  = flag.Duration("limit", 0, "how long a compiled run may take, if not ten seconds: longer where others have the processors first")
	only   = flag.String("only", "", "the one program to run: the name of its file without .txtar")
)

// programsMin is how many golden programs there are at least.
const programsMin = 150

// TestGoldenPrograms runs testdata/semantics in every order, and compiled with many seeds.
func TestGoldenPrograms(t *testing.T) {
	cases := load(t)
	if len(cases) < programsMin && *only == "" {
		t.Errorf("there are %d golden programs, and should be at least %d", len(cases), programsMin)
	}
	told := map[string]int{} // by the format
	doing := func(format string, _ ...any) { told[format]++ }
	results, err := golden.Run(t.Context(), cases, golden.Options{Seeds: *seeds, Update: *update, Stored: *stored, Stores: *stores, LimitMS: limit.Milliseconds(), Compiler: batch.Compiler{Replicated: replicatest.Asked()}, Doing: doing})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) < 3 && *only == "" {
		t.Errorf("what takes time is told in %d ways, %v: orders, compiling and running", len(told), told)
	}
	var sum across.Counts
	var orders, states, runs, allowed, seen int
	for i := range results {
		r := &results[i]
		sum.Add(r.Across)
		orders, states, runs, allowed, seen = orders+r.Orders, states+r.States, runs+r.Runs, allowed+len(r.Case.Outcomes), seen+r.Outcomes
		t.Run(r.Case.Name(), func(t *testing.T) {
			for _, p := range r.Problems {
				t.Error(p)
			}
			t.Log(r.Summary())
		})
	}
	if *stores > 0 && *only == "" && (sum.Wide < int64(len(cases)**stores) || sum.Withdrawn == 0 || sum.Calls < sum.Wide || sum.Prepared == 0) {
		t.Errorf("too little has happened over several stores: %+v", sum)
	}
	t.Logf("%d programs, %d serial orders, %d states, %d compiled runs, which had %d of the %d allowed outcomes; over several stores: %+v", len(cases), orders, states, runs, seen, allowed, sum)
}

func load(t *testing.T) (cases []*golden.Case) {
	t.Helper()
	paths, err := golden.Find([]string{filepath.Join("..", "..", "testdata", "semantics")})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if *only != "" && filepath.Base(p) != *only+".txtar" {
			continue
		}
		c := golden.Load(p)
		if len(c.Rules) == 0 {
			t.Errorf("%s names no rule in its comment", p)
		}
		if c.Outcomes == nil && c.Errors == "" && !*update {
			t.Errorf("%s expects nothing; -update writes what the interpreter says", p)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("there is no program %q", *only)
	}
	return cases
}
