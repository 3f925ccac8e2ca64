package exec

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// grow returns a tree of n nodes: node i is owned by node (i-1)/width.
func grow(t testing.TB, s *System, n, width int) []wref {
	t.Helper()
	nodes, err := workload{nodes: n}.plant(s)
	mustNot(t, err)
	cl := s.Client()
	for i := 1; i < n; i++ {
		mustNot(t, cl.Await(nodes[(i-1)/width].Ref, &methodAdopt, &wargs{steps: []wstep{{op: wAdopt, ref: nodes[i]}}}))
	}
	s.host.AwaitMoves()
	return nodes
}

// deep is a script that goes down first children to the given depth and then runs steps.
func deep(depth int, steps ...wstep) []wstep {
	for range depth {
		steps = []wstep{{op: wCall, k: 0, sub: steps}}
	}
	return steps
}

// meeting is a pause that ends when n events are in it.
func meeting(n int32) (hook func()) {
	var inside atomic.Int32
	return func() {
		inside.Add(1)
		until(func() bool { return inside.Load() >= n })
	}
}

// Readers of one small tree are inside it at once, each at the bottom of it.
func TestReadersShareASmallTree(t *testing.T) {
	for _, width := range []int{1, 2, 8} {
		s := Open(Config{Log: quiet})
		finish := watchFor(t, s)
		nodes := grow(t, s, 9, width)
		hook := meeting(3)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				args := &wargs{steps: deep(1, wstep{op: wGet}, wstep{op: wPause, hook: hook}, wstep{op: wGet})}
				mustNot(t, s.Client().Await(nodes[0].Ref, &methodWalk, args))
			})
		}
		wg.Wait()
		if st := s.Stats(); st.Withdrawals != 0 {
			t.Errorf("width %d: %d withdrawals", width, st.Withdrawals)
		}
		finish()
	}
}

// Readers that had to wait for a writer share the tree, too. A writer that comes meanwhile waits for
// all of them.
func TestReadersShareAfterAWriter(t *testing.T) {
	s := Open(Config{Log: quiet})
	defer watchFor(t, s)()
	nodes := grow(t, s, 7, 2)
	writing, written := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		pause := wstep{op: wPause, hook: func() { close(writing); <-written }}
		mustNot(t, s.Client().Await(nodes[0].Ref, &methodScript, &wargs{steps: deep(2, pause, wstep{op: wAdd, n: 5})}))
	})
	<-writing
	hook := meeting(2)
	read := [2]*wargs{}
	for i := range read {
		read[i] = &wargs{steps: deep(2, wstep{op: wPause, hook: hook}, wstep{op: wGet})}
		wg.Go(func() { mustNot(t, s.Client().Await(nodes[0].Ref, &methodWalk, read[i])) })
	}
	until(func() bool { return s.Waiting() == 2 })
	wg.Go(func() {
		mustNot(t, s.Client().Await(nodes[3].Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 7}}}))
	})
	until(func() bool { return s.Waiting() == 3 })
	close(written)
	wg.Wait()
	a, b := read[0].calls[0].calls[0].notes, read[1].calls[0].calls[0].notes
	if len(a) != 1 || len(b) != 1 || a[0] != b[0] {
		t.Errorf("the readers saw %v and %v", a, b)
	}
}

// A tree that is too large to share is read by one event at a time. Reads are correct with
// any bound.
func TestReadersOfALargeTree(t *testing.T) {
	for _, fanOut := range []int{1, 8, 64} {
		t.Run(fmt.Sprint(fanOut), func(t *testing.T) {
			s := Open(Config{Log: quiet, fanOut: fanOut})
			defer watchFor(t, s)()
			nodes := grow(t, s, 40, 2)
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					cl := s.Client()
					for i := range 200 {
						if g == 0 && i%4 == 0 {
							mustNot(t, cl.Await(nodes[i%40].Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}}}))
						}
						mustNot(t, cl.Await(nodes[i%3].Ref, &methodWalk, &wargs{steps: deep(1+i%3, wstep{op: wGet})}))
					}
				})
			}
			wg.Wait()
			if st := s.Stats(); st.Withdrawals != 0 {
				t.Errorf("%d withdrawals", st.Withdrawals)
			}
		})
	}
}

// BenchmarkReadTree reads a path of a tree that is small, or too large to be shared: alone, and
// from 64 goroutines.
func BenchmarkReadTree(b *testing.B) {
	for _, n := range []int{3, 7, 15, 200} {
		for _, alone := range []bool{true, false} {
			b.Run(fmt.Sprintf("nodes=%d/alone=%v", n, alone), func(b *testing.B) {
				s := Open(Config{Log: quiet})
				defer s.Close()
				nodes := grow(b, s, n, 2)
				steps := deep(2, wstep{op: wGet})
				if alone {
					cl := s.Client()
					b.ReportAllocs()
					for b.Loop() {
						mustNot(b, cl.Await(nodes[0].Ref, &methodWalk, &wargs{steps: steps}))
					}
					return
				}
				closedLoop(b, s, func(cl *Client, _ *rand.Rand) {
					mustNot(b, cl.Await(nodes[0].Ref, &methodWalk, &wargs{steps: steps}))
				})
			})
		}
	}
}
