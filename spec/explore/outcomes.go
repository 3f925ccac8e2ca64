package explore

import (
	"slices"

	"github.com/aeon-lang/aeon/spec"
)

// Outcomes returns the outcomes that the orders of an entry have, by their text, with one run
// for each. Dead letters, which have no order, are sorted. The outcomes are all if the result is
// complete. It sets Observe, KeepGoing and OnEnd.
func Outcomes(p *spec.Program, e spec.Entry, cfg Config) (map[string]*spec.Outcome, *Result) {
	all := map[string]*spec.Outcome{}
	cfg.Options.Observe, cfg.KeepGoing = true, true
	cfg.OnEnd = func(out *spec.Outcome) {
		slices.SortStableFunc(out.DeadLetters, spec.Letter.Compare)
		if text := out.String(); all[text] == nil {
			all[text] = out
		}
	}
	return all, Run(p, e, cfg)
}
