package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

// airline is the state of an actor with one table.
type airline struct {
	large   image.Large
	flights flights
}

func (a *airline) StoredRows() *image.Large         { return &a.large }
func (a *airline) SaveField(w *image.Writer, _ int) { table.Save(w, &a.flights) }
func (a *airline) LoadFields(r *image.Reader)       { table.Load(r, 0, &a.flights) }

func newAirline(shape *table.Shape[string, flight]) *airline {
	return &airline{flights: table.New(shape)}
}

var (
	id     = event.SerialActor(1, 1)
	layout = &store.Layout{Class: "p.Airline", Fields: []store.FieldLayout{{Name: "flights", Number: 3}}}
)

// commit writes what has changed, and returns how many rows it has written.
func (a *airline) commit(t rapid.TB, e *memengine.Engine, undo []value.Undo, in *store.Layout) int {
	b := &counted{Batch: e.NewBatch()}
	var w image.Writer
	w.Begin(b, id, in)
	w.Field(a, 0, undo, false)
	w.Finish()
	if err := e.Apply(b.Batch); err != nil {
		t.Fatal(err)
	}
	return b.n
}

// counted counts the changes of a batch.
type counted struct {
	store.Batch
	n int
}

func (c *counted) Set(key, row []byte)         { c.n++; c.Batch.Set(key, row) }
func (c *counted) Delete(key []byte)           { c.n++; c.Batch.Delete(key) }
func (c *counted) DeleteRange(from, to []byte) { c.n++; c.Batch.DeleteRange(from, to) }

func load(t rapid.TB, e store.Reader, in *store.Layout, shape *table.Shape[string, flight]) *airline {
	a := newAirline(shape)
	if err := image.NewReader(e, id, in, nil).Within(newRoom(plenty)).Read(a); err != nil {
		t.Fatal(err)
	}
	return a
}

// storedShape is shape with rows that can be stored.
func storedShape() *table.Shape[string, flight] {
	s := shape
	s.Put = func(e *codec.Encoder, f flight) {
		e.String(f.id)
		e.String(f.to)
		e.Int(f.price)
		codec.PutVector(e, f.tags, (*codec.Encoder).String)
	}
	s.Get = func(d *codec.Decoder) (f flight) {
		f.id, f.to, f.price = d.String(), d.String(), d.Int()
		f.tags = codec.GetVector(d, (*codec.Decoder).String)
		return f
	}
	s.Names = []string{"to", "price:to"}
	return &s
}

// What events leave in the store is the table: whatever they wrote, whether they failed, whether the actor was loaded
// anew in between, and however many rows it has.
func TestStoredTableIsItsModel(t *testing.T) {
	shape := storedShape()
	rapid.Check(t, func(t *rapid.T) {
		engine := memengine.New()
		a := newAirline(shape)
		e := &writes{tab: a.flights, m: model{}}
		for i := range rapid.SampledFrom([]int{0, 30, 150}).Draw(t, "rows") {
			f := flight{fmt.Sprintf("k%d", i), places[i%len(places)], int64(i % 5), value.VectorOf("t")}
			table.Put(a.flights, f)
			e.m[f.id] = f
		}
		a.commit(t, engine, nil, layout)
		for round := range rapid.IntRange(1, 8).Draw(t, "events") {
			if rapid.Bool().Draw(t, "loaded") {
				a = load(t, engine, layout, shape)
				e.tab = a.flights
			}
			before := e.m.clone()
			e.log, e.undo = uint64(round+1), nil
			for range rapid.IntRange(0, 120).Draw(t, "steps") {
				e.step(t)
				if rapid.IntRange(0, 15).Draw(t, "look") == 0 {
					compare(t, e.tab, e.m)
				}
			}
			snapshot, was := e.tab.Snapshot(), e.m.clone()
			compare(t, e.tab, e.m)
			if rapid.IntRange(0, 2).Draw(t, "fails") == 0 {
				for i := len(e.undo) - 1; i >= 0; i-- {
					e.undo[i].Undo()
				}
				e.m = before
			} else {
				e.step(t)
				compare(t, snapshot, was)
				if len(e.undo) > 0 {
					a.commit(t, engine, e.undo, layout)
				}
			}
			compare(t, e.tab, e.m)
		}
		again := load(t, engine, layout, shape)
		compare(t, again.flights, e.m)
		if x, y := image.State(a, 1), image.State(again, 1); !bytes.Equal(x, y) {
			t.Fatal("equal states have other sums")
		}
		checkRows(t, engine, int(again.flights.Size()))
	})
}

// checkRows fails if there are rows or entries in the store that no table has.
func checkRows(t rapid.TB, e *memengine.Engine, rows int) {
	from, to := store.FieldsRange(id)
	n := 0
	for it := e.Scan(from, to); it.Next(); {
		n++
	}
	if n != 1 && n != 1+3*rows {
		t.Fatalf("%d rows in the store for a table of %d rows with two indexes", n, rows)
	}
}

