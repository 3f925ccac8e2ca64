package table_test

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Whatever a row of the store holds is read as a table, or refused with an error: as the row of the field, and as
// those of an element and of an entry of a table that has one of each.
func FuzzLoad(f *testing.F) {
	shape := storedShape()
	seed := func(n int) {
		e, a := memengine.New(), newAirline(shape)
		for i := range n {
			table.Put(a.flights, flight{places[i%len(places)], "Rome", int64(i), value.VectorOf("tag")})
		}
		a.commit(f, e, nil, layout)
		from, to := store.FieldsRange(id)
		for it := e.Scan(from, to); it.Next(); {
			payload, err := store.Payload(it.Key(), it.Value())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(payload, byte(0))
			f.Add(payload, byte(1))
		}
	}
	seed(0)
	seed(3)
	f.Add([]byte{1, 200, 1, 2, 2, 't', 'o', 8, 'p', 'r', 'i', 'c', 'e', ':', 't', 'o'}, byte(0))
	f.Add([]byte{1, 1, 0}, byte(0))
	f.Fuzz(func(t *testing.T, payload []byte, where byte) {
		key := store.AppendField(nil, id, 3)
		head := append([]byte{1, 200, 1, 2, 2, 't', 'o', 8}, "price:to"...)
		rows := map[string][]byte{string(key): payload}
		switch where % 3 {
		case 1:
			rows = map[string][]byte{string(key): head, string(key) + "ek\x00\x01": payload}
		case 2:
			rows = map[string][]byte{string(key): head, string(key) + "x\x00\x00Rome\x00\x01k\x00\x01": payload}
		}
		e := memengine.New()
		b := e.NewBatch()
		for k, p := range rows {
			b.Set([]byte(k), store.AppendRow(nil, []byte(k), p))
		}
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		defer func() {
			switch p := recover().(type) {
			case nil, *value.Unreadable:
			default:
				panic(p)
			}
		}()
		a := newAirline(shape)
		if image.NewReader(e, id, layout, nil).Read(a) != nil {
			return
		}
		for range a.flights.All() {
		}
		a.flights.Select(table.Equal(byTo, text("Rome")))
		a.flights.Find("k")
	})
}
