// Package differ compares the two implementations of the language on random programs: the reference interpreter, which
// follows the rules, and the compiler with its runtime. What a compiled program does must be what the interpreter does in some order
// of the program's events.
package differ

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/batch"
	"github.com/aeon-lang/aeon/spec/explore"
)

// Comparer compares. Its fields are set before use.
type Comparer struct {
	Compiler  batch.Compiler
	Seeds     []uint64 // of the compiled runs
	StatesMax int      // that the interpreter looks at for a program
	StepsMax  int      // of a walk through all orders; a program that has more is not walked
	LimitMS   int64    // for one compiled run
	Stored    bool     // compiled programs run on a store
	Stores    int      // if above 1, they run on so many stores, over which their actors are spread

	// search stands in for explore.Run, in tests.
	search func(*spec.Program, spec.Entry, explore.Config) *explore.Result
}

// Compare runs the cases on both sides; the results are in the order of the cases.
func (c *Comparer) Compare(ctx context.Context, cases []Case) (results []Result, err error) {
	results = make([]Result, len(cases))
	programs := make([]batch.Program, len(cases))
	for i, k := range cases {
		results[i].Case = k
		p, diags := k.parse()
		if diag.HasErrors(diags) {
			results[i].fails(Rejected, "%v", diags)
			continue
		}
		programs[i] = p
	}
	x, owner, err := c.compile(ctx, programs, results)
	if err != nil || x == nil {
		return results, err
	}
	defer func() { err = errors.Join(err, x.Remove()) }()
	seen := make([][]batch.Outcome, len(cases))
	hung := make([]bool, len(cases))
	for _, seeds := range [][]uint64{c.Seeds[:1], c.Seeds[1:]} { // a program that hangs does so mostly at once, and once is enough
		jobs := slices.DeleteFunc(x.Jobs(seeds...), func(j batch.Job) bool { return hung[owner[j.Program]] })
		for i := range jobs {
			jobs[i].Simulated, jobs[i].Stored, jobs[i].Stores, jobs[i].LimitMS = true, c.Stored, c.Stores, c.LimitMS
			jobs[i].Scheduled = jobs[i].Seed%2 == 1 // else in parallel, as in production
		}
		outcomes, err := x.Run(ctx, jobs)
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			i := owner[o.Job.Program]
			seen[i] = append(seen[i], o)
			hung[i] = hung[i] || o.Hang != ""
		}
	}
	var workers sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				c.judge(&results[i], programs[i], seen[i])
			}
		})
	}
	for i := range cases {
		if len(seen[i]) > 0 {
			next <- i
		}
	}
	close(next)
	workers.Wait()
	return results, nil
}

// compile makes an executable of the programs that Go takes; owner says which case each of them is of.
func (c *Comparer) compile(ctx context.Context, programs []batch.Program, results []Result) (x *batch.Executable, owner []int, err error) {
	for {
		var list []batch.Program
		owner = nil
		for i := range results {
			if results[i].Kind == None {
				list = append(list, programs[i])
				owner = append(owner, i)
			}
		}
		if len(list) == 0 {
			return nil, nil, nil
		}
		compiler := c.Compiler
		compiler.Stored, compiler.Stores, compiler.Once = c.Stored, c.Stores > 1, true
		x, err = compiler.Compile(ctx, list)
		var refused *batch.GoError
		if !errors.As(err, &refused) || len(refused.Programs) == 0 {
			return x, owner, err
		}
		for _, i := range refused.Programs {
			results[owner[i]].fails(GoRefuses, "%s", refused.Output)
		}
	}
}

// judge compares the compiled outcomes of a case with those that the interpreter has.
func (c *Comparer) judge(r *Result, p batch.Program, seen []batch.Outcome) {
	r.Runs = len(seen)
	for i := range seen {
		r.Across.Add(seen[i].Across)
	}
	wanted := map[string]uint64{} // outcome -> seed of the first run that had it
	for _, o := range seen {
		text := batch.Text(&o)
		switch {
		case o.Hang != "":
			r.Seed = o.Job.Seed
			r.fails(Hangs, "seed %d\n%s", r.Seed, text)
			return
		case o.Crash != "" || o.Failure != nil && o.Failure.Stack != "" || o.Unquiet != "" || o.Stored != "":
			r.Seed = o.Job.Seed
			r.fails(Crashes, "seed %d\n%s", r.Seed, text)
			return
		}
		if _, ok := wanted[text]; !ok {
			wanted[text] = o.Job.Seed
		}
	}
	last := len(p.Units) - 1
	interpreted := spec.New(p.Units[last], p.Units[:last]...)
	entry, ok := interpreted.Main()
	if !ok {
		entry = interpreted.Tests()[0]
	}
	states := c.StatesMax
	if r.StatesMax > 0 {
		states = min(states, r.StatesMax)
	}
	outcomes, search := explore.Outcomes(interpreted, entry, explore.Config{StatesMax: states})
	r.States = search.States
	if search.Failing != nil {
		r.fails(Interprets, "%s", search.Failing.Bug)
		return
	}
	had := slices.Sorted(maps.Keys(outcomes))
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(wanted)), func(w string) bool { return outcomes[w] != nil })
	switch {
	case len(missing) == 0 && r.Single && len(had) > 1:
		r.fails(Ambiguous, "%s", strings.Join(had, "---\n"))
	case len(missing) == 0:
	case !search.Complete:
		r.Undecided = len(missing)
	default:
		r.Seed = wanted[missing[0]]
		r.fails(Differs, "seed %d, compiled:\n%s\ninterpreted, %d outcomes, the nearest:\n%s",
			r.Seed, missing[0], len(had), nearest(missing[0], had))
	}
	if r.Kind == None && search.Complete {
		c.naive(r, interpreted, entry, outcomes)
	}
}

// nearest returns the outcome that has the longest beginning in common with the text.
func nearest(text string, list []string) string {
	common := func(s string) int {
		n := 0
		for n < len(s) && n < len(text) && s[n] == text[n] {
			n++
		}
		return n
	}
	return slices.MaxFunc(list, func(a, b string) int { return common(a) - common(b) })
}