func large(t testing.TB, n int) (*memengine.Engine, *table.Shape[string, flight]) {
	shape := storedShape()
	e, a := memengine.New(), newAirline(shape)
	for i := range n {
		table.Put(a.flights, flight{fmt.Sprintf("k%06d", i), places[i%len(places)], int64(i % 7), value.Vector[string]{}})
	}
	a.commit(t, e, nil, layout)
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	return e, shape
}

// An event that changes one row of many writes that row, the entries that differ, and the count if it does.
func TestCommitWritesWhatHasChanged(t *testing.T) {
	e, shape := large(t, 5000)
	for _, tt := range []struct {
		what string
		do   func(flights)
		want int
	}{
		{"column of one index", func(f flights) { table.Update(f, "k000100", func(r *flight) { r.price = 99 }) }, 1 + 2 + 1},
		{"column of no index", func(f flights) { table.Update(f, "k000100", func(r *flight) { value.Push(&r.tags, "x") }) }, 1 + 1},
		{"insert", func(f flights) { table.Insert(f, flight{id: "new"}) }, 3 + 1},
		{"remove", func(f flights) { table.Remove(f, "new") }, 3 + 1},
	} {
		a := load(t, e, layout, shape)
		tt.do(a.flights)
		if n := a.commit(t, e, nil, layout); n != tt.want {
			t.Errorf("%s: %d rows, want %d", tt.what, n, tt.want)
		}
		if n := a.commit(t, e, nil, layout); n != 0 {
			t.Errorf("%s, again: %d rows", tt.what, n)
		}
	}
	checkRows(t, e, 5000)
}

// A loop that is left after a few rows, and a query that finds few, read few rows.
func TestRowsAreReadOneByOne(t *testing.T) {
	e, shape := large(t, 5000)
	c := &memengine.Counting{Reader: e}
	tab := load(t, c, layout, shape).flights
	for what, f := range map[string]func(){
		"get":  func() { tab.At("k001000") },
		"size": func() { tab.Size() },
		"first": func() {
			for range tab.All() {
				break
			}
		},
		"first of an index": func() {
			for range tab.Rows(table.Equal(byTo, text("Rome"))) {
				break
			}
		},
		"range": func() { tab.Select(table.Range(table.ByKey, nil, text("k001000"), text("k001003"))) },
		"last":  func() { tab.Select(table.AllRows.Reversed().Limit(1)) },
		"last of an index": func() {
			for range tab.Rows(table.Range(byPriceTo, nil, nil, nil).Reversed()) {
				break
			}
		},
		"last of a part of an index": func() { tab.Select(table.Equal(byPriceTo, number(3)).Reversed().Limit(1)) },
		"none of a limit":            func() { tab.Select(table.AllRows.Limit(0)) },
		"none":                       func() { tab.Select(table.Equal(byTo, text("Paris"))) },
	} {
		c.Reset()
		f()
		if c.Gets() > 2 || c.Scanned() > 5 {
			t.Errorf("%s: %d rows asked for, %d gone over", what, c.Gets(), c.Scanned())
		}
	}
}

// A limit of ten over a hundred thousand rows reads ten of them, in either direction, by the key and by an index.
func TestALimitReadsNoMore(t *testing.T) {
	e, shape := large(t, 100_000)
	c := &memengine.Counting{Reader: e}
	tab := load(t, c, layout, shape).flights
	for what, q := range map[string]table.Query{
		"by key":            table.AllRows,
		"by index":          table.Range(byPriceTo, nil, nil, nil),
		"by part of index":  table.Equal(byPriceTo, number(3)),
		"by range of index": table.Range(byPriceTo, nil, number(2), number(5)),
	} {
		for _, q := range []table.Query{q, q.Reversed()} {
			c.Reset()
			if n := tab.Select(q.Limit(10)).Size(); n != 10 || c.Scanned() > 11 || c.Gets() > 10 {
				t.Errorf("%s: %d rows, %d gone over, %d asked for", what, n, c.Scanned(), c.Gets())
			}
		}
	}
}

// An index that is declared anew is built when the actor is loaded, and stored with the next commit.
func TestIndexesThatChange(t *testing.T) {
	e, shape := large(t, 300)
	other := *shape
	other.Indexes, other.Names = other.Indexes[1:], other.Names[1:]
	a := load(t, e, layout, &other)
	if got := a.flights.Select(table.Range(0, nil, number(6), nil)).Size(); got != 300/7 {
		t.Errorf("%d rows", got)
	}
	table.Update(a.flights, "k000000", func(f *flight) { f.price = 6 })
	a.commit(t, e, nil, layout)
	a = load(t, e, layout, &other)
	if got := a.flights.Select(table.Range(0, nil, number(6), nil)).Size(); got != 300/7+1 {
		t.Errorf("%d rows", got)
	}
	from, to := store.FieldsRange(id)
	n := 0
	for it := e.Scan(from, to); it.Next(); {
		n++
	}
	if n != 1+300*2 {
		t.Errorf("%d rows are stored", n)
	}
}

