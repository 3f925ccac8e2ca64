package store_test

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// While others write, a view has everything up to its position, and no crash takes back what it has shown once it is
// settled.
func TestViewsHaveWhatTheirPositionsSay(t *testing.T) {
	engine := memengine.New()
	s, err := store.Open(engine, store.Options{Program: "bank", Durability: store.Relaxed(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	const writers = 4
	key := func(w int) []byte { return []byte{'x', byte(w)} }
	var positions [writers][]store.Position // of the numbers from 1 on
	var begun, end sync.WaitGroup
	stop := make(chan struct{})
	for w := range writers {
		begun.Add(1)
		end.Go(func() {
			for n := uint64(1); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				b := s.NewBatch()
				b.Set(key(w), binary.BigEndian.AppendUint64(nil, n))
				positions[w] = append(positions[w], s.Append(b))
				if n == 1 {
					begun.Done()
				}
			}
		})
	}
	number := func(r store.Reader, w int) uint64 {
		value, ok, err := r.Get(key(w), nil)
		if err != nil {
			t.Error(err)
		}
		if !ok {
			return 0
		}
		return binary.BigEndian.Uint64(value)
	}
	type look struct {
		position store.Position
		numbers  [writers]uint64
	}
	begun.Wait() // a view of nothing would show nothing that a crash takes back
	var looks []look
	for range 500 {
		view, p := s.View()
		seen := look{position: p}
		for w := range writers {
			seen.numbers[w] = number(view, w)
		}
		looks = append(looks, seen)
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := engine.Crash(func(int) int { return 0 })
		for w := range writers {
			if n := number(left, w); n < seen.numbers[w] {
				t.Errorf("a crash leaves number %d of what a view has shown as %d", n, seen.numbers[w])
			}
		}
		if err := view.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	end.Wait()
	for _, l := range looks {
		for w, n := range l.numbers {
			if least, _ := slices.BinarySearch(positions[w], l.position+1); n < uint64(least) {
				t.Errorf("a view of position %d has number %d, and number %d has position %d", l.position, n, least, positions[w][least-1])
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
