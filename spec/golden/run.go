package golden

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/spec/batch"
)

// Options say how cases are run.
type Options struct {
	Seeds    int    // how often the compiled program runs, each time with another schedule
	First    uint64 // the first seed; 0 is the undisturbed schedule
	Stored   int    // so many of the seeds run on a store, too
	Stores   int    // so many of the seeds run on several stores, too, over which the actors are spread
	Nodes    int    // if above 1, all seeds run on so many stores instead, one step at a time
	LimitMS  int64  // for one compiled run; 0: ten seconds
	Update   bool   // write what the interpreter and the checker say into the files
	Compiler batch.Compiler
	// Doing, if set, is told what is being done, in words for users.
	Doing func(format string, args ...any)
}

// Result is what came of one case.
type Result struct {
	Case     *Case
	Problems []string      // empty: it has passed
	Written  string        // what Options.Update has written into the file; empty for nothing
	Compiles bool          // the checker takes the program
	Orders   int           // serial orders, at most math.MaxInt32; those that differ by exchanging steps that do not conflict are one
	States   int           // states that it has seen
	Runs     int           // of the compiled program
	Outcomes int           // different outcomes that these had
	Across   across.Counts // of the runs on several stores
	// Failed is the seed of the first run with an outcome that is not allowed, if a run with this seed is always the same; nil: there is none.
	Failed *uint64

	said    string // what the checker says of a program that it takes
	stopped bool   // the interpreter has not run all orders
	untold  bool   // compiled runs would tell nothing: one would not end, or the file cannot have the outcomes
	left    int    // problems with outcomes beyond problemsMax
}

// storesUsed is on how many stores Options.Stores runs a program: a third one is what two of an event call each other by.
const storesUsed = 3

// problemsMax bounds the outcomes that are told of one case, linesMax the lines of each: a search that is wrong, or stops
// early, may have thousands.
const (
	problemsMax = 10
	linesMax    = 40
)

// Run runs all cases; the results are in their order. The error says that running was not possible.
func Run(ctx context.Context, cases []*Case, o Options) ([]Result, error) {
	if o.Doing == nil {
		o.Doing = func(string, ...any) {}
	}
	results := make([]Result, len(cases))
	var programs []batch.Program
	var owner []*Result // of programs
	names := map[string]int{}
	for i, c := range cases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &results[i]
		r.Case = c
		o.Doing("%s: every order, file %d of %d", c.Path, i+1, len(cases))
		loaded, said, err := c.check()
		if err != nil {
			r.problem("%v", err)
			continue
		}
		r.said, r.Compiles = said, loaded != nil
		if said != c.Errors {
			if err := r.says(said, o.Update); err != nil {
				return nil, err
			}
		}
		if loaded == nil {
			continue
		}
		if err := r.interpret(ctx, loaded, &o); err != nil {
			return nil, err
		}
		if r.untold {
			continue
		}
		name := "golden/" + c.Name()
		if names[name]++; names[name] > 1 { // of another folder
			name = fmt.Sprintf("%s-%d", name, names[name])
		}
		programs = append(programs, batch.Loaded(name, loaded))
		owner = append(owner, r)
	}
	defer func() {
		for i := range results {
			if n := results[i].left; n > 0 {
				results[i].problem("%d more outcomes are wrong\n", n)
			}
		}
	}()
	if o.Seeds == 0 {
		return results, nil
	}
	o.Doing("compiling programs, %d in all", len(programs))
	o.Compiler.Stored, o.Compiler.Stores = o.Stored > 0, o.Stores > 0 || o.Nodes > 1
	x, owner, err := compile(ctx, &o.Compiler, programs, owner)
	if err != nil || x == nil {
		return results, err
	}
	return results, o.run(ctx, x, owner)
}

// compile compiles the programs that Go takes; the others have a problem.
func compile(ctx context.Context, c *batch.Compiler, programs []batch.Program, owner []*Result) (*batch.Executable, []*Result, error) {
	for len(programs) > 0 {
		x, err := c.Compile(ctx, programs)
		var refused *batch.GoError
		if !errors.As(err, &refused) || len(refused.Programs) == 0 {
			return x, owner, err
		}
		var rest []batch.Program
		var owners []*Result
		for i, p := range programs {
			if slices.Contains(refused.Programs, i) {
				owner[i].problem("this is a bug of aeonc, not of the program; please report it: %v", refused)
			} else {
				rest, owners = append(rest, p), append(owners, owner[i])
			}
		}
		programs, owner = rest, owners
	}
	return nil, nil, nil
}