// A field whose type has become another one moves to a place of its own with the next commit.
func TestTableMoves(t *testing.T) {
	e, shape := large(t, 300)
	moved := &store.Layout{Class: "p.Airline", Fields: []store.FieldLayout{{Name: "flights", Number: 4, Former: []store.FormerField{{Number: 3, Required: true}}}}}
	a := load(t, e, moved, shape)
	table.Update(a.flights, "k000000", func(f *flight) { f.price = 6 })
	a.commit(t, e, nil, moved)
	a = load(t, e, moved, shape)
	if got := a.flights.Select(table.Range(byPriceTo, nil, number(6), nil)).Size(); got != 300/7+1 {
		t.Errorf("%d rows", got)
	}
	checkRows(t, e, 300)
}

// Damage is an error that names the field, never absence.
func TestDamagedTable(t *testing.T) {
	e, shape := large(t, 300)
	var keys [][]byte
	from, to := store.FieldsRange(id)
	for it := e.Scan(from, to); it.Next(); {
		keys = append(keys, bytes.Clone(it.Key()))
	}
	for _, tt := range []struct {
		what string
		key  []byte
		row  func([]byte) []byte
		want string
	}{
		{"row", keys[5], func(row []byte) []byte { row[3] ^= 1; return row }, "checksum"},
		{"row that is missing", keys[5], func([]byte) []byte { return nil }, "there is no such row"},
		{"entry", keys[305], func(row []byte) []byte { row[2] ^= 1; return row }, "checksum"},
		{"head", keys[0], func(row []byte) []byte { return row[:4] }, "no row"},
	} {
		damaged := e.Reopen()
		row, _, _ := damaged.Get(tt.key, nil)
		b := damaged.NewBatch()
		if row = tt.row(row); row == nil {
			b.Delete(tt.key)
		} else {
			b.Set(tt.key, row)
		}
		if err := damaged.Apply(b); err != nil {
			t.Fatal(err)
		}
		got := ""
		func() {
			defer func() {
				if p, ok := recover().(*value.Unreadable); ok {
					got = p.Err.Error()
				}
			}()
			a := newAirline(shape)
			if err := image.NewReader(damaged, id, layout, nil).Read(a); err != nil {
				got = err.Error()
				return
			}
			for _, to := range places {
				a.flights.Select(table.Equal(byTo, text(to)))
			}
			for range a.flights.All() {
			}
		}()
		if !strings.Contains(got, tt.want) || !strings.Contains(got, "flights") {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
		e = e.Reopen()
	}
}

// A read of all rows, or of all entries of an index, notices that one is missing.
func TestAllRowsAreAsManyAsThereShouldBe(t *testing.T) {
	e, shape := large(t, 300)
	for what, query := range map[string]table.Query{"e": table.Range(table.ByKey, nil, nil, nil), "x": table.Range(byTo, nil, nil, nil)} {
		damaged := e.Reopen()
		from := append(store.AppendField(nil, id, layout.Fields[0].Number), what...)
		it := damaged.Scan(from, store.After(from))
		if !it.Next() {
			t.Fatalf("there are no rows in %s", what)
		}
		b := damaged.NewBatch()
		b.Delete(it.Key())
		if err := errors.Join(it.Close(), damaged.Apply(b)); err != nil {
			t.Fatal(err)
		}
		flights := load(t, damaged, layout, shape).flights
		func() {
			defer func() {
				if p, ok := recover().(*value.Unreadable); !ok || !strings.Contains(p.Error(), "it has 299 rows, and should have 300") {
					t.Errorf("a row of %s is missing: %v", what, p)
				}
			}()
			n := 0
			for range flights.Rows(query) {
				n++
			}
			t.Errorf("a row of %s is missing: %d rows", what, n)
		}()
		e = e.Reopen()
	}
}

// What is in memory of a table that is stored stays bounded, and what an event has written is read from the store
// afterwards.
func TestCommittedRowsLeaveMemory(t *testing.T) {
	e, shape := large(t, 5000)
	c := &memengine.Counting{Reader: e}
	a := load(t, c, layout, shape)
	for i := range 2000 {
		table.Update(a.flights, fmt.Sprintf("k%06d", 2*i), func(f *flight) { f.price = 77 })
	}
	c.Reset()
	if a.flights.At("k000000"); c.Gets() != 0 {
		t.Error("a row that the event has written is read from the store")
	}
	a.commit(t, e, nil, layout)
	if a.flights.At("k000000"); c.Gets() != 1 {
		t.Error("all rows stay in memory")
	}
	if got := a.flights.Select(table.Equal(byPriceTo, number(77))).Size(); got != 2000 {
		t.Errorf("%d rows, want 2000", got)
	}
}
