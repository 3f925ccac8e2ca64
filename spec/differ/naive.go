package differ

import (
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/explore"
)

// tree is all orders of an entry, one by one: each step is tried at each place, and no state is looked up among earlier
// ones. It is what a search with reduction and known states is compared with.
type tree struct {
	m        *spec.Machine
	stepsMax int
	steps    int
	outcomes map[string]bool
	failing  *spec.Outcome // an order that fails, with spec.Options.StopAtFailure
	stop     bool
	choices  []int
}

// walk tries all orders. It reports whether it came to the end within the steps that it was given.
func (t *tree) walk(p *spec.Program, e spec.Entry, opts spec.Options) (complete bool, ended spec.Ended) {
	t.outcomes, t.stop = map[string]bool{}, opts.StopAtFailure
	ended = spec.Guard(func() {
		t.m = p.Start(e, opts)
		complete = t.visit()
	})
	if t.m != nil {
		t.m.Close()
	}
	return complete && ended == spec.Ended{}, ended
}

// visit tries all that may come next, one after the other; false ends the walk.
func (t *tree) visit() bool {
	options := t.m.Options()
	if len(options) == 0 || t.stop && t.m.Failure() != nil {
		return t.end()
	}
	saved := t.m.Save()
	for i, o := range options {
		if t.steps++; t.steps > t.stepsMax {
			return false
		}
		if i > 0 {
			t.m.Restore(saved)
		}
		if len(options) > 1 {
			t.choices = append(t.choices, i)
		}
		t.m.Do(o)
		if !t.visit() {
			return false
		}
		if len(options) > 1 {
			t.choices = t.choices[:len(t.choices)-1]
		}
	}
	return true
}

func (t *tree) end() bool {
	out := &spec.Outcome{Choices: slices.Clone(t.choices)}
	t.m.Fill(out)
	slices.SortStableFunc(out.DeadLetters, spec.Letter.Compare)
	t.outcomes[out.String()] = true
	if t.stop && t.m.Failure() != nil {
		t.failing = out
		return false
	}
	return true
}

// naive compares the explorer with a walk through all orders, if there are few enough: the outcomes of a program, and whether an order fails.
func (c *Comparer) naive(r *Result, p *spec.Program, e spec.Entry, explored map[string]*spec.Outcome) {
	all := &tree{stepsMax: c.StepsMax}
	complete, ended := all.walk(p, e, spec.Options{Observe: true})
	if ended.Bug != "" {
		r.fails(Interprets, "%s", ended.Bug)
		return
	}
	if !complete {
		return
	}
	r.Walked, r.Outcomes = true, len(all.outcomes)
	want, got := slices.Sorted(maps.Keys(all.outcomes)), slices.Sorted(maps.Keys(explored))
	if !slices.Equal(want, got) {
		r.fails(Explores, "all orders have %d outcomes:\n%s\nthe explorer finds %d:\n%s", len(want), strings.Join(want, "---\n"), len(got), strings.Join(got, "---\n"))
		return
	}
	stopping := &tree{stepsMax: 2 * c.StepsMax}
	if complete, _ = stopping.walk(p, e, spec.Options{StopAtFailure: true}); !complete && stopping.failing == nil {
		return
	}
	search := explore.Run
	if c.search != nil {
		search = c.search
	}
	found := search(p, e, explore.Config{StatesMax: c.StatesMax})
	switch {
	case stopping.failing != nil && found.Complete:
		r.fails(Explores, "the explorer says that no order fails, and this one does, choices %v:\n%s", stopping.failing.Choices, stopping.failing)
	case stopping.failing == nil && found.Failing != nil:
		r.fails(Explores, "no order fails, and the explorer says that this one does, choices %v:\n%s", found.Failing.Choices, found.Failing)
	case found.Failing != nil:
		r.Failing = true
	}
}
