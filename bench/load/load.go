// Package load drives closed-loop clients against one system and counts what
// they finish. Every comparison of this module goes through it, so all systems
// get the same callers, the same random choices and the same clock.
package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Client is one caller: each call issues one request and waits for its answer.
// It is used by one goroutine.
type Client func(r *rand.Rand) error

// System is one competitor under one workload.
type System struct {
	Name string
	// NewClient makes the i-th of n callers.
	NewClient func(i, n int) Client
	// Check is called after the last round; it returns an error if the system
	// lost or made up anything. It may be nil.
	Check func() error
	// Close releases the system. It may be nil.
	Close func()
}

// Result is what one system did: the median over the rounds.
type Result struct {
	System      string
	OpsPerSec   float64
	NsPerOp     float64 // wall time of one caller's operation
	CPUNsPerOp  float64 // processor time of the process per operation: less moved by what else runs
	AllocsPerOp float64
	Spread      float64 // (max-min)/median of OpsPerSec over the rounds
}

// Plan says how long and how often to measure.
type Plan struct {
	Callers int
	Round   time.Duration
	Rounds  int
	Warmup  time.Duration
}

// Compare measures the systems in turn, round by round (A B C A B C …), so that
// a machine that slows down slows all of them.
func Compare(p Plan, systems ...System) ([]Result, error) {
	rates := make([][]float64, len(systems))
	allocs := make([][]float64, len(systems))
	cpus := make([][]float64, len(systems))
	clients := make([][]Client, len(systems))
	for s, sys := range systems {
		for i := range p.Callers {
			clients[s] = append(clients[s], sys.NewClient(i, p.Callers))
		}
		if _, err := round(clients[s], p.Warmup); err != nil {
			return nil, fmt.Errorf("%s: %w", sys.Name, err)
		}
	}
	for range p.Rounds {
		for s, sys := range systems {
			c, err := round(clients[s], p.Round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sys.Name, err)
			}
			rates[s] = append(rates[s], c.rate)
			allocs[s] = append(allocs[s], c.allocs)
			cpus[s] = append(cpus[s], c.cpuNs)
		}
	}
	var out []Result
	var errs []error
	for s, sys := range systems {
		if sys.Check != nil {
			if err := sys.Check(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", sys.Name, err))
			}
		}
		if sys.Close != nil {
			sys.Close()
		}
		m := median(rates[s])
		out = append(out, Result{
			System:      sys.Name,
			OpsPerSec:   m,
			NsPerOp:     1e9 / m * float64(p.Callers),
			CPUNsPerOp:  median(cpus[s]),
			AllocsPerOp: median(allocs[s]),
			Spread:      (slices.Max(rates[s]) - slices.Min(rates[s])) / m,
		})
	}
	return out, errors.Join(errs...)
}

// batch is how many operations a caller does between two looks at the clock.
const batch = 32

// cost is what one round has shown: operations per second, and what one operation took.
type cost struct{ rate, allocs, cpuNs float64 }

// cpuTime returns the processor time that the process has used, or 0 where the system
// does not tell.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// round runs all callers for about d.
func round(clients []Client, d time.Duration) (cost, error) {
	runtime.GC()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	counts := make([]int, len(clients))
	var wg sync.WaitGroup
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	for i, c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 42))
			n := 0
			for time.Since(start) < d && ctx.Err() == nil {
				for range batch {
					if err := c(r); err != nil {
						cancel(err)
						return
					}
				}
				n += batch
			}
			counts[i] = n
		})
	}
	wg.Wait()
	took, cpu := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	if ctx.Err() != nil {
		return cost{}, context.Cause(ctx)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	n := float64(total)
	return cost{n / took.Seconds(), float64(after.Mallocs-before.Mallocs) / n, float64(cpu) / n}, nil
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return s[len(s)/2]
}
