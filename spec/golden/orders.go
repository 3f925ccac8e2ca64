package golden

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/aeon-lang/aeon/internal/gocall"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/explore"
)

// statesMax bounds the states of one program: golden programs are small, so that a person can
// see that all their outcomes are right.
const statesMax = 50_000

// interpret runs the program in all orders and compares the outcomes with those of the file.
func (r *Result) interpret(ctx context.Context, loaded *load.Package, o *Options) error {
	p := spec.Load(loaded)
	goFuncs, err := gocall.Start(ctx, loaded)
	if err != nil {
		return err
	}
	defer goFuncs.Close()
	p.BindGo(goFuncs)
	entry, ok := p.Main()
	if !ok {
		entry = p.Tests()[0]
	}
	outcomes, search := explore.Outcomes(p, entry, explore.Config{StatesMax: statesMax, Progress: func(now explore.Progress) {
		o.Doing("%s: %d states, %d steps, %d deep", r.Case.Path, now.States, now.Steps, now.Depth)
	}})
	r.Orders, r.States = math.MaxInt32, search.States
	if search.Orders.IsInt64() {
		r.Orders = int(min(search.Orders.Int64(), math.MaxInt32))
	}
	switch {
	case search.Failing != nil: // a mistake of the checker or the interpreter; others are outcomes
		r.problem("the interpreter: %s", search.Failing.Bug)
		return nil
	case !search.Complete:
		r.problem("not all orders were run: %s", search.Incomplete)
		r.stopped, r.untold = true, search.Endless
	}
	got := slices.Sorted(maps.Keys(outcomes))
	for _, o := range got {
		if line := divider(o); line != "" {
			r.problem("a line that may be printed, %q, divides golden files: print another one", line)
			r.untold = true
			return nil
		}
	}
	if o.Update && !r.stopped {
		if slices.Equal(got, r.Case.Outcomes) && r.Case.Errors == r.said {
			return nil
		}
		r.Case.Outcomes, r.Case.Errors = got, r.said
		return r.write()
	}
	for _, o := range got {
		if !slices.Contains(r.Case.Outcomes, o) {
			r.outcome("an order of the events has an outcome that the file does not allow", o)
		}
	}
	for _, o := range r.Case.Outcomes {
		if outcomes[o] == nil && !r.stopped {
			r.outcome("no order of the events has this outcome of the file", o)
		}
	}
	return nil
}
