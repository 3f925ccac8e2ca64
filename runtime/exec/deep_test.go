package exec

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
	"pgregory.net/rapid"
)

// The tests of this file write below fields of an actor as generated code does, beside a
// model that copies everything deeply.

type shelfRow struct {
	n    int64
	name string
	tags value.Vector[int64]
	by   value.Map[string, value.Vector[int64]]
}

func (r *shelfRow) MarkShared() {
	r.tags.MarkShared()
	r.by.MarkShared()
}

func (r shelfRow) Share() shelfRow {
	r.MarkShared()
	return r
}

type shelf struct {
	order.Self
	rows  value.Vector[shelfRow]
	index value.Map[string, shelfRow]
	cell  shelfRow
	set   value.Set[int64]
	flat  value.Vector[int64]
}

const (
	shelfRows uint16 = iota
	shelfIndex
	shelfCell
	shelfSet
	shelfFlat
)

var (
	classShelf  = Class{Shape: order.Shape{Package: "t", Name: "Shelf", Fields: make([]order.Field, 5)}}
	methodShelf = Method{Class: &classShelf, Name: "work", Effects: order.Effects{Self: order.Write}}
	shelfNew    = Method{Class: &classShelf, Name: "Shelf", Effects: order.Effects{Self: order.Write}}
)

func init() {
	classShelf.New = func() order.Object { return &shelf{} }
	shelfNew.Run = func(*Cx, any, order.Args) {}
	methodShelf.Run = func(cx *Cx, self any, args order.Args) { args.(func(*Cx, *shelf))(cx, self.(*shelf)) }
}

type shelfRef struct{ order.Ref }

func newShelf(t rapid.TB, cl *Client) shelfRef {
	r, err := cl.New(&classShelf, &shelfNew, nil)
	if err != nil {
		t.Fatal(err)
	}
	return shelfRef{r}
}

func (r shelfRef) await(cl *Client, f func(*Cx, *shelf)) error {
	return cl.Await(r.Ref, &methodShelf, f)
}

// shelfModel is what a shelf holds, without sharing.
type (
	modelRow struct {
		n    int64
		name string
		tags []int64
		by   map[string][]int64
	}
	shelfModel struct {
		rows  []modelRow
		index map[string]modelRow
		cell  modelRow
		set   map[int64]bool
		flat  []int64
	}
)

func modelOf(r shelfRow) modelRow {
	m := modelRow{r.n, r.name, append([]int64{}, r.tags.Items()...), map[string][]int64{}}
	for _, k := range r.by.Keys().Items() {
		m.by[k] = append([]int64{}, r.by.At(k).Items()...)
	}
	return m
}

func (m modelRow) copy() modelRow {
	c := modelRow{m.n, m.name, append([]int64{}, m.tags...), map[string][]int64{}}
	for k, v := range m.by {
		c.by[k] = append([]int64{}, v...)
	}
	return c
}

func (m *shelfModel) copy() *shelfModel {
	c := &shelfModel{index: map[string]modelRow{}, cell: m.cell.copy(), set: map[int64]bool{}, flat: append([]int64{}, m.flat...)}
	for _, r := range m.rows {
		c.rows = append(c.rows, r.copy())
	}
	for k, r := range m.index {
		c.index[k] = r.copy()
	}
	for k := range m.set {
		c.set[k] = true
	}
	return c
}

// fields returns the text of every field.
func (m *shelfModel) fields() [5]string {
	text := func(x any) string { return fmt.Sprint(x) }
	return [5]string{text(m.rows), text(m.index), text(m.cell), text(m.set), text(m.flat)}
}

func modelOfShelf(d *shelf) *shelfModel {
	m := &shelfModel{index: map[string]modelRow{}, cell: modelOf(d.cell), set: map[int64]bool{}, flat: append([]int64{}, d.flat.Items()...)}
	for _, r := range d.rows.Items() {
		m.rows = append(m.rows, modelOf(r))
	}
	for _, k := range d.index.Keys().Items() {
		m.index[k] = modelOf(d.index.At(k))
	}
	for _, k := range d.set.Keys().Items() {
		m.set[k] = true
	}
	return m
}

// held is a copy of some rows, and what it was when it was made.
type held struct {
	vec  value.Vector[shelfRow]
	one  shelfRow
	vecM string
	oneM string
}

func (h *held) check(t *rapid.T) {
	var rows []modelRow
	for _, r := range h.vec.Items() {
		rows = append(rows, modelOf(r))
	}
	if got := fmt.Sprint(rows); got != h.vecM {
		t.Fatalf("a copy changed from %v to %v", h.vecM, got)
	}
	if got := fmt.Sprint(modelOf(h.one)); got != h.oneM {
		t.Fatalf("a copy changed from %v to %v", h.oneM, got)
	}
}

