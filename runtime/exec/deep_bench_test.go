package exec

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/aeon-lang/aeon/runtime/undo"
)

// pushes are the ways to append to a container in a field of an actor: directly, and below
// an element of another.
var pushes = []struct {
	name string
	push func(cx *Cx, d *shelf, x int64)
}{
	{"flat", func(cx *Cx, d *shelf, x int64) { undo.VectorPush(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, x) }},
	{"nested", func(cx *Cx, d *shelf, x int64) {
		undo.VectorPush(cx.UndoLog(), &d.Self, shelfRows|undo.Inside, &undo.VectorElem(cx.UndoLog(), &d.Self, shelfRows, &d.rows, 1).tags, x)
	}},
	{"in a map", func(cx *Cx, d *shelf, x int64) {
		undo.MapUpdate(cx.UndoLog(), &d.Self, shelfIndex, &d.index, "a", func(r *shelfRow) { undo.VectorPush(cx.UndoLog(), &d.Self, shelfIndex|undo.Inside, &r.tags, x) })
	}},
}

func readyShelf(t testing.TB, cl *Client) shelfRef {
	r := newShelf(t, cl)
	mustNot(t, r.await(cl, func(cx *Cx, d *shelf) {
		for range 3 {
			undo.VectorPush(cx.UndoLog(), &d.Self, shelfRows, &d.rows, shelfRow{})
		}
		undo.MapSet(cx.UndoLog(), &d.Self, shelfIndex, &d.index, "a", shelfRow{})
	}))
	return r
}

// BenchmarkPush reports what one of n pushes takes, all in one event and in an event each,
// and how many times that is of a push into a field itself.
func BenchmarkPush(b *testing.B) {
	for _, way := range []string{"one event", "many events"} {
		for _, n := range []int64{10_000, 100_000} {
			flat := 0.0
			for _, p := range pushes {
				b.Run(fmt.Sprintf("%s/%d/%s", way, n, p.name), func(b *testing.B) {
					s := Open(Config{Log: quiet})
					defer s.Close()
					cl := s.Client()
					for range b.N {
						r := readyShelf(b, cl)
						if way == "one event" {
							mustNot(b, r.await(cl, func(cx *Cx, d *shelf) {
								for i := range n {
									p.push(cx, d, i)
								}
							}))
							continue
						}
						var x int64
						one := func(cx *Cx, d *shelf) { p.push(cx, d, x) }
						for x = range n {
							mustNot(b, r.await(cl, one))
						}
					}
					each := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
					if p.name == "flat" {
						flat = each
					}
					b.ReportMetric(each, "ns/push")
					b.ReportMetric(each/flat, "x-flat")
				})
			}
		}
	}
}

// TestDeepPushesDoNotCopy: what an event allocates to push below an element does not depend
// on how much is there.
func TestDeepPushesDoNotCopy(t *testing.T) {
	_, cl := testSystem(t, Config{})
	n := int64(lessIfShort(20_000))
	for _, p := range pushes {
		t.Run(p.name, func(t *testing.T) {
			r := readyShelf(t, cl)
			bytes := func(n int64) uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for i := range n {
					mustNot(t, r.await(cl, func(cx *Cx, d *shelf) { p.push(cx, d, i) }))
				}
				runtime.ReadMemStats(&after)
				return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
			}
			bytes(n)
			if got := bytes(n); got > 2000 { // a copy would take 8 n and more
				t.Errorf("a push into %d elements takes %d bytes", n, got)
			}
		})
	}
}
