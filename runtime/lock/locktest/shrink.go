package locktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// finding is a violation with the moves that lead to it.
type finding struct {
	c     *scene.Config
	moves []move
	what  string

	allOrders bool // no deliveries are made at once, as in the search that has found it
	streams   bool // and sessions deliver in order
}

// replay runs the moves of a finding again and returns the transcript.
func (f *finding) replay() string {
	var b strings.Builder
	w := &world{log: func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }}
	w.allOrders, w.net.InOrder = f.allOrders, f.streams
	w.reset(f.c)
	for _, m := range f.moves {
		w.apply(m)
	}
	if w.bad == "" {
		w.end()
	}
	fmt.Fprintf(&b, "=> %s\n", w.bad)
	return b.String()
}

// class reduces what a finding says to what must stay the same while it shrinks.
func (f *finding) class() string {
	s, _, _ := strings.Cut(f.what, ":")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(s)[:min(2, len(strings.Fields(s)))], " "))
}

// shrink looks for a smaller config with the same kind of finding, and then for a
// short way to it.
func (s *search) shrink(f *finding) *finding {
	defer func(l int) { s.limit = l }(s.limit)
	s.limit = 20_000
	for again := true; again; {
		again = false
		for _, c := range f.c.Smaller() {
			all, g := s.explore(c)
			if r := rand.New(rand.NewPCG(1, 2)); g == nil && !all {
				for range 50 {
					if g = s.random(c, r); g != nil {
						break
					}
				}
			}
			if g != nil && g.class() == f.class() {
				f, again = g, true
				break
			}
		}
	}
	if g := shortest(f.c, f.class()); g != nil {
		return g
	}
	return f
}

// shortest looks for the finding breadth first.
func shortest(c *scene.Config, class string) *finding {
	type step struct {
		w     *world
		moves []move
	}
	w := &world{}
	w.reset(c)
	level := []step{{w: w}}
	seen := map[uint64]bool{}
	for len(level) > 0 && len(seen) < 40_000 {
		var next []step
		for _, s := range level {
			l := s.w.moves(nil)
			if len(l) == 0 {
				if s.w.bad == "" {
					s.w.end()
				}
				if f := (&finding{c: c, moves: s.moves, what: s.w.bad}); s.w.bad != "" && f.class() == class {
					return f
				}
				continue
			}
			for _, m := range l {
				n := &world{}
				n.copyFrom(s.w)
				n.apply(m)
				h := n.hash()
				if n.bad == "" && seen[h] {
					continue
				}
				seen[h] = true
				next = append(next, step{n, append(slices.Clone(s.moves), m)})
			}
		}
		level = next
	}
	return nil
}
