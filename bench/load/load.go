// Package load drives closed-loop clients against one system and counts what
// they finish. Every comparison of this module goes through it, so all systems
// get the same callers, the same random choices and the same clock.
package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Client is one caller: each call issues one request and waits for its answer.
// It is used by one goroutine.
type Client func(r *rand.Rand) error

// System is one competitor under one workload.
type System struct {
	Name string
	// Missing tells how to install what the system needs and the machine has not; then the
	// rest is nil, and the system is named in the table instead of measured.
	Missing string
	// NewClient makes the i-th of n callers.
	NewClient func(i, n int) Client
	// Retries counts the attempts so far that the system refused and a client made again.
	// It may be nil.
	Retries func() int64
	// CPU is the processor time so far of the system's processes, when it has other ones
	// than this. It may be nil.
	CPU func() time.Duration
	// Check is called after the last round; it returns an error if the system
	// lost or made up anything. It may be nil.
	Check func() error
	// Notes is called after Check and says what else there is to know. It may be nil.
	Notes func() []string
	// Close releases the system, also after an error. It may be nil.
	Close func()
}

// Result is what one system did: the median over the rounds.
type Result struct {
	System       string
	Missing      string
	OpsPerSec    float64
	NsPerOp      float64 // wall time of one caller's operation
	CPUNsPerOp   float64 // processor time per operation: less moved by what else runs
	AllocsPerOp  float64
	RetriesPerOp float64
	WrittenPerOp float64       // bytes that this process handed to write(2), per operation
	Spread       float64       // (max-min)/median of OpsPerSec over the rounds
	Median, Tail time.Duration // of an operation, at 0.5 and 0.99, over all rounds; 0 unless timed
	Notes        []string
}

// Plan says how long and how often to measure.
type Plan struct {
	Callers int
	Round   time.Duration
	Rounds  int
	Warmup  time.Duration
	// Timed takes the time of every operation. It is for operations that take so long
	// that two looks at the clock are nothing; without it a caller looks every 32.
	Timed bool
	// Settle is called before every round, outside its time. It may be nil.
	Settle func()
}

// Compare measures the systems in turn, round by round (A B C A B C …), so that
// a machine that slows down slows all of them. It closes them in any case.
func Compare(p Plan, systems ...System) ([]Result, error) {
	defer func() {
		for _, sys := range systems {
			if sys.Close != nil {
				sys.Close()
			}
		}
	}()
	clients := make([][]Client, len(systems))
	for s, sys := range systems {
		if sys.Missing != "" {
			continue
		}
		for i := range p.Callers {
			clients[s] = append(clients[s], sys.NewClient(i, p.Callers))
		}
		if _, err := p.round(sys, clients[s], p.Warmup); err != nil {
			return nil, fmt.Errorf("%s: %w", sys.Name, err)
		}
	}
	costs := make([][]cost, len(systems))
	for range p.Rounds {
		for s, sys := range systems {
			if sys.Missing != "" {
				continue
			}
			c, err := p.round(sys, clients[s], p.Round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sys.Name, err)
			}
			costs[s] = append(costs[s], c)
		}
	}
	var out []Result
	var errs []error
	for s, sys := range systems {
		if sys.Missing != "" {
			out = append(out, Result{System: sys.Name, Missing: sys.Missing})
			continue
		}
		if sys.Check != nil {
			if err := sys.Check(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", sys.Name, err))
			}
		}
		out = append(out, summary(sys, p.Callers, costs[s]))
	}
	return out, errors.Join(errs...)
}

// summary reduces the rounds of one system to its result.
func summary(sys System, callers int, rounds []cost) Result {
	of := func(part func(cost) float64) []float64 {
		var all []float64
		for _, c := range rounds {
			all = append(all, part(c))
		}
		return slices.Sorted(slices.Values(all))
	}
	middle := func(part func(cost) float64) float64 {
		sorted := of(part)
		return sorted[len(sorted)/2]
	}
	rates := of(func(c cost) float64 { return c.rate })
	rate := rates[len(rates)/2]
	r := Result{
		System:       sys.Name,
		OpsPerSec:    rate,
		NsPerOp:      1e9 / rate * float64(callers),
		CPUNsPerOp:   middle(func(c cost) float64 { return c.cpuNs }),
		AllocsPerOp:  middle(func(c cost) float64 { return c.allocs }),
		RetriesPerOp: middle(func(c cost) float64 { return c.retries }),
		WrittenPerOp: middle(func(c cost) float64 { return c.written }),
		Spread:       (rates[len(rates)-1] - rates[0]) / rate,
	}
	var times histogram
	for _, c := range rounds {
		times.add(&c.times)
	}
	r.Median, r.Tail = times.quantile(0.5), times.quantile(0.99)
	if sys.Notes != nil {
		r.Notes = sys.Notes()
	}
	return r
}
