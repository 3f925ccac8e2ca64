package table_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

type flight struct {
	id    string
	to    string
	price int64
	tags  value.Vector[string]
}

// MarkShared implements value.Sharer, as generated classes do.
func (f flight) MarkShared() { f.tags.MarkShared() }

func (f flight) String() string {
	return fmt.Sprintf("%s/%s/%d%v", f.id, f.to, f.price, f.tags.Items())
}

const (
	byTo = iota
	byPriceTo
)

var shape = table.Shape[string, flight]{
	Key:    func(f *flight) string { return f.id },
	PutKey: func(e *codec.Encoder, k string) { codec.PutKeyString(e, k) },
	Indexes: []func(*codec.Encoder, *flight){
		byTo:      func(e *codec.Encoder, f *flight) { codec.PutKeyString(e, f.to) },
		byPriceTo: func(e *codec.Encoder, f *flight) { codec.PutKeyInt(e, f.price); codec.PutKeyString(e, f.to) },
	},
}

func text(s string) table.Columns { return func(e *codec.Encoder) { codec.PutKeyString(e, s) } }
func number(n int64) table.Columns {
	return func(e *codec.Encoder) { codec.PutKeyInt(e, n) }
}

type flights = table.Table[string, flight]

// model is a table as the language says it is: rows by key, and no index.
type model map[string]flight

func (m model) sorted(order func(a, b flight) int, keep func(flight) bool) (list []flight) {
	for _, f := range m {
		if keep(f) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b flight) int { return cmp.Or(order(a, b), cmp.Compare(a.id, b.id)) })
	return list
}

func (m model) clone() model {
	c := model{}
	for k, f := range m {
		f.tags = value.VectorOf(slices.Clone(f.tags.Items())...)
		c[k] = f
	}
	return c
}

func join(list []flight) string {
	var s []string
	for _, f := range list {
		s = append(s, f.String())
	}
	return strings.Join(s, " ")
}

// compare compares everything that can be asked of a table with the model.
func compare(t *rapid.T, tab flights, m model) {
	byTag := func(a, b flight) int { return cmp.Compare(a.to, b.to) }
	byPrice := func(a, b flight) int { return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.to, b.to)) }
	none := func(a, b flight) int { return 0 }
	first := int64(rapid.IntRange(0, 6).Draw(t, "first"))
	// Reading may bring all rows into memory, so now this direction comes first, and now that.
	directions := rapid.SampledFrom([][]bool{{false, true}, {true, false}}).Draw(t, "directions")
	same := func(what string, of table.Query, list []flight) {
		for _, back := range directions {
			q, want := of, slices.Clone(list)
			if back {
				q = q.Reversed()
				slices.Reverse(want)
			}
			if got := join(tab.Select(q).Items()); got != join(want) {
				t.Fatalf("%s, back %v: %s, want %s", what, back, got, join(want))
			}
			few := want[:min(int(first), len(want))]
			if got := join(slices.Collect(tab.Rows(q.Limit(first)))); got != join(few) {
				t.Fatalf("%s, back %v, the first %d: %s, want %s", what, back, first, got, join(few))
			}
		}
	}
	if int(tab.Size()) != len(m) {
		t.Fatalf("size %d, want %d", tab.Size(), len(m))
	}
	same("values", table.AllRows, m.sorted(none, func(flight) bool { return true }))
	for _, to := range places {
		same("to "+to, table.Equal(byTo, text(to)), m.sorted(byTag, func(f flight) bool { return f.to == to }))
	}
	a, b := int64(rapid.IntRange(-1, 4).Draw(t, "a")), int64(rapid.IntRange(-1, 4).Draw(t, "b"))
	to := rapid.SampledFrom(places).Draw(t, "place")
	same("range", table.Range(byPriceTo, nil, number(a), number(b)), m.sorted(byPrice, func(f flight) bool { return a <= f.price && f.price < b }))
	same("from", table.Range(byPriceTo, nil, number(a), nil), m.sorted(byPrice, func(f flight) bool { return a <= f.price }))
	same("price, from", table.Range(byPriceTo, number(a), text(to), nil), m.sorted(byPrice, func(f flight) bool { return f.price == a && f.to >= to }))
	same("both", table.Equal(byPriceTo, func(e *codec.Encoder) { number(a)(e); text(to)(e) }), m.sorted(none, func(f flight) bool { return f.price == a && f.to == to }))
	same("key", table.Range(table.ByKey, nil, text("k1"), text("k3")), m.sorted(none, func(f flight) bool { return "k1" <= f.id && f.id < "k3" }))
}

var places = []string{"", "Rom", "Rome", "Rome\x00", "Oslo"}

// writes writes to a table as an event does, with a log.
type writes struct {
	tab  flights
	m    model
	log  uint64
	undo []value.Undo
}

func (e *writes) note(key string) {
	if e.tab.Body().Free(e.log) || len(e.undo) > 0 && e.tab.Body().Noted(e.undo[len(e.undo)-1], key) {
		return
	}
	e.undo = append(e.undo, e.tab.Body().Note(e.log, key))
}