// writer does the same to a shelf and its model.
type writer struct {
	t  *rapid.T
	cx *Cx
	d  *shelf
	m  *shelfModel
	// held are copies; the newest ones are of this event.
	held []*held
}

func (w *writer) int(name string, below int) int { return rapid.IntRange(0, below-1).Draw(w.t, name) }
func (w *writer) key() string                    { return string(rune('a' + w.int("key", 4))) }

// row picks a row on the shelf, and calls f for the row in place and for its model.
func (w *writer) row(f func(r *shelfRow, m *modelRow, field uint16)) {
	d, m := w.d, w.m
	switch w.int("which", 3) {
	case 0:
		if len(m.rows) == 0 {
			return
		}
		i := w.int("row", len(m.rows))
		f(undo.VectorElem(w.cx.UndoLog(), &d.Self, shelfRows, &d.rows, int64(i)), &m.rows[i], shelfRows|undo.Inside)
	case 1:
		k := w.key()
		r, ok := m.index[k]
		if !ok {
			return
		}
		undo.MapUpdate(w.cx.UndoLog(), &d.Self, shelfIndex, &d.index, k, func(p *shelfRow) { f(p, &r, shelfIndex|undo.Inside) })
		m.index[k] = r
	case 2:
		f(&d.cell, &m.cell, shelfCell)
	}
}

// vector writes to a vector of numbers, more often than not several times.
func (w *writer) vector(field uint16, v *value.Vector[int64], m *[]int64) {
	for range 1 + w.int("in a row", 6) {
		w.vectorOnce(field, v, m)
	}
}

func (w *writer) vectorOnce(field uint16, v *value.Vector[int64], m *[]int64) {
	cx, self, x := w.cx, &w.d.Self, int64(w.int("x", 100))
	n := len(*m)
	op := w.int("vector op", 8)
	if n == 0 && op != 5 && op != 6 {
		op = 0
	}
	switch op {
	case 0, 7:
		for range 1 + w.int("times", 3) {
			undo.VectorPush(cx.UndoLog(), self, field, v, x)
			*m = append(*m, x)
		}
	case 1:
		if got := undo.VectorPop(cx.UndoLog(), self, field, v); got != (*m)[n-1] {
			w.t.Fatalf("pop gave %d, want %d", got, (*m)[n-1])
		}
		*m = (*m)[:n-1]
	case 2:
		for range 1 + w.int("times", 12) {
			i := w.int("i", n)
			undo.VectorSet(cx.UndoLog(), self, field, v, int64(i), x)
			(*m)[i] = x
			x++
		}
	case 3:
		i := w.int("i", n+1)
		undo.VectorInsert(cx.UndoLog(), self, field, v, int64(i), x)
		*m = append((*m)[:i:i], append([]int64{x}, (*m)[i:]...)...)
	case 4:
		i := w.int("i", n)
		undo.VectorRemove(cx.UndoLog(), self, field, v, int64(i))
		*m = append((*m)[:i:i], (*m)[i+1:]...)
	case 5:
		undo.VectorClear(cx.UndoLog(), self, field, v)
		*m = nil
	case 6:
		undo.VectorSort(cx.UndoLog(), self, field, v)
		*m = append([]int64{}, value.VectorOf(*m...).Items()...)
		s := value.VectorOf(*m...)
		value.Sort(&s)
		*m = append([]int64{}, s.Items()...)
	}
}

// inRow writes below a row.
func (w *writer) inRow(r *shelfRow, m *modelRow, field uint16) {
	cx, self := w.cx, &w.d.Self
	switch w.int("row op", 6) {
	case 0:
		if field&undo.Inside == 0 {
			undo.Field(cx.UndoLog(), self, field, &r.n)
		}
		r.n++
		m.n++
	case 1:
		if field&undo.Inside == 0 {
			undo.Field(cx.UndoLog(), self, field, &r.name)
		}
		r.name += "x"
		m.name += "x"
	case 2, 3:
		w.vector(field, &r.tags, &m.tags)
	case 4:
		k := w.key()
		if v, ok := m.by[k]; ok {
			undo.MapUpdate(cx.UndoLog(), self, field, &r.by, k, func(p *value.Vector[int64]) { w.vector(field|undo.Inside, p, &v) })
			m.by[k] = v
			return
		}
		undo.MapSet(cx.UndoLog(), self, field, &r.by, k, r.tags.Share())
		m.by[k] = append([]int64{}, m.tags...)
	case 5:
		k := w.key()
		undo.MapRemove(cx.UndoLog(), self, field, &r.by, k)
		delete(m.by, k)
	}
}

