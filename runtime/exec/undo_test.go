package exec

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// TestLoopsOverElementsLogLittle: the size of the container bounds what the log of an event keeps of it, not
// the number of writes.
func TestLoopsOverElementsLogLittle(t *testing.T) {
	_, cl := testSystem(t, Config{})
	loops := map[string]struct {
		entries int
		body    func(cx *Cx, d *shelf, i int64)
	}{
		"one element":   {1, func(cx *Cx, d *shelf, i int64) { undo.VectorSet(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, 3, i) }},
		"every element": {45, func(cx *Cx, d *shelf, i int64) { undo.VectorSet(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, i%100, i) }},
		"push":          {1, func(cx *Cx, d *shelf, i int64) { undo.VectorPush(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, i) }},
		"push and pop": {1, func(cx *Cx, d *shelf, i int64) {
			undo.VectorPush(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, i)
			undo.VectorPop(cx.UndoLog(), &d.Self, shelfFlat, &d.flat)
		}},
		"queue": {80, func(cx *Cx, d *shelf, i int64) {
			undo.VectorPush(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, i)
			undo.VectorRemove(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, 0)
		}},
		"one entry": {1, func(cx *Cx, d *shelf, i int64) {
			undo.MapSet(cx.UndoLog(), &d.Self, shelfIndex, &d.index, "a", shelfRow{n: i})
		}},
		"set": {60, func(cx *Cx, d *shelf, i int64) { undo.SetAdd(cx.UndoLog(), &d.Self, shelfSet, &d.set, i) }},
		"set, in and out": {1, func(cx *Cx, d *shelf, i int64) {
			undo.SetAdd(cx.UndoLog(), &d.Self, shelfSet, &d.set, -1)
			undo.SetRemove(cx.UndoLog(), &d.Self, shelfSet, &d.set, -1)
		}},
		"sort": {1, func(cx *Cx, d *shelf, i int64) { undo.VectorSort(cx.UndoLog(), &d.Self, shelfFlat, &d.flat) }},
		"nested": {2, func(cx *Cx, d *shelf, i int64) {
			undo.VectorPush(cx.UndoLog(), &d.Self, shelfRows|undo.Inside, &undo.VectorElem(cx.UndoLog(), &d.Self, shelfRows, &d.rows, 1).tags, i)
		}},
		"in a value": {1, func(cx *Cx, d *shelf, i int64) { undo.VectorPush(cx.UndoLog(), &d.Self, shelfCell, &d.cell.tags, i) }},
	}
	for name, l := range loops {
		t.Run(name, func(t *testing.T) {
			r := newShelf(t, cl)
			mustNot(t, r.await(cl, func(cx *Cx, d *shelf) {
				for i := range int64(100) {
					undo.VectorPush(cx.UndoLog(), &d.Self, shelfFlat, &d.flat, i)
					undo.SetAdd(cx.UndoLog(), &d.Self, shelfSet, &d.set, i*1000)
				}
				for range 3 {
					undo.VectorPush(cx.UndoLog(), &d.Self, shelfRows, &d.rows, shelfRow{tags: value.VectorOf[int64](1)})
				}
				undo.MapSet(cx.UndoLog(), &d.Self, shelfIndex, &d.index, "a", shelfRow{})
			}))
			var before [5]string
			var entries int
			err := r.await(cl, func(cx *Cx, d *shelf) {
				before = modelOfShelf(d).fields()
				for i := range int64(5000) {
					l.body(cx, d, i)
				}
				entries = len(cx.UndoLog().Entries())
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
