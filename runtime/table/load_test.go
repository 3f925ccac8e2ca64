package table_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

// room is a budget of so many bytes.
type room struct{ left, taken atomic.Int64 }

func newRoom(bytes int64) *room {
	r := &room{}
	r.left.Store(bytes)
	return r
}

func (r *room) Take(bytes int64) bool {
	if r.left.Add(-bytes) < 0 {
		r.left.Add(bytes)
		return false
	}
	r.taken.Add(bytes)
	return true
}

func (r *room) Settle(bytes int64) {
	r.left.Add(bytes)
	if r.taken.Add(-bytes) < 0 {
		panic("more is given back than was taken")
	}
}

const plenty = 1 << 40

func loadWithin(t testing.TB, e store.Reader, shape *table.Shape[string, flight], budget *room) *airline {
	a := newAirline(shape)
	if err := image.NewReader(e, id, layout, nil).Within(budget).Read(a); err != nil {
		t.Fatal(err)
	}
	return a
}

var everyQuery = map[string]func(flights) int64{
	"by key":   func(f flights) int64 { return f.Values().Size() },
	"by index": func(f flights) int64 { return f.Select(table.Range(byTo, nil, nil, nil)).Size() },
	"keys":     func(f flights) int64 { return f.Keys().Size() },
	"one by one": func(f flights) (n int64) {
		for i := range 5000 {
			if f.Has(fmt.Sprintf("k%06d", i)) {
				n++
			}
		}
		return n
	},
}

// A table whose rows have been read as often as there are comes into memory: from then on no row is read from the store.
// It has what it had, and what an event has written before and writes afterwards.
func TestTableThatIsReadOftenComesIntoMemory(t *testing.T) {
	e, shape := large(t, 5000)
	for what, query := range everyQuery {
		c, budget := &memengine.Counting{Reader: e}, newRoom(plenty)
		a := loadWithin(t, c, shape, budget)
		a.flights.At("k004999")
		if c.Reads() > 3 {
			t.Fatalf("%s: %d rows are read for one", what, c.Reads())
		}
		for range 2 {
			if n := query(a.flights); n != 5000 {
				t.Fatalf("%s: %d rows", what, n)
			}
		}
		if c.Reads() > 5*5000 {
			t.Errorf("%s: %d reads for 5000 rows", what, c.Reads())
		}
		c.Reset()
		for other, query := range everyQuery {
			if n := query(a.flights); n != 5000 || c.Reads() > 0 {
				t.Errorf("%s, then %s: %d rows, %d reads", what, other, n, c.Reads())
			}
		}
		table.Update(a.flights, "k000007", func(f *flight) { f.price = 99 })
		table.Remove(a.flights, "k000008")
		if got := a.flights.Select(table.Equal(byPriceTo, number(99))).Size(); got != 1 || c.Reads() > 0 {
			t.Errorf("%s: %d rows are found that were written, %d reads", what, got, c.Reads())
		}
		if budget.taken.Load() != 0 {
			t.Errorf("%s: %d bytes were not given back", what, budget.taken.Load())
		}
	}
}

// A few reads of a large table do not bring it into memory, however it is written meanwhile.
func TestTableOfWhichLittleIsReadStays(t *testing.T) {
	e, shape := large(t, 5000)
	c := &memengine.Counting{Reader: e}
	a := loadWithin(t, c, shape, newRoom(plenty))
	for i := range 500 {
		key := fmt.Sprintf("k%06d", i)
		a.flights.At(key)
		table.Update(a.flights, key, func(f *flight) { f.price++ })
		table.Insert(a.flights, flight{id: "new" + key})
	}
	if c.Scanned() > 0 || c.Gets() > 6*500 {
		t.Errorf("%d rows were gone over, %d asked for, by 1500 gets and writes", c.Scanned(), c.Gets())
	}
}

