package table_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

// benchRows is how many rows the tables of the benchmarks have.
const benchRows = 100_000

// BenchmarkTable runs each operation on a table with two indexes beside what comes nearest to it on a map field, and
// reports how much longer it takes.
func BenchmarkTable(b *testing.B) {
	tab, m := table.New(&shape), value.Map[string, flight]{}
	ids := make([]string, benchRows)
	for i := range ids {
		ids[i] = fmt.Sprintf("flight-%06d", i*7919%benchRows)
		f := flight{id: ids[i], to: fmt.Sprintf("town-%05d", i%(benchRows/10)), price: int64(i % 1000)}
		table.Put(tab, f)
		value.SetEntry(&m, f.id, f)
	}
	extra := flight{id: "other", to: "town-x"}
	for _, bb := range []struct {
		name        string
		table, peer func(i int)
	}{
		{"get", func(i int) { tab.At(ids[i]) }, func(i int) { m.At(ids[i]) }},
		{"update of no column",
			func(i int) { table.Update(tab, ids[i], func(f *flight) { f.tags = value.Vector[string]{} }) },
			func(i int) { value.UpdateEntry(&m, ids[i], func(f *flight) { f.tags = value.Vector[string]{} }) }},
		{"update of a column",
			func(i int) { table.Update(tab, ids[i], func(f *flight) { f.price++ }) },
			func(i int) { value.UpdateEntry(&m, ids[i], func(f *flight) { f.price++ }) }},
		{"insert and remove",
			func(int) { table.Insert(tab, extra); table.Remove(tab, extra.id) },
			func(int) { value.SetEntry(&m, extra.id, extra); value.RemoveKey(&m, extra.id) }},
		{"last ten rows of an index", func(int) { tab.Select(table.Range(byPriceTo, nil, nil, nil).Reversed().Limit(10)) }, func(i int) {
			for range 10 {
				m.At(ids[i])
			}
		}},
		{"ten rows by an index", func(i int) {
			to := fmt.Sprintf("town-%05d", i%(benchRows/10))
			tab.Select(table.Equal(byTo, text(to)))
		}, func(i int) {
			for range 10 {
				m.At(ids[i])
			}
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				bb.table(i % benchRows)
			}
			took := b.Elapsed()
			b.StopTimer()
			start := time.Now()
			for i := range b.N {
				bb.peer(i % benchRows)
			}
			b.ReportMetric(float64(took)/float64(time.Since(start)), "x-map")
		})
	}
}

// BenchmarkStoredTable runs each operation on a table whose rows are in pebble beside the operations of pebble that it
// cannot do without, and reports how much longer it takes.
func BenchmarkStoredTable(b *testing.B) {
	e, err := pebbledb.Open(b.TempDir(), store.EngineOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	shape := storedShape()
	a := newAirline(shape)
	for i := range benchRows {
		table.Put(a.flights, flight{fmt.Sprintf("k%06d", i), fmt.Sprintf("t%05d", i/10), int64(i % 1000), value.Vector[string]{}})
	}
	a.store(b, e)
	a = load(b, e, layout, shape)
	rowKey := func(i int) []byte {
		var k codec.Encoder
		k.Append(append(store.AppendField(nil, id, 3), 'e'))
		codec.PutKeyString(&k, fmt.Sprintf("k%06d", i))
		return k.Data()
	}
	get := func(i int) {
		if _, ok, err := e.Get(rowKey(i), nil); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	for _, bb := range []struct {
		name        string
		table, peer func(i int)
	}{
		{"load", func(int) { load(b, e, layout, shape) }, func(i int) { get(i) }},
		{"get", func(i int) { a.flights.At(fmt.Sprintf("k%06d", i)) }, get},
		{"ten rows by an index", func(i int) { a.flights.Select(table.Equal(byTo, text(fmt.Sprintf("t%05d", i/10)))) }, func(i int) {
			for j := range 10 {
				get(i/10*10 + j)
			}
		}},
		{"commit of an inserted row", func(i int) {
			table.Put(a.flights, flight{id: fmt.Sprintf("new%d", time.Now().UnixNano()), to: "x", price: int64(i)})
			a.store(b, e)
		}, func(i int) {
			batch := e.NewBatch()
			for n := range byte(4) {
				batch.Set(append(rowKey(i), n, byte(time.Now().UnixNano())), make([]byte, 30))
			}
			if err := e.Apply(batch); err != nil {
				b.Fatal(err)
			}
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for i := range b.N {
				bb.table(i * 7919 % benchRows)
			}
			took := b.Elapsed()
			b.StopTimer()
			start := time.Now()
			for i := range b.N {
				bb.peer(i * 7919 % benchRows)
			}
			b.ReportMetric(float64(took)/float64(time.Since(start)), "x-pebble")
		})
	}
}

// store commits what has changed.
func (a *airline) store(b *testing.B, e store.Engine) {
	batch := e.NewBatch()
	var w image.Writer
	w.Begin(batch, id, layout)
	w.Field(a, 0, nil, false)
	w.Finish()
	if err := e.Apply(batch); err != nil {
		b.Fatal(err)
	}
}
