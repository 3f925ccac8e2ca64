package differ

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/spec"
)

// search looks for the orders of a program's events that have given outcomes, depth first. A state that was seen is
// not entered again: it holds what was printed, so that the same outcomes follow.
type search struct {
	program   *spec.Program
	entry     spec.Entry
	ordersMax int
	statesMax int
	todo      [][]int // choices that lead to states not looked at
	seen      map[[2]uint64]bool
	outcomes  map[string]bool
	orders    int  // runs to the end
	complete  bool // all orders were tried
}

func newSearch(p *spec.Program, ordersMax, statesMax int) *search {
	s := &search{program: p, ordersMax: ordersMax, statesMax: statesMax, seen: map[[2]uint64]bool{}, outcomes: map[string]bool{}}
	s.entry, _ = p.Main()
	return s
}

// find goes through the orders until all wanted outcomes were had; with all, until there is no other order, or a second outcome. It
// returns what is wrong with the interpreter, "" for nothing.
func (s *search) find(wanted map[string]uint64, all bool) string {
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
			return "bug: " + ended.Bug
		case ended.Exhausted != "":
			return "exhausted: " + ended.Exhausted
		case len(s.missing(wanted)) == 0 && (!all || len(s.outcomes) > 1):
			return ""
		case s.orders > s.ordersMax || len(s.seen) > s.statesMax:
			return ""
		}
	}
	s.complete = true
	return ""
}

// follow makes the choices, then takes the first step at each choice until the end or a state that was seen, and notes
// the other steps to be taken later.
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
			s.outcomes[interpretedText(out)] = true
			return m
		case len(options) == 1:
			m.Do(options[0])
			continue
		case at < len(choices):
			m.Do(options[choices[at]])
			at++
			continue
		}
		d := m.Digest()
		if s.seen[d] {
			return m
		}
		s.seen[d] = true
		for i := len(options) - 1; i > 0; i-- {
			s.todo = append(s.todo, append(slices.Clone(choices), i))
		}
		choices = append(slices.Clip(choices), 0)
		m.Do(options[0])
		at++
	}
}

// missing returns the wanted outcomes that no order tried has had, sorted.
func (s *search) missing(wanted map[string]uint64) (list []string) {
	for _, w := range slices.Sorted(maps.Keys(wanted)) {
		if !s.outcomes[w] {
			list = append(list, w)
		}
	}
	return list
}

func (s *search) list() []string { return slices.Sorted(maps.Keys(s.outcomes)) }

// interpretedText writes an outcome as compiledText does.
func interpretedText(o *spec.Outcome) string {
	sorted := *o
	sorted.DeadLetters = slices.SortedFunc(slices.Values(o.DeadLetters), func(a, b spec.Letter) int {
		return strings.Compare(a.Failure.Msg, b.Failure.Msg)
	})
	text := sorted.String()
	for _, f := range o.CallbackFailures {
		text += fmt.Sprintf("callback failed: %s\n", f.Msg)
	}
	return text
}
