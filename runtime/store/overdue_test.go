package store_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// slow is an engine whose Sync calls wait first.
type slow struct {
	*memengine.Engine
	wait func()
}

func (s *slow) Sync() error {
	s.wait()
	return s.Engine.Sync()
}

// answer is what a client was told, and when.
type answer struct {
	pos store.Position
	at  time.Time
}

// answering appends to a store in mode Relaxed, and answers as exec does.
func answering(t *testing.T, s *store.Store) (a answer, waited bool) {
	t.Helper()
	p := set(s, "a")
	if waited = s.Overdue(); waited {
		if err := s.Wait(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	return answer{p, time.Now()}, waited
}

// All answers that a crash takes back were given within the time of the mode, whenever the crash comes, and however
// long syncs take.
func TestRelaxedAnswersAreLostWithinItsTimeOnly(t *testing.T) {
	const every = 50 * time.Millisecond
	seeds := uint64(200)
	if testing.Short() {
		seeds = 20
	}
	lost, waits, stalls := 0, 0, 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rng, disk := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2)) // the disk is another goroutine
			e := &slow{Engine: memengine.New(), wait: func() {
				longest := every / 3
				if disk.IntN(8) == 0 {
					stalls++
					longest = time.Second
				}
				time.Sleep(time.Duration(disk.Int64N(int64(longest))))
			}}
			s, err := store.Open(e, store.Options{Program: "bank", Durability: store.Relaxed(every), Fatal: func(err error) { t.Error(err) }})
			if err != nil {
				t.Fatal(err)
			}
			defer closeStore(t, s)
			var open []answer // those that a crash would take back now
			for range 1000 {
				pause := time.Duration(rng.Int64N(int64(3 * time.Millisecond)))
				if rng.IntN(100) == 0 {
					pause *= 100
				}
				time.Sleep(pause)
				a, waited := answering(t, s)
				if waited {
					waits++
				}
				if rng.IntN(20) == 0 {
					s.SetIdle() // the loop was preempted as it became idle, and this answer came meanwhile
				}
				open = append(open, a)
				for len(open) > 0 && s.Durable(open[0].pos) {
					open = open[1:]
				}
				if len(open) == 0 {
					continue
				}
				if lost++; a.at.Sub(open[0].at) > every {
					t.Fatalf("seed %d: a crash takes back answers of %v", seed, a.at.Sub(open[0].at))
				}
			}
		})
	}
	t.Logf("%d answers after which a crash could have taken some back, %d waited, %d stalls", lost, waits, stalls)
	if lost == 0 || waits == 0 || stalls == 0 {
		t.Error("the test has tested nothing")
	}
}

// On a disk that is not stalled no answer waits, also after a time in which nothing was written.
func TestRelaxedAnswersDoNotWaitForAFastDisk(t *testing.T) {
	const every = 50 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		rng, syncs := rand.New(rand.NewPCG(1, 1)), 0
		e := &slow{Engine: memengine.New(), wait: func() {
			syncs++
			time.Sleep(every / 8)
		}}
		s, err := store.Open(e, store.Options{Program: "bank", Durability: store.Relaxed(every), Fatal: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, s)
		if err := s.Wait(t.Context(), set(s, "a")); err != nil { // the store then knows how fast the disk is
			t.Fatal(err)
		}
		syncs = 0
		began := time.Now()
		for range 5000 {
			time.Sleep(time.Duration(rng.Int64N(int64(time.Millisecond))))
			if rng.IntN(500) == 0 {
				time.Sleep(time.Minute)
				began = began.Add(time.Minute)
			}
			if a, waited := answering(t, s); waited {
				t.Fatalf("answer %d waited", a.pos)
			}
		}
		if most := int(time.Since(began)/(every*3/4)) + 20; syncs > most {
			t.Errorf("%d syncs in %v, at most %d are needed", syncs, time.Since(began), most)
		}
	})
}
