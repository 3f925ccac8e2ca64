package typecheck

import "github.com/aeon-lang/aeon/internal/assert"

// facts is a set of variables about which something is known at the current
// point of a body: "is not null", or "has been assigned". Changes are kept on
// a trail, so that a branch costs what it changes, not what is known.
type facts struct {
	known map[*Var]bool
	trail []factChange
	dead  bool // control does not get here
}

type factChange struct {
	v      *Var
	before bool
}

// delta is what a branch changed: the values at its end.
type delta struct {
	changed map[*Var]bool
	dead    bool
}

func newFacts() *facts { return &facts{known: make(map[*Var]bool)} }

func (f *facts) has(v *Var) bool { return f.known[v] }

func (f *facts) set(v *Var, known bool) {
	if f.known[v] == known {
		return
	}
	f.trail = append(f.trail, factChange{v, !known})
	if known {
		f.known[v] = true
	} else {
		delete(f.known, v)
	}
}

// mark begins a branch; pass the result to peek or take.
func (f *facts) mark() factMark { return factMark{len(f.trail), f.dead} }

type factMark struct {
	trail int
	dead  bool
}

// peek returns what has changed since the mark.
func (f *facts) peek(m factMark) delta {
	d := delta{dead: f.dead}
	if len(f.trail) > m.trail {
		d.changed = make(map[*Var]bool, len(f.trail)-m.trail)
		for _, ch := range f.trail[m.trail:] {
			d.changed[ch.v] = f.known[ch.v]
		}
	}
	return d
}

// take ends a branch: it returns what has changed and goes back to the mark.
func (f *facts) take(m factMark) delta {
	d := f.peek(m)
	f.undo(m)
	return d
}

// undo goes back to the mark.
func (f *facts) undo(m factMark) {
	// Invariant: branches end in the reverse order of their beginnings, each any number of times.
	assert.That(len(f.trail) >= m.trail, "a branch ends after the one that it is in")
	for i := len(f.trail) - 1; i >= m.trail; i-- {
		ch := f.trail[i]
		if ch.before {
			f.known[ch.v] = true
		} else {
			delete(f.known, ch.v)
		}
	}
	f.trail = f.trail[:m.trail]
	f.dead = m.dead
}

// join continues behind branches that all began here: what all live ones know.
func (f *facts) join(branches ...delta) {
	live := 0
	for _, d := range branches {
		if !d.dead {
			live++
		}
	}
	if live == 0 {
		f.dead = true
		for _, d := range branches { // anything is known where control does not get
			for v, known := range d.changed {
				if known {
					f.set(v, true)
				}
			}
		}
		return
	}
	counts := make(map[*Var]int)
	for _, d := range branches {
		if d.dead {
			continue
		}
		for v, known := range d.changed {
			if known || f.known[v] {
				counts[v] += 0
			}
			if known && !f.known[v] {
				counts[v]++
			}
			if !known && f.known[v] {
				counts[v] = -len(branches) - 1
			}
		}
	}
	for v, n := range counts {
		switch {
		case n < 0:
			f.set(v, false)
		case n == live && !f.known[v]:
			f.set(v, true)
		}
	}
}