func (e *writes) step(t *rapid.T) {
	id := fmt.Sprintf("k%d", rapid.IntRange(0, 90).Draw(t, "id"))
	to, price := rapid.SampledFrom(places).Draw(t, "to"), int64(rapid.IntRange(-1, 3).Draw(t, "price"))
	old, had := e.m[id]
	switch rapid.IntRange(0, 99).Draw(t, "step") % 12 {
	case 0:
		if rapid.IntRange(0, 9).Draw(t, "clear") > 0 {
			return
		}
		if u := e.tab.Body().Empty(e.log); u != nil {
			e.undo = append(e.undo, u)
		}
		clear(e.m)
	case 1, 2, 3:
		if key, ok := table.Key(e.tab, id); ok != had {
			t.Fatalf("key %s: %v", id, ok)
		} else if ok {
			e.note(key)
			e.tab.Body().RemoveAt(key)
			delete(e.m, id)
		}
	case 4, 5, 6:
		if had {
			key := table.MustKey(e.tab, id)
			e.note(key)
			table.UpdateAt(e.tab, key, func(f *flight) { f.to, f.price = to, f.price+1 })
			old.to, old.price = to, old.price+1
			e.m[id] = old
		}
	default:
		f := flight{id, to, price, value.VectorOf(to)}
		key := table.KeyOf(e.tab, &f)
		e.note(key)
		table.PutAt(e.tab, key, f)
		e.m[id] = f
	}
}

// A table and all its indexes do what the language says, snapshots stay as they were, and an undo brings back what
// was before the event.
func TestTableIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &writes{tab: table.New(&shape), m: model{}}
		for round := range rapid.IntRange(1, 8).Draw(t, "events") {
			before := e.m.clone()
			e.log, e.undo = uint64(round+1), nil
			var snapshots []flights
			var were []model
			for range rapid.IntRange(0, 90).Draw(t, "steps") {
				e.step(t)
				if rapid.IntRange(0, 15).Draw(t, "snapshot") == 0 {
					snapshots, were = append(snapshots, e.tab.Snapshot()), append(were, e.m.clone())
				}
			}
			compare(t, e.tab, e.m)
			for i, s := range snapshots {
				compare(t, s, were[i])
			}
			if rapid.Bool().Draw(t, "fails") {
				for i := len(e.undo) - 1; i >= 0; i-- {
					e.undo[i].Undo()
				}
				e.m = before
				compare(t, e.tab, e.m)
			}
		}
	})
}

// What a query finds is a copy: containers in the rows are shared until one side is written.
func TestRowsAreCopies(t *testing.T) {
	tab := table.New(&shape)
	table.Insert(tab, flight{id: "a", tags: value.VectorOf("x")})
	list := tab.Values()
	table.Update(tab, "a", func(f *flight) { value.Push(&f.tags, "y") })
	snapshot := tab.Snapshot()
	table.Update(tab, "a", func(f *flight) { value.Push(&f.tags, "z") })
	for want, got := range map[string]value.Vector[flight]{"a//0[x]": list, "a//0[x y]": snapshot.Values(), "a//0[x y z]": tab.Values()} {
		if join(got.Items()) != want {
			t.Errorf("%s, want %s", join(got.Items()), want)
		}
	}
}

func TestFailuresOfQueries(t *testing.T) {
	tab := table.New(&shape)
	table.Insert(tab, flight{id: "a", to: "Rome"})
	changed := table.New(&shape) // by what undoes the event, if it is in a field
	table.Insert(changed, flight{id: "a"})
	for want, f := range map[string]func(){
		`duplicate key "a"`:                  func() { table.Insert(tab, flight{id: "a"}) },
		`missing key "b"`:                    func() { tab.At("b") },
		`missing key "c"`:                    func() { table.Update(tab, "c", func(*flight) {}) },
		"the key of a row cannot be changed": func() { table.Update(changed, "a", func(f *flight) { f.id = "b" }) },
	} {
		func() {
			defer func() {
				if p, ok := recover().(value.Fault); !ok || p.Msg != want {
					t.Errorf("%v, want %s", p, want)
				}
			}()
			f()
		}()
	}
	if got := join(tab.Select(table.Equal(byTo, text("Rome"))).Items()); got != "a/Rome/0[]" {
		t.Errorf("after the faults: %s", got)
	}
}

// What a log keeps of a table is bounded by the size of the table, however often it is written.
func TestUndoIsBounded(t *testing.T) {
	e := &writes{tab: table.New(&shape), m: model{}, log: 1}
	for i := range int64(100) {
		table.Put(e.tab, flight{id: fmt.Sprint(i), price: i})
	}
	before := join(e.tab.Values().Items())
	for i := range 10_000 {
		key := table.MustKey(e.tab, fmt.Sprint(i*7%100))
		e.note(key)
		table.UpdateAt(e.tab, key, func(f *flight) { f.price++ })
	}
	if len(e.undo) > 16+100/4+1 {
		t.Errorf("%d records for a table of 100 rows", len(e.undo))
	}
	for i := len(e.undo) - 1; i >= 0; i-- {
		e.undo[i].Undo()
	}
	if after := join(e.tab.Values().Items()); after != before {
		t.Errorf("undone: %s", after)
	}
}

// Events that only read share a table, stored or not, also where a loop takes a snapshot.
func TestReadersShareTables(t *testing.T) {
	e, shape := large(t, 300)
	near := table.New(shape)
	for f := range load(t, e, layout, shape).flights.All() {
		table.Put(near, f)
	}
	for _, tab := range []flights{near, load(t, e, layout, shape).flights} {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					for f := range tab.Snapshot().Rows(table.Equal(byTo, text("Rome"))) {
						if got := tab.At(f.id); got.price != f.price {
							t.Errorf("price %d, want %d", got.price, f.price)
						}
					}
					if n := tab.Values().Size(); n != 300 {
						t.Errorf("%d rows", n)
					}
				}
			})
		}
		wg.Wait()
	}
}
