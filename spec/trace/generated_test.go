package trace

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec/batch"
	random "github.com/aeon-lang/aeon/spec/generate"
)

// firstSeed is that of generated programs of which a few do all that the generator knows of.
const firstSeed = 80

// generated compiles generated programs, each third of several packages, into one executable.
func generated(t *testing.T, programs int) *batch.Executable {
	t.Helper()
	var list []batch.Program
	for seed := uint64(firstSeed); seed < firstSeed+uint64(programs); seed++ {
		packages := []random.Package{{Name: "generated", Text: random.Program(seed, random.Concurrent)}}
		if seed%3 == 0 {
			packages = random.Split(packages[0].Text, seed)
		}
		var sources []batch.Source
		for _, p := range packages {
			sources = append(sources, batch.Source{Package: p.Name, File: p.Name + ".aeon", Text: []byte(p.Text)})
		}
		p, diags := batch.ParseAll(fmt.Sprintf("traced-%d", seed), sources)
		if diag.HasErrors(diags) {
			t.Fatalf("seed %d: %v", seed, diags)
		}
		list = append(list, p)
	}
	c := batch.Compiler{Once: true}
	x, err := c.Compile(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Remove(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// TestGeneratedProgramsLeaveSoundTraces traces programs that do all that the generator knows of, in parallel and on schedules: the checker accepts what
// they leave, and refuses it with a mistake.
func TestGeneratedProgramsLeaveSoundTraces(t *testing.T) {
	programs, spoilt := 5, 2
	if *long {
		programs, spoilt = 500, 200
	}
	x := generated(t, programs)
	dir := t.TempDir()
	jobs := x.Jobs(0, 1)
	for i := range jobs {
		jobs[i].Simulated, jobs[i].Scheduled, jobs[i].Trace = true, jobs[i].Seed == 1, fmt.Sprintf("%s/%d", dir, i)
	}
	outcomes, err := x.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	total := Counts{}
	for i, o := range outcomes {
		what := fmt.Sprintf("%s, seed %d", x.Programs[o.Job.Program].Name, o.Job.Seed)
		if o.Hang != "" || o.Crash != "" {
			t.Errorf("%s: %s", what, batch.Text(&o))
			continue
		}
		n := sound(t, jobs[i].Trace, what)
		total.add(&n)
		if i < spoilt && n.Events > 0 {
			data, err := os.ReadFile(jobs[i].Trace)
			if err != nil {
				t.Fatal(err)
			}
			r := record(t, data)
			if rep, err := Check(bytes.NewReader(text(r.lines))); err != nil || rep.Violated() > 0 {
				t.Fatalf("%s, the trace itself: %v\n%s", what, err, said(t, rep))
			}
			refuse(t, append(r.mutants(), r.fieldMutants()...), 2)
		}
	}
	if total.Aborts == 0 || total.Timers == 0 || total.Callbacks == 0 || total.Subs == 0 {
		t.Errorf("the programs were not so busy: %+v", total)
	}
	t.Logf("%+v", total)
}
