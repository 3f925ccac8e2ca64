package exec

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Every benchmark below runs its yardstick in the same process. For events
// that is a mutex locked and unlocked per actor touched.

// An uncontended event allocates what its caller gives it, and nothing else.
func TestUncontendedEventsAllocateTheirArgumentsAlone(t *testing.T) {
	s := Open(Config{Log: quiet})
	defer s.Close()
	_, list := openBank(t, s, "main", 1)
	cl := s.Client()
	if n := testing.AllocsPerRun(1000, func() { _, _ = list[0].Deposit(cl, 1) }); n > 1 && race.Slower == 1 { // the detector makes pools forget
		t.Errorf("%v allocations for an event with one argument", n)
	}
}

func BenchmarkEventUncontended(b *testing.B) {
	s := Open(Config{Log: quiet})
	defer s.Close()
	_, list := openBank(b, s, "main", 1)
	cl := s.Client()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := list[0].Deposit(cl, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// closedLoop runs n operations in 64 goroutines, each with a client of its own.
func closedLoop(b *testing.B, s *System, op func(cl *Client, rng *rand.Rand)) {
	const callers = 64
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for g := range callers {
		wg.Go(func() {
			cl := s.Client()
			rng := rand.New(rand.NewPCG(uint64(g), 7))
			for range (b.N + callers - 1 - g) / callers {
				op(cl, rng)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

func BenchmarkEvent64Callers1000Actors(b *testing.B) {
	s := Open(Config{Log: quiet})
	defer s.Close()
	_, list := openBank(b, s, "main", 1000)
	closedLoop(b, s, func(cl *Client, rng *rand.Rand) {
		if _, err := list[rng.IntN(1000)].Deposit(cl, 1); err != nil {
			b.Error(err)
		}
	})
}

func BenchmarkReadOnlyHotActor(b *testing.B) {
	s := Open(Config{Log: quiet})
	defer s.Close()
	_, list := openBank(b, s, "main", 1)
	closedLoop(b, s, func(cl *Client, _ *rand.Rand) {
		if _, err := list[0].Balance(cl); err != nil {
			b.Error(err)
		}
	})
}

// pick returns two of n, both among the first ten with probability hot.
func pick(rng *rand.Rand, n int, hot float64) (i, j int) {
	if rng.Float64() < hot {
		n = 10
	}
	i = rng.IntN(n)
	for j = i; j == i; {
		j = rng.IntN(n)
	}
	return i, j
}

func BenchmarkTransfer(b *testing.B) {
	const n = 10_000
	names := make([]string, n)
	for i := range names {
		names[i] = "a" + itoa(i)
	}
	for _, hot := range []float64{0, 0.9} {
		b.Run(fmt.Sprintf("mutexes/hot=%v", hot), func(b *testing.B) {
			benchMutexes(b, n, hot)
		})
		b.Run(fmt.Sprintf("bank/hot=%v", hot), func(b *testing.B) {
			s := Open(Config{Log: quiet})
			defer s.Close()
			bk, _ := openBank(b, s, "main", n)
			closedLoop(b, s, func(cl *Client, rng *rand.Rand) {
				i, j := pick(rng, n, hot)
				_ = bk.Transfer(cl, names[i], names[j], 1)
			})
		})
		b.Run(fmt.Sprintf("roots/hot=%v", hot), func(b *testing.B) {
			s := Open(Config{Log: quiet})
			defer s.Close()
			setup := s.Client()
			list := make([]accountRef, n)
			for i := range list {
				r, err := setup.New(&classAccount, &methodPeekAccount, nil)
				mustNot(b, err)
				list[i] = accountRef{r}
				_, err = list[i].Deposit(setup, 1000)
				mustNot(b, err)
			}
			closedLoop(b, s, func(cl *Client, rng *rand.Rand) {
				i, j := pick(rng, n, hot)
				_ = cl.Await(list[i].Ref, &methodPay, &payArgs{to: list[j], amount: 1})
			})
		})
	}
}

var methodPeekAccount = Method{Class: &classAccount, Name: "Account", Effects: order.Effects{Self: order.Write}, Run: func(*Cx, any, order.Args) {}}

// benchMutexes is the limit: the transfer under two mutexes locked in order.
func benchMutexes(b *testing.B, n int, hot float64) {
	type cell struct {
		sync.Mutex
		balance int64
		_       [48]byte
	}
	cells := make([]cell, n)
	var wg sync.WaitGroup
	b.ResetTimer()
	for g := range 64 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 7))
			for range b.N / 64 {
				i, j := pick(rng, n, hot)
				lo, hi := &cells[min(i, j)], &cells[max(i, j)]
				lo.Lock()
				hi.Lock()
				cells[i].balance--
				cells[j].balance++
				hi.Unlock()
				lo.Unlock()
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

func BenchmarkRegionGrowth(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprintf("actors=%d", n), func(b *testing.B) {
			s := Open(Config{Log: quiet})
			defer s.Close()
			bk, _ := openBank(b, s, "main", n)
			cl := s.Client()
			rng := rand.New(rand.NewPCG(1, 1))
			names := [10]string{}
			for i := range names {
				names[i] = "a" + itoa(i*(n/10))
			}
			b.ReportAllocs()
			for b.Loop() {
				i, j := pick(rng, 10, 0)
				_ = bk.Transfer(cl, names[i], names[j], 1)
			}
		})
	}
}

func BenchmarkChildCreation(b *testing.B) {
	for _, siblings := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("siblings=%d", siblings), func(b *testing.B) {
			s := Open(Config{Log: quiet})
			defer s.Close()
			cl := s.Client()
			r, err := cl.New(&classDesk, &methodDesk, work(nil))
			mustNot(b, err)
			hire := work(func(cx *Cx, d *desk) { d.hire(cx) })
			for range siblings {
				mustNot(b, cl.Await(r, &methodAlone, hire))
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := cl.Await(r, &methodAlone, hire); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkIdleActorBytes(b *testing.B) {
	const n = 200_000
	for b.Loop() {
		s := Open(Config{Log: quiet})
		cl := s.Client()
		var before, after runtime.MemStats
		list := make([]order.Ref, n)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range list {
			list[i], _ = cl.New(&classAccount, &methodPeekAccount, nil)
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "bytes/actor")
		runtime.KeepAlive(list)
		s.Close()
	}
}
