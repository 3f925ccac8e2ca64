package image_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/value"
)

// reads returns how many rows f reads.
func reads(c *memengine.Counting, f func()) int64 {
	before := c.Reads()
	f()
	return c.Reads() - before
}

// shelf is a budget for so many loads.
type shelf struct{ loads atomic.Int64 }

func (s *shelf) Take(int64) bool { return s.loads.Add(-1) >= 0 }
func (s *shelf) Settle(int64)    {}

// stored is an actor whose map and vector have size elements, in the store, and what counts its reads.
func stored(t testing.TB, size int, budget value.Budget) (*actor, *memengine.Counting) {
	s := newShop(t)
	a := withPrices(size)
	for i := range size {
		value.Push(&a.line, key(i))
	}
	s.save(a, true, nil, 0, 1, 2)
	c := &memengine.Counting{Reader: s.engine}
	a = &actor{}
	if err := image.NewReader(c, actorID, s.layout, nil).Within(budget).Read(a); err != nil {
		t.Fatal(err)
	}
	return a, c
}

// A map or a vector of which as much has been read as there is comes into memory, and is not read from the store any more;
// one element at a time is read until then. Without room it stays where it is.
func TestContainersThatAreReadOftenComeIntoMemory(t *testing.T) {
	const size = 20_000
	all := map[string]func(*actor){
		"keys":     func(a *actor) { a.prices.Keys() },
		"entries":  func(a *actor) { value.Each(a.prices, func(string, int64) bool { return true }) },
		"elements": func(a *actor) { a.line.Items() },
		"gets": func(a *actor) {
			for i := range size {
				if a.prices.At(key(i)) != int64(i) || a.line.At(int64(i)) != key(i) {
					t.Errorf("element %d is another", i)
				}
			}
		},
	}
	a, c := stored(t, size, unlimited{})
	if n := reads(c, func() {
		for i := range 100 {
			a.prices.At(key(i))
			a.line.At(int64(7*i + 1))
		}
	}); n > 200 {
		t.Errorf("%d rows are read for 200 elements", n)
	}
	if n := reads(c, func() {
		for _, f := range all {
			f(a)
			f(a)
		}
	}); n > 2*(2*size+3*size/blockElems+200) {
		t.Errorf("%d rows are read of two containers of %d", n, size)
	}
	for what, f := range all {
		if n := reads(c, func() { f(a) }); n > 0 {
			t.Errorf("%s: %d rows are read of containers in memory", what, n)
		}
	}

	a, c = stored(t, size, &shelf{})
	for range 4 {
		for what, f := range all {
			if n := reads(c, func() { f(a) }); n < size {
				t.Errorf("%s: %d rows are read of containers for which there is no room", what, n)
			}
		}
	}
}

// blockElems is how many elements of a vector are read together.
const blockElems = 64

// Readers, of a field and of a copy in another actor, read side by side while one of them brings what they read into memory.
func TestReadersWhileContainersComeIntoMemory(t *testing.T) {
	const size = 500
	for range 10 {
		a, _ := stored(t, size, unlimited{})
		value.SetEntry(&a.prices, key(7), -7)
		value.RemoveKey(&a.prices, key(8))
		value.SetAt(&a.line, 9, "nine")
		b := &actor{prices: a.prices.Share(), line: a.line.Share()}
		var wg sync.WaitGroup
		for i := range 8 {
			x := []*actor{a, b}[i%2]
			wg.Go(func() {
				for k := range 2 * size {
					n := (k*13 + i*50) % size
					switch v, ok := x.prices.Find(key(n)); {
					case n == 7 && v != -7, n == 8 && ok, n != 7 && n != 8 && v != int64(n):
						t.Errorf("entry %d is %d, %v", n, v, ok)
					}
					if e := x.line.At(int64(n)); n == 9 && e != "nine" || n != 9 && e != key(n) {
						t.Errorf("element %d is %s", n, e)
					}
				}
				if n := x.prices.Keys().Size(); n != size-1 || len(x.line.Items()) != size {
					t.Errorf("%d entries, %d elements", n, len(x.line.Items()))
				}
			})
		}
		wg.Wait()
		value.SetEntry(&a.prices, key(10), -10)
		value.Push(&a.line, "last")
		if b.prices.At(key(10)) != 10 || b.line.Size() != size || a.prices.At(key(10)) != -10 || a.line.At(size) != "last" {
			t.Error("a copy is not what it was, or the field what was written")
		}
	}
}