func (w *writer) step() {
	cx, d, m := w.cx, w.d, w.m
	self := &d.Self
	switch w.int("op", 14) {
	case 0, 1, 2, 3:
		w.row(w.inRow)
	case 4:
		w.vector(shelfFlat, &d.flat, &m.flat)
	case 5:
		undo.VectorPush(cx.UndoLog(), self, shelfRows, &d.rows, d.cell.Share())
		m.rows = append(m.rows, m.cell.copy())
	case 6: // an element is taken out, written and put elsewhere
		if n := len(m.rows); n > 0 {
			r := undo.VectorPop(cx.UndoLog(), self, shelfRows, &d.rows)
			value.Push(&r.tags, 7)
			undo.Field(cx.UndoLog(), self, shelfCell, &d.cell)
			d.cell = r
			m.cell = m.rows[n-1]
			m.cell.tags = append(m.cell.tags, 7)
			m.rows = m.rows[:n-1]
		}
	case 7:
		k := w.key()
		undo.MapSet(cx.UndoLog(), self, shelfIndex, &d.index, k, d.cell.Share())
		m.index[k] = m.cell.copy()
	case 8:
		k := w.key()
		undo.MapRemove(cx.UndoLog(), self, shelfIndex, &d.index, k)
		delete(m.index, k)
	case 9:
		if n := len(m.rows); n > 0 {
			i := w.int("i", n)
			undo.Field(cx.UndoLog(), self, shelfCell, &d.cell)
			d.cell = d.rows.At(int64(i)).Share()
			m.cell = m.rows[i].copy()
		}
	case 10:
		for range 1 + w.int("in a row", 20) {
			x := int64(w.int("x", 40))
			if w.int("add", 3) > 0 {
				undo.SetAdd(cx.UndoLog(), self, shelfSet, &d.set, x)
				m.set[x] = true
			} else {
				undo.SetRemove(cx.UndoLog(), self, shelfSet, &d.set, x)
				delete(m.set, x)
			}
		}
	case 11:
		h := &held{vec: d.rows.Share(), one: d.cell.Share(), vecM: fmt.Sprint(m.rows), oneM: fmt.Sprint(m.cell)}
		w.held = append(w.held, h)
	case 12:
		if n := len(m.rows); n > 0 {
			i := w.int("i", n)
			undo.VectorRemove(cx.UndoLog(), self, shelfRows, &d.rows, int64(i))
			m.rows = append(m.rows[:i:i], m.rows[i+1:]...)
		}
	case 13:
		switch w.int("clear", 12) {
		case 0:
			undo.VectorClear(cx.UndoLog(), self, shelfRows, &d.rows)
			m.rows = nil
		case 1:
			undo.MapClear(cx.UndoLog(), self, shelfIndex, &d.index)
			m.index = map[string]modelRow{}
		case 2:
			undo.SetClear(cx.UndoLog(), self, shelfSet, &d.set)
			m.set = map[int64]bool{}
		}
	}
}

// TestDeepWritesAreUndoneExactly runs random events over nested containers. One that
// fails leaves everything as it was. One that commits has done what the model did, and has
// listed every field that it changed. No copy ever changes.
func TestDeepWritesAreUndoneExactly(t *testing.T) {
	_, cl := testSystem(t, Config{})
	enough := errors.New("enough")
	rapid.Check(t, func(t *rapid.T) {
		r := newShelf(t, cl)
		m := &shelfModel{index: map[string]modelRow{}, cell: modelRow{by: map[string][]int64{}}, set: map[int64]bool{}}
		var copies []*held
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			after := m.copy()
			abort := rapid.Bool().Draw(t, "abort")
			w := &writer{t: t, m: after, held: copies}
			err := r.await(cl, func(cx *Cx, d *shelf) {
				w.cx, w.d = cx, d
				before := modelOfShelf(d).fields()
				for range rapid.IntRange(1, 40).Draw(t, "steps") {
					w.step()
				}
				now := modelOfShelf(d).fields()
				for _, h := range w.held {
					h.check(t)
				}
				if now != after.fields() {
					t.Fatalf("the event has\n%v\nwant\n%v", now, after.fields())
				}
				checkRedo(t, cx, before, now)
				if abort {
					panic(&event.AbortError{Msg: enough.Error()})
				}
			})
			if (err != nil) != abort {
				t.Fatal(err)
			}
			if !abort {
				m, copies = after, w.held
			}
			for _, h := range copies { // copies of an event that failed have gone with it
				h.check(t)
			}
			err = r.await(cl, func(_ *Cx, d *shelf) {
				if got := modelOfShelf(d).fields(); got != m.fields() {
					t.Fatalf("abort %v, then the shelf has\n%v\nwant\n%v", abort, got, m.fields())
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkRedo fails if a field has changed that a commit would not store.
func checkRedo(t *rapid.T, cx *Cx, before, now [5]string) {
	listed := map[uint16]bool{}
	entries := cx.UndoLog().Entries()
	for i := range entries {
		listed[entries[i].Field()] = true
	}
	for f := range before {
		if before[f] != now[f] && !listed[uint16(f)] {
			t.Fatalf("field %d changed from %v to %v, and the log does not have it", f, before[f], now[f])
		}
	}
}
