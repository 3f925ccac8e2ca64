package image_test

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/aeon-lang/aeon/runtime/value"
)

// BenchmarkMillionEntries works on a map with a million entries that lies in a store on disk,
// beside what the store takes for the same rows by itself.
func BenchmarkMillionEntries(b *testing.B) {
	engine, err := pebbledb.Open(b.TempDir(), store.EngineOptions{Program: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	s := newShop(b)
	var w image.Writer
	save := func(a *actor, whole bool, changes []value.Undo) int {
		batch := engine.NewBatch()
		w.Begin(batch, actorID, s.layout)
		if whole {
			w.Field(a, 0, nil, true)
			w.Field(a, 2, nil, true)
		}
		w.Field(a, 1, changes, whole)
		w.Finish()
		size := batch.Size()
		if err := engine.Apply(batch); err != nil {
			b.Fatal(err)
		}
		return size
	}
	const size = 1_000_000
	save(withPrices(size), true, nil)
	if err := engine.Sync(); err != nil {
		b.Fatal(err)
	}
	load := func() *actor {
		a := &actor{}
		if err := image.NewReader(engine, actorID, s.layout, nil).Read(a); err != nil {
			b.Fatal(err)
		}
		return a
	}
	b.Run("load", func(b *testing.B) {
		for range b.N {
			load()
		}
	})
	b.Run("insert", func(b *testing.B) {
		a, bytes := load(), 0
		for i := range b.N {
			log := uint64(i + 1)
			name := "x" + key(i)
			value.FreeEntry(&a.prices, log)
			u := value.NoteEntry(&a.prices, log, name)
			value.PutEntry(&a.prices, name, 1)
			bytes += save(a, false, []value.Undo{u})
		}
		b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
	})
	b.Run("insert/engine", func(b *testing.B) {
		for i := range b.N {
			batch := engine.NewBatch()
			k := store.AppendField(nil, actorID, 9)
			batch.Set(append(k, key(i)...), []byte("12345678"))
			batch.Set(k, []byte("1234567"))
			if err := engine.Apply(batch); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("find", func(b *testing.B) {
		a := load()
		for i := range b.N {
			if !a.prices.Has(key(i * 7919 % size)) {
				b.Fatal("an entry is missing")
			}
		}
	})
	b.Run("find/engine", func(b *testing.B) {
		var row []byte
		prefix := append(store.AppendField(nil, actorID, 2), 'e')
		for i := range b.N {
			k := append(append(prefix[:len(prefix):len(prefix)], key(i*7919%size)...), 0, 1)
			var ok bool
			if row, ok, err = engine.Get(k, row[:0]); !ok || err != nil {
				b.Fatal("an entry is missing")
			}
		}
	})
	b.Run("each", func(b *testing.B) {
		a := load()
		for range b.N {
			n := 0
			value.Each(a.prices, func(string, int64) bool { n++; return true })
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/entry")
	})
}
