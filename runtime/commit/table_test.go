package commit

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

// A table is a map, whatever attempts it has: those of one home, which are numbered one after the other, those of several, which may have one number, and those
// whose places are equal.
func TestTableIsAMap(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var table Table[int]
		is := make(map[Name]*int)
		var list []Name // of is
		next := uint64(r.IntN(1 << 20))
		alive := 1 << r.IntN(9)
		for range 2000 {
			name := Name{Event: event.EventID{Origin: uint64(r.IntN(3))}}
			switch seed % 3 {
			case 0: // the oldest ones end
				next++
				name.Number = next - uint64(r.IntN(alive))
			case 1:
				name.Number = uint64(r.IntN(2 * alive))
			case 2: // in a table of 16 slots, and of more, they have few places
				name.Number = uint64(r.IntN(alive)) << 60
			}
			if r.IntN(2*alive) < len(list) {
				name = list[r.IntN(len(list))]
				table.Delete(name)
				delete(is, name)
				list = slices.DeleteFunc(list, func(o Name) bool { return o == name })
			} else if r.IntN(8) == 0 && is[name] == nil {
				table.Delete(name) // it is not there
			} else {
				if is[name] == nil {
					list = append(list, name)
				}
				is[name] = new(int)
				table.Put(name, is[name])
			}
			if table.Get(name) != is[name] || table.Len() != len(is) {
				t.Fatalf("seed %d: %v is %p, and not %p; there are %d, and not %d", seed, name, table.Get(name), is[name], table.Len(), len(is))
			}
		}
		if got, want := table.Names(), slices.SortedFunc(maps.Keys(is), Name.Compare); !slices.Equal(got, want) {
			t.Fatalf("seed %d: the table has %v, and not %v", seed, got, want)
		}
		if got := maps.Collect(table.All); !maps.Equal(got, is) {
			t.Fatalf("seed %d: the table has %v, and not %v", seed, got, is)
		}
		for name, v := range is {
			if table.Get(name) != v {
				t.Fatalf("seed %d: %v is %p, and not %p", seed, name, table.Get(name), v)
			}
			table.Delete(name)
		}
		if table.Len() != 0 || len(table.slots) > 4*slotsMin {
			t.Fatalf("seed %d: an empty table has %d attempts, and room for %d", seed, table.Len(), len(table.slots))
		}
	}
}

// BenchmarkTable is one attempt of many: it is put, found six times, as at its home, and deleted.
func BenchmarkTable(b *testing.B) {
	const alive = 64
	b.Run("table", func(b *testing.B) {
		var table Table[int]
		v := new(int)
		for i := 0; b.Loop(); i++ {
			name := Name{event.EventID{Origin: 1, Seq: uint64(i)}, uint64(i)}
			table.Put(name, v)
			for range 6 {
				if table.Get(name) != v {
					b.Fatal("it is not there")
				}
			}
			if i >= alive {
				table.Delete(Name{event.EventID{Origin: 1, Seq: uint64(i - alive)}, uint64(i - alive)})
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		is := make(map[Name]*int)
		v := new(int)
		for i := 0; b.Loop(); i++ {
			name := Name{event.EventID{Origin: 1, Seq: uint64(i)}, uint64(i)}
			is[name] = v
			for range 6 {
				if is[name] != v {
					b.Fatal("it is not there")
				}
			}
			if i >= alive {
				delete(is, Name{event.EventID{Origin: 1, Seq: uint64(i - alive)}, uint64(i - alive)})
			}
		}
	})
}
