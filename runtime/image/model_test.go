package image_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/value"
)

// content is what the containers of an actor are to contain.
type content struct {
	line   []string
	prices map[string]int64
}

func (c content) clone() content { return content{slices.Clone(c.line), maps.Clone(c.prices)} }

// check reads everything, at once and one by one.
func (c content) check(t *rapid.T, who string, line value.Vector[string], prices value.Map[string, int64]) {
	t.Helper()
	if got := line.Items(); !slices.Equal(got, c.line) {
		t.Fatalf("%s: the line is %v, want %v", who, got, c.line)
	}
	for i, want := range c.line {
		if got := line.At(int64(i)); got != want {
			t.Fatalf("%s: element %d is %q, want %q", who, i, got, want)
		}
	}
	if got := prices.Keys().Items(); !slices.Equal(got, slices.Sorted(maps.Keys(c.prices))) {
		t.Fatalf("%s: the keys are %v, want those of %v", who, got, c.prices)
	}
	value.Each(prices, func(k string, v int64) bool {
		if found, ok := prices.Find(k); v != c.prices[k] || found != v || !ok {
			t.Fatalf("%s: %s costs %d, and %d if asked for, want %d", who, k, v, found, c.prices[k])
		}
		return true
	})
	if prices.Has("none") || prices.Size() != int64(len(c.prices)) {
		t.Fatalf("%s: %d entries, want %d", who, prices.Size(), len(c.prices))
	}
}

// modelEvent writes to an actor as an event does, and to what it is to contain.
type modelEvent struct {
	a             *actor
	log           uint64
	undo          []func()
	line, entries []value.Undo
}

func (e *modelEvent) write(t *rapid.T, c *content) {
	note := func(list *[]value.Undo, u value.Undo) {
		if u != nil {
			*list = append(*list, u)
			e.undo = append(e.undo, u.Undo)
		}
	}
	line, prices := &e.a.line, &e.a.prices
	if was := *line; !value.SoleVector(was) {
		e.undo = append(e.undo, func() { e.a.line = was })
		value.OwnVector(line, e.log)
	}
	if was := *prices; !value.SoleMap(was) {
		e.undo = append(e.undo, func() { e.a.prices = was })
		value.OwnMap(prices, e.log)
	}
	n := len(c.line)
	i := rapid.IntRange(0, max(0, n-1)).Draw(t, "i")
	k := key(rapid.IntRange(0, 400).Draw(t, "k"))
	x := rapid.Int64Range(10, 1_000).Draw(t, "x")
	name := fmt.Sprint("name", x)
	op := rapid.IntRange(0, 25).Draw(t, "op")
	switch {
	case op < 6:
		if !value.FreeEntry(prices, e.log) {
			note(&e.entries, value.NoteEntry(prices, e.log, k))
		}
		value.PutEntry(prices, k, x)
		c.prices[k] = x
	case op < 10:
		if !prices.Has(k) {
			return
		}
		if !value.FreeEntry(prices, e.log) {
			note(&e.entries, value.NoteEntry(prices, e.log, k))
		}
		value.RemoveKey(prices, k)
		delete(c.prices, k)
	case op < 14 || n == 0:
		note(&e.line, value.NotePush(line, e.log))
		value.Push(line, name)
		c.line = append(c.line, name)
	case op < 17:
		note(&e.line, value.NotePop(line, e.log))
		value.Pop(line)
		c.line = c.line[:n-1]
	case op < 23:
		if !value.FreeElem(line, e.log, int64(i)) {
			note(&e.line, value.NoteSet(line, e.log, int64(i)))
		}
		value.SetAt(line, int64(i), name)
		c.line[i] = name
	case op == 23:
		note(&e.line, value.NoteInsert(line, e.log, int64(i)))
		value.InsertAt(line, int64(i), name)
		c.line = slices.Insert(c.line, i, name)
	case op == 25: // a copy, written without a log, becomes the field
		was, prices := *prices, prices.Share()
		e.undo = append(e.undo, func() { e.a.prices = was })
		value.SetEntry(&prices, k, x)
		c.prices[k] = x
		if rapid.Bool().Draw(t, "looked at") {
			c.check(t, "a copy that was written", *line, prices)
		}
		value.SetEntry(&prices, key(i), x)
		c.prices[key(i)] = x
		e.a.prices = prices
	default:
		note(&e.line, value.NoteRemove(line, e.log, int64(i)))
		value.RemoveAt(line, int64(i))
		c.line = slices.Delete(c.line, i, i+1)
	}
}

// Containers that are not in memory do the same as those in memory, also while an event writes them, when it has
// failed or committed, and after their actor was read again. Copies of them stay as they were.
func TestContainersThatAreNotInMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newShop(t)
		a, is := &actor{}, content{prices: map[string]int64{}}
		for i := range rapid.IntRange(120, 200).Draw(rt, "size") {
			value.Push(&a.line, key(i))
			value.SetEntry(&a.prices, key(2*i), int64(i))
			is.line, is.prices[key(2*i)] = append(is.line, key(i)), int64(i)
		}
		s.save(a, true, nil, 0, 1, 2)
		a = s.load()
		var copies []func()
		for range rapid.IntRange(1, 6).Draw(rt, "events") {
			s.log++
			e, will, before := &modelEvent{a: a, log: s.log}, is.clone(), len(copies)
			for range rapid.SampledFrom([]int{2, 10, 25, 90}).Draw(rt, "writes") {
				e.write(rt, &will)
				switch rapid.IntRange(0, 7).Draw(rt, "look") {
				case 0:
					will.check(rt, "in an event", a.line, a.prices)
				case 1:
					line, prices, was := a.line.Share(), a.prices.Share(), will.clone()
					copies = append(copies, func() { was.check(rt, "a copy", line, prices) })
				}
			}
			if rapid.Bool().Draw(rt, "fails") {
				for _, undo := range slices.Backward(e.undo) {
					undo()
				}
				copies = copies[:before] // the event that has made the others is undone
			} else {
				s.save(a, false, e.entries, 1)
				s.save(a, false, e.line, 2)
				is = will
			}
			is.check(rt, "after an event", a.line, a.prices)
			if rapid.IntRange(0, 3).Draw(rt, "left") == 0 {
				again := &actor{}
				r := image.NewReader(s.engine, actorID, s.layout, nil).Within(unlimited{}).Resume(a.StoredRows().Retire())
				if err := r.Read(again); err != nil {
					rt.Fatal(err)
				}
				a = again
				if rapid.Bool().Draw(rt, "looked at") { // else it begins the next event in the store
					is.check(rt, "read again", a.line, a.prices)
				}
			}
			for _, check := range copies {
				check()
			}
		}
	})
}
