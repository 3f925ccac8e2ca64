package explore

import (
	"github.com/aeon-lang/aeon/spec"
)

// shortestStatesMax bounds the states that are kept to find the shortest order: they are
// all in memory.
const shortestStatesMax = 30_000

// found is a state of the breadth-first search and how it was reached.
type found struct {
	from    *found
	choice  int // -1 if there was one step only
	state   spec.Snapshot
	options []spec.Step
}

// shortest searches breadth first, without reduction, for an order that fails in at most
// so many steps. Every state is met first by a shortest order to it.
func (s *search) shortest(steps int) (choices []int, ok bool) {
	var end *found
	ended := spec.Guard(func() {
		m := s.p.Start(s.entry, s.cfg.Options)
		defer m.Close()
		seen := map[[2]uint64]bool{m.Digest(): true}
		level := []*found{{choice: -1, state: m.Save(), options: m.Options()}}
		for range steps {
			var next []*found
			for _, f := range level {
				for i := range f.options {
					m.Restore(f.state)
					m.Do(f.options[i])
					g := &found{from: f, choice: i}
					if len(f.options) == 1 {
						g.choice = -1
					}
					if m.Failure() != nil {
						end = g
						return
					}
					if d := m.Digest(); !seen[d] {
						seen[d] = true
						g.state, g.options = m.Save(), m.Options()
						next = append(next, g)
					}
					if len(seen) > shortestStatesMax {
						return
					}
				}
				f.state, f.options = spec.Snapshot{}, nil
			}
			level = next
		}
	})
	if end == nil || ended.Bug != "" || ended.Exhausted != "" {
		return nil, false
	}
	for f := end; f.from != nil; f = f.from {
		if f.choice >= 0 {
			choices = append([]int{f.choice}, choices...)
		}
	}
	return choices, true
}
