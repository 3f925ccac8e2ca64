package exec

import (
	"runtime"
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
)

// The seed also decides which readers try to share a tree that was too wide lately. The pool from which their events
// come does not, since the collector empties it.
func TestASeedDecidesWhichReadersTryToShare(t *testing.T) {
	run := func(collect bool) string {
		s := Open(Config{Log: quiet, Scheduled: true, Seed: 5, fanOut: 16})
		defer s.Close()
		nodes := grow(t, s, 4, 2)
		order.HandleOf(nodes[0].Ref).Mark(order.MarkWide, true) // it was, until lately
		cl := s.Client()
		var seen []byte
		for i := range lessIfShort(1000) {
			name := byte('a' + i%26)
			pause := wstep{op: wPause, hook: func() { seen = append(seen, name) }}
			f := cl.Issue(nodes[0].Ref, &methodWalk, &wargs{steps: deep(2, pause)})
			if i%7 == 0 {
				cl.Send(nodes[3].Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}, pause}})
			}
			if i%5 == 0 {
				mustNot(t, f.Wait())
			}
			if i%50 == 0 {
				order.HandleOf(nodes[0].Ref).Mark(order.MarkWide, true)
			}
			if collect && i%40 == 0 {
				runtime.GC()
				runtime.GC()
			}
		}
		cl.Settle()
		return string(seen)
	}
	want := run(false)
	for i := range 4 {
		if got := run(i%2 == 0); got != want {
			t.Fatalf("run %d is another one:\n%s\n%s", i, want, got)
		}
	}
}
