package golden

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/spec/batch"
	"github.com/aeon-lang/aeon/typecheck"
)

// Options say how cases are run.
type Options struct {
	Seeds    int    // how often the compiled program runs, each time with another schedule
	First    uint64 // the first seed; 0 is the undisturbed schedule
	Stored   int    // so many of the seeds run on a store, too
	Update   bool   // write what the interpreter and the checker say into the files
	Compiler batch.Compiler
}

// Result is what came of one case.
type Result struct {
	Case     *Case
	Problems []string // empty: it has passed
	Orders   int      // serial orders, at most math.MaxInt32; those that differ in steps that do not meet are one
	States   int      // states that it has seen
	Runs     int      // of the compiled program
	Outcomes int      // different outcomes that these had
}

// Run runs all cases; the results are in their order. The error says that running was not possible.
func Run(ctx context.Context, cases []*Case, o Options) ([]Result, error) {
	results := make([]Result, len(cases))
	var programs []batch.Program
	var owner []*Result // of programs
	for i, c := range cases {
		r := &results[i]
		r.Case = c
		info, said, err := c.check()
		switch {
		case err != nil:
			r.problem("%v", err)
			continue
		case said != c.Errors:
			if err := r.says(said, o.Update); err != nil {
				return nil, err
			}
		}
		if info == nil {
			continue
		}
		if err := r.interpret(info, o.Update); err != nil {
			return nil, err
		}
		programs = append(programs, batch.Program{Name: fmt.Sprintf("golden/%s", c.Name()), Units: []*typecheck.Info{info}})
		owner = append(owner, r)
	}
	if len(programs) == 0 || o.Seeds == 0 {
		return results, nil
	}
	o.Compiler.Stored = o.Stored > 0
	x, err := o.Compiler.Compile(ctx, programs)
	if err != nil {
		return nil, err
	}
	seeds := make([]uint64, o.Seeds)
	for i := range seeds {
		seeds[i] = o.First + uint64(i)
	}
	jobs := x.Jobs(seeds...)
	plain := len(jobs)
	jobs = append(jobs, x.Jobs(seeds[:min(o.Stored, len(seeds))]...)...)
	for i := range jobs {
		jobs[i].Simulated = true
		jobs[i].Stored = i >= plain
		jobs[i].Scheduled = jobs[i].Seed%2 == 1 // else in parallel, as in production
	}
	outcomes, err := x.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	seen := make([]map[string]bool, len(programs))
	for i := range outcomes {
		p := jobs[i].Program
		if seen[p] == nil {
			seen[p] = map[string]bool{}
		}
		owner[p].compiled(&outcomes[i], seen[p])
	}
	return results, nil
}

func (r *Result) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// says takes what the checker says of a program, which is something else than the file does.
func (r *Result) says(said string, update bool) error {
	if update {
		r.Case.Errors = said
		if refuses(said) {
			r.Case.Outcomes = nil
		}
		return r.Case.write()
	}
	r.problem("the checker says\n%sand is expected to say\n%s", indent(said), indent(r.Case.Errors))
	return nil
}

// compiled checks one run of the compiled program.
func (r *Result) compiled(o *batch.Outcome, seen map[string]bool) {
	r.Runs++
	got := batch.Text(o)
	if seen[got] {
		return
	}
	seen[got] = true
	r.Outcomes++
	if !slices.Contains(r.Case.Outcomes, got) {
		on := ""
		if o.Job.Stored {
			on = ", on a store"
		}
		r.problem("compiled, with seed %d%s: no order of the events allows the outcome\n%s", o.Job.Seed, on, indent(got))
	}
}

func indent(text string) string {
	if text == "" {
		return "    (nothing)\n"
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// Summary says what was done, in a few words.
func (r *Result) Summary() string {
	if r.Case.Errors != "" && r.Runs == 0 {
		return "refused, as expected"
	}
	return fmt.Sprintf("%d allowed, %d seen; orders %d, states %d, runs %d", len(r.Case.Outcomes), r.Outcomes, r.Orders, r.States, r.Runs)
}