// run runs the compiled programs; owner has the result for each.
func (o *Options) run(ctx context.Context, x *batch.Executable, owner []*Result) error {
	seeds := make([]uint64, o.Seeds)
	for i := range seeds {
		seeds[i] = o.First + uint64(i)
	}
	jobs := x.Jobs(seeds...)
	plain := len(jobs)
	jobs = append(jobs, x.Jobs(seeds[:min(o.Stored, len(seeds))]...)...)
	alone := len(jobs)
	jobs = append(jobs, x.Jobs(seeds[:min(o.Stores, len(seeds))]...)...)
	for i := range jobs {
		jobs[i].Simulated, jobs[i].LimitMS = true, o.LimitMS
		jobs[i].Stored = i >= plain && i < alone
		jobs[i].Scheduled = jobs[i].Seed%2 == 1 // else in parallel, as in production
		switch {
		case o.Nodes > 1:
			jobs[i].Stores, jobs[i].Scheduled = o.Nodes, true
		case i >= alone:
			jobs[i].Stores = storesUsed
		}
	}
	x.Progress = func(begun int) { o.Doing("compiled run %d of %d", begun, len(jobs)) }
	outcomes, err := x.Run(ctx, jobs)
	if err != nil {
		return err
	}
	seen := make([]map[string]bool, len(owner))
	for i := range outcomes {
		p := jobs[i].Program
		if seen[p] == nil {
			seen[p] = map[string]bool{}
		}
		owner[p].compiled(&outcomes[i], seen[p])
	}
	return nil
}

func (r *Result) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// outcome is problem for an outcome of the program.
func (r *Result) outcome(what, outcome string) {
	if len(r.Problems) >= problemsMax {
		r.left++
		return
	}
	r.problem("%s\n%s", what, indent(outcome))
}

// says takes what the checker says of a program, which is something else than the file does.
func (r *Result) says(said string, update bool) error {
	c := r.Case
	switch {
	case refuses(said) && !c.refused:
		r.problem("the program does not compile\n%sif it is to be refused, say so: a section -- %s -- instead of -- %s --, which may be empty, is filled by `aeonc test --update`",
			indent(said), errorsFile, outcomesFile)
	case !update:
		r.problem("the checker says\n%sand is expected to say\n%s", indent(said), indent(c.Errors))
	case refuses(said):
		c.Errors = said
		return r.write()
	}
	return nil
}

// write writes what the case expects now into its file.
func (r *Result) write() error {
	what := fmt.Sprintf("the %d outcomes that it may have", len(r.Case.Outcomes))
	switch {
	case r.Case.Outcomes == nil:
		what = "that it is refused"
	case len(r.Case.Outcomes) == 1:
		what = "the outcome that it has"
	}
	if r.Case.Outcomes != nil && r.Case.Errors != "" {
		what += ", and the warnings"
	}
	r.Written = what
	return r.Case.write()
}

// compiled checks one run of the compiled program.
func (r *Result) compiled(o *batch.Outcome, seen map[string]bool) {
	r.Runs++
	r.Across.Add(o.Across)
	got := batch.Text(o)
	if seen[got] {
		return
	}
	seen[got] = true
	r.Outcomes++
	if slices.Contains(r.Case.Outcomes, got) {
		return
	}
	if r.Failed == nil && o.Job.Scheduled {
		r.Failed = &o.Job.Seed
	}
	why := "no order of the events allows the outcome"
	if r.stopped {
		why = "the file does not have the outcome, and whether an order of the events allows it is not known, as not all were run"
	}
	on := ""
	switch {
	case o.Job.Stores > 0:
		on = fmt.Sprintf(", on %d stores", o.Job.Stores)
	case o.Job.Stored:
		on = ", on a store"
	}
	r.outcome(fmt.Sprintf("compiled, with seed %d%s: %s", o.Job.Seed, on, why), got)
}

func indent(text string) string {
	if text == "" {
		return "    (nothing)\n"
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > linesMax {
			fmt.Fprintf(&b, "    … %d more lines\n", strings.Count(text, "\n")-linesMax)
			break
		}
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
