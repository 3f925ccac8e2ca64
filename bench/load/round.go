package load

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// batch is how many operations a caller does between two looks at the clock.
const batch = 32

// cost is what one round has shown: operations per second, and what one operation took.
type cost struct {
	rate, allocs, cpuNs, retries, written float64
	times                                 histogram
}

// meter reads everything that is counted over a round.
type meter struct {
	cpu     time.Duration
	mallocs uint64
	retries int64
	written int64
	at      time.Time
}

func read(sys System) meter {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m := meter{mallocs: mem.Mallocs, written: bytesWritten()}
	if sys.Retries != nil {
		m.retries = sys.Retries()
	}
	m.cpu = cpuTime()
	if sys.CPU != nil {
		m.cpu += sys.CPU()
	}
	m.at = time.Now()
	return m
}

// caller is what one client of a round leaves behind.
type caller struct {
	done  int
	times histogram
}

// run calls c until d has passed since start, or ctx is done.
func (w *caller) run(ctx context.Context, c Client, r *rand.Rand, start time.Time, d time.Duration, timed bool) error {
	for now := start; now.Sub(start) < d && ctx.Err() == nil; {
		if timed {
			before := time.Now()
			if err := c(r); err != nil {
				return err
			}
			now = time.Now()
			w.times.note(now.Sub(before))
			w.done++
			continue
		}
		for range batch {
			if err := c(r); err != nil {
				return err
			}
		}
		w.done += batch
		now = time.Now()
	}
	return nil
}

// round runs all callers for about d.
func (p Plan) round(sys System, clients []Client, d time.Duration) (cost, error) {
	if p.Settle != nil {
		p.Settle()
	}
	runtime.GC()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	callers := make([]caller, len(clients))
	var wg sync.WaitGroup
	before := read(sys)
	for i, c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 42))
			if err := callers[i].run(ctx, c, r, before.at, d, p.Timed); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	took := time.Since(before.at)
	after := read(sys)
	if ctx.Err() != nil {
		return cost{}, context.Cause(ctx)
	}
	var result cost
	total := 0
	for i := range callers {
		total += callers[i].done
		result.times.add(&callers[i].times)
	}
	n := float64(total)
	result.rate = n / took.Seconds()
	result.allocs = float64(after.mallocs-before.mallocs) / n
	result.cpuNs = float64(after.cpu-before.cpu) / n
	result.retries = float64(after.retries-before.retries) / n
	result.written = float64(after.written-before.written) / n
	return result, nil
}
