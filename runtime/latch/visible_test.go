package latch

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// spreading spreads words again and again until stop is called, as readers that contend do.
func spreading(latches []*Latch) (stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !over.Load(); i++ {
			l := latches[i%len(latches)]
			l.Spread()
			runtime.Gosched()
		}
	})
	return func() {
		over.Store(true)
		wg.Wait()
	}
}

// Visible readers, readers in the word, writers and holders of the latch use actors whose words are spread all the time:
// a writer is alone, and in the end no holder is left.
func TestVisibleReaders(t *testing.T) {
	const goroutines, rounds = 8, 20_000
	const visibleMin = goroutines * rounds / 20 // however long it takes on a machine that is busy
	latches := []*Latch{new(Latch), new(Latch), new(Latch)}
	var readers, writers [3]atomic.Int32
	var visible atomic.Int64
	var wg sync.WaitGroup
	stop := spreading(latches)
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			serial := uint32(g)
			for n := 0; n < rounds || n < 50*rounds && visible.Load() < visibleMin; n++ {
				i := rng.IntN(len(latches))
				l, mode := latches[i], lock.Read
				switch rng.IntN(20) {
				case 0:
					mode = lock.Write
				case 1:
					l.Lock()
					joined := l.JoinLatched(lock.Read)
					l.Unlock()
					if joined {
						l.Leave(lock.Read, serial)
					}
					continue
				}
				if !l.Join(mode, serial, 100) {
					runtime.Gosched()
					continue
				}
				if mode == lock.Write {
					if writers[i].Add(1) != 1 || readers[i].Load() != 0 {
						t.Error("a writer is not alone")
					}
					writers[i].Add(-1)
				} else {
					readers[i].Add(1)
					if l.placeOf(serial).at.Load() == l {
						visible.Add(1)
					}
					if rng.IntN(10) == 0 {
						runtime.Gosched()
					}
					if writers[i].Load() != 0 {
						t.Error("a reader is beside a writer")
					}
					readers[i].Add(-1)
				}
				l.Leave(mode, serial)
			}
		})
	}
	wg.Wait()
	stop()
	for _, l := range latches {
		if !l.Join(lock.Write, 0, 0) {
			t.Errorf("a holder is left in word %b", l.Load())
		}
	}
	if visible.Load() < visibleMin {
		t.Errorf("only %d were visible", visible.Load())
	}
}