// Without room for it a table stays in the store, and does what it did. One that turns out to be larger than
// what was read of it is given up on the way.
func TestTableWithoutRoomStays(t *testing.T) {
	e, shape := large(t, 5000)
	for _, bytes := range []int64{0, 1000, 1 << 20} {
		c, budget := &memengine.Counting{Reader: e}, newRoom(bytes)
		f := loadWithin(t, c, shape, budget).flights
		for range 5 {
			for what, query := range everyQuery {
				before := c.Reads()
				if n := query(f); n != 5000 || c.Reads() == before {
					t.Errorf("%d bytes, %s: %d rows, %d reads", bytes, what, n, c.Reads()-before)
				}
			}
		}
		if budget.taken.Load() != 0 || budget.left.Load() != bytes {
			t.Errorf("%d bytes were not given back", budget.taken.Load())
		}
	}
	text := make([]byte, 100_000)
	a := load(t, e, layout, shape)
	for i := range 500 {
		table.Put(a.flights, flight{id: fmt.Sprintf("z%06d", i), tags: value.VectorOf(string(text))})
	}
	a.commit(t, e, nil, layout)
	c, budget := &memengine.Counting{Reader: e}, newRoom(16<<20)
	f := loadWithin(t, c, shape, budget).flights
	for range 5501 {
		f.At("k000001") // which is small
	}
	if c.Scanned() < 5000 || c.Scanned() > 5200 {
		t.Errorf("%d rows are gone over by a load for which there is not enough memory", c.Scanned())
	}
	if f.At("z000499").tags.At(0) != string(text) || f.Values().Size() != 5500 || budget.taken.Load() != 0 {
		t.Errorf("%d rows, %d bytes taken", f.Values().Size(), budget.taken.Load())
	}
}

// Readers of one table read it side by side while one of them brings it into memory, some of them over what an event
// has written.
func TestReadersWhileATableComesIntoMemory(t *testing.T) {
	e, shape := large(t, 2000)
	for range 5 {
		a := loadWithin(t, e, shape, newRoom(plenty))
		for i := range 100 {
			table.Update(a.flights, fmt.Sprintf("k%06d", 7*i), func(f *flight) { f.to = "Paris" })
			table.Remove(a.flights, fmt.Sprintf("k%06d", 7*i+1))
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for k := range 3000 {
					key := (k*13 + i*500) % 2000
					f, ok := a.flights.Find(fmt.Sprintf("k%06d", key))
					switch written := key < 700; {
					case written && key%7 == 1 && ok, !(written && key%7 == 1) && !ok, written && key%7 == 0 && f.to != "Paris":
						t.Errorf("row %d is %v, %v", key, f, ok)
					}
				}
				if n := a.flights.Select(table.Equal(byTo, text("Paris"))).Size(); n != 100 {
					t.Errorf("%d rows are found", n)
				}
			})
		}
		wg.Wait()
		for i := range 100 {
			table.Update(a.flights, fmt.Sprintf("k%06d", 7*i), func(f *flight) { f.to = "Lima" })
		}
		if n := a.flights.Select(table.Equal(byTo, text("Lima"))).Size(); n != 100 || a.flights.Size() != 1900 {
			t.Errorf("%d rows are found of %d", n, a.flights.Size())
		}
	}
}

// An event that fails after it has brought a table into memory leaves nothing of what it has written, whether its log has
// records of rows or of everything; and one that commits leaves all.
func TestUndoAfterATableCameIntoMemory(t *testing.T) {
	e, shape := large(t, 1000)
	for _, writes := range []int{1, 100, 400} {
		for i := range 4 {
			fails, again := i%2 == 0, i >= 2
			c := &memengine.Counting{Reader: e.Reopen()}
			a := loadWithin(t, c, shape, newRoom(plenty))
			was := join(load(t, e, layout, shape).flights.Values().Items())
			var undo []value.Undo
			write := func(from int) {
				for i := range writes {
					f := flight{id: fmt.Sprintf("k%06d", 9*(from+i)), to: "Oslo", price: 50}
					key := table.KeyOf(a.flights, &f)
					if !a.flights.Body().Free(1) {
						undo = append(undo, a.flights.Body().Note(1, key))
					}
					table.PutAt(a.flights, key, f)
				}
			}
			write(0)
			for range 3 {
				a.flights.Values()
			}
			c.Reset()
			if a.flights.Values(); c.Reads() > 0 {
				t.Fatalf("%d writes: the table is not in memory", writes)
			}
			if again {
				write(writes / 2)
			}
			if fails {
				for i := len(undo) - 1; i >= 0; i-- {
					undo[i].Undo()
				}
				undo = nil
			} else {
				was = join(a.flights.Values().Items())
			}
			if got := join(a.flights.Values().Items()); got != was {
				t.Errorf("%d writes, fails %v: the table is not what it was", writes, fails)
			}
			if n := a.flights.Select(table.Equal(byPriceTo, number(50))).Size(); fails != (n == 0) {
				t.Errorf("%d writes, fails %v: the index has %d rows of them", writes, fails, n)
			}
			engine := c.Reader.(*memengine.Engine)
			a.commit(t, engine, undo, layout)
			if got := join(load(t, engine, layout, shape).flights.Values().Items()); got != was {
				t.Errorf("%d writes, fails %v: what is stored is not the table", writes, fails)
			}
			e = engine
			if !fails {
				e, shape = large(t, 1000)
			}
		}
	}
}
