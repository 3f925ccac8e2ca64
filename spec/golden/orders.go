package golden

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/typecheck"
)

// statesMax bounds the states of one program: golden programs are small, so that a person can
// see that all their outcomes are right.
const statesMax = 50_000

// interpret runs the program in all orders and compares the outcomes with those of the file.
func (r *Result) interpret(info *typecheck.Info, update bool) error {
	s := search{program: spec.New(info), outcomes: map[string]bool{}, seen: map[[2]uint64]bool{}}
	if main, ok := s.program.Main(); ok {
		s.entry = main
	} else {
		s.entry = s.program.Tests()[0]
	}
	problem := s.run()
	r.Orders, r.States = s.orders, len(s.seen)
	if problem != "" {
		r.problem("%s", problem)
		return nil
	}
	got := slices.Sorted(maps.Keys(s.outcomes))
	if update {
		if slices.Equal(got, r.Case.Outcomes) {
			return nil
		}
		r.Case.Outcomes, r.Case.Errors = got, ""
		return r.Case.write(got, "")
	}
	for _, o := range got {
		if !slices.Contains(r.Case.Outcomes, o) {
			r.problem("an order of the events has an outcome that the file does not allow\n%s", indent(o))
		}
	}
	for _, o := range r.Case.Outcomes {
		if !s.outcomes[o] {
			r.problem("no order of the events has this outcome of the file\n%s", indent(o))
		}
	}
	return nil
}

// search goes through the orders of one entry depth first. A state that was seen is not entered
// again; it holds what was printed, so that the same outcomes follow.
type search struct {
	program  *spec.Program
	entry    spec.Entry
	todo     [][]int // choices that lead to states not looked at
	seen     map[[2]uint64]bool
	outcomes map[string]bool
	orders   int // runs to the end
}

// run returns what has gone wrong, "" for nothing.
func (s *search) run() string {
	s.todo = [][]int{nil}
	for len(s.todo) > 0 {
		choices := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		var m *spec.Machine
		ended := spec.Guard(func() { m = s.follow(choices) })
		if m != nil {
			m.Close()
		}
		switch {
		case ended.Bug != "":
			return "the interpreter: " + ended.Bug
		case ended.Exhausted != "":
			return "the interpreter: " + ended.Exhausted
		case len(s.seen) > statesMax:
			return fmt.Sprintf("there are more than %d states: make the program smaller", statesMax)
		}
	}
	return ""
}

// follow makes the choices, then takes the first step at each choice until the end or a state
// that was seen, and notes the other steps to be taken later.
func (s *search) follow(choices []int) *spec.Machine {
	m := s.program.Start(s.entry, spec.Options{Observe: true})
	at := 0
	for {
		options := m.Options()
		switch {
		case len(options) == 0:
			s.orders++
			out := &spec.Outcome{}
			m.Fill(out)
			s.outcomes[text(out)] = true
			return m
		case len(options) == 1:
			m.Do(options[0])
			continue
		case at < len(choices):
			m.Do(options[choices[at]])
			at++
			continue
		}
		if d := m.Digest(); s.seen[d] {
			return m
		} else {
			s.seen[d] = true
		}
		for i := len(options) - 1; i > 0; i-- {
			s.todo = append(s.todo, append(slices.Clone(choices), i))
		}
		choices = append(slices.Clip(choices), 0)
	}
}

// text writes an outcome as compiledText does.
func text(o *spec.Outcome) string {
	sorted := *o
	sorted.DeadLetters = slices.SortedFunc(slices.Values(o.DeadLetters), func(a, b spec.Letter) int {
		return strings.Compare(a.Failure.Msg, b.Failure.Msg)
	})
	return sorted.String()
}
