package exec

import (
	"testing"
	"testing/quick"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// TestLoopsOverElementsLogLittle: what an event keeps of a container is bounded by the
// container, not by the writes.
func TestLoopsOverElementsLogLittle(t *testing.T) {
	_, cl := testSystem(t, Config{})
	loops := map[string]struct {
		entries int
		body    func(cx *Cx, d *shelf, i int64)
	}{
		"one element":   {1, func(cx *Cx, d *shelf, i int64) { VectorSet(cx, &d.Self, shelfFlat, &d.flat, 3, i) }},
		"every element": {45, func(cx *Cx, d *shelf, i int64) { VectorSet(cx, &d.Self, shelfFlat, &d.flat, i%100, i) }},
		"push":          {1, func(cx *Cx, d *shelf, i int64) { VectorPush(cx, &d.Self, shelfFlat, &d.flat, i) }},
		"push and pop": {1, func(cx *Cx, d *shelf, i int64) {
			VectorPush(cx, &d.Self, shelfFlat, &d.flat, i)
			VectorPop(cx, &d.Self, shelfFlat, &d.flat)
		}},
		"queue": {80, func(cx *Cx, d *shelf, i int64) {
			VectorPush(cx, &d.Self, shelfFlat, &d.flat, i)
			VectorRemove(cx, &d.Self, shelfFlat, &d.flat, 0)
		}},
		"one entry": {1, func(cx *Cx, d *shelf, i int64) { MapSet(cx, &d.Self, shelfIndex, &d.index, "a", shelfRow{n: i}) }},
		"set":       {60, func(cx *Cx, d *shelf, i int64) { SetAdd(cx, &d.Self, shelfSet, &d.set, i) }},
		"set, in and out": {1, func(cx *Cx, d *shelf, i int64) {
			SetAdd(cx, &d.Self, shelfSet, &d.set, -1)
			SetRemove(cx, &d.Self, shelfSet, &d.set, -1)
		}},
		"sort": {1, func(cx *Cx, d *shelf, i int64) { VectorSort(cx, &d.Self, shelfFlat, &d.flat) }},
		"nested": {2, func(cx *Cx, d *shelf, i int64) {
			VectorPush(cx, &d.Self, shelfRows|Inside, &VectorElem(cx, &d.Self, shelfRows, &d.rows, 1).tags, i)
		}},
		"in a value": {1, func(cx *Cx, d *shelf, i int64) { VectorPush(cx, &d.Self, shelfCell, &d.cell.tags, i) }},
	}
	for name, l := range loops {
		t.Run(name, func(t *testing.T) {
			r := newShelf(t, cl)
			mustNot(t, r.await(cl, func(cx *Cx, d *shelf) {
				for i := range int64(100) {
					VectorPush(cx, &d.Self, shelfFlat, &d.flat, i)
					SetAdd(cx, &d.Self, shelfSet, &d.set, i*1000)
				}
				for range 3 {
					VectorPush(cx, &d.Self, shelfRows, &d.rows, shelfRow{tags: value.VectorOf[int64](1)})
				}
				MapSet(cx, &d.Self, shelfIndex, &d.index, "a", shelfRow{})
			}))
			var before [5]string
			var entries int
			err := r.await(cl, func(cx *Cx, d *shelf) {
				before = modelOfShelf(d).fields()
				for i := range int64(5000) {
					l.body(cx, d, i)
				}
				entries = len(cx.log)
				Abort(cx, "enough")
			})
			if err == nil || entries > l.entries {
				t.Errorf("error %v, %d entries in the undo log, want at most %d", err, entries, l.entries)
			}
			mustNot(t, r.await(cl, func(_ *Cx, d *shelf) {
				if got := modelOfShelf(d).fields(); got != before {
					t.Errorf("after the abort\n%v\nwant\n%v", got, before)
				}
			}))
		})
	}
}

// TestLogNumbersAreUnique: contexts that take turns and ones that do not never agree.
func TestLogNumbersAreUnique(t *testing.T) {
	seen := map[uint64]bool{0: true}
	take := func(rounds uint16) bool {
		cx := &Cx{}
		for range rounds {
			n := cx.logNumber()
			if seen[n] || cx.logNumber() != n {
				return false
			}
			seen[n] = true
			cx.reset()
		}
		return true
	}
	if err := quick.Check(take, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

// TestUndoOfWhatHeldNothing: a place that is an interface may have been empty.
func TestUndoOfWhatHeldNothing(t *testing.T) {
	cx, self := &Cx{}, &order.Self{}
	var place error
	Log(cx, self, 0, &place)
	place = ErrClosed
	cx.log[0].undo()
	if place != nil {
		t.Errorf("the place holds %v", place)
	}
}
