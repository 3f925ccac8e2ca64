// Command bench measures aeon beside its peers and its limits and prints the
// ratios. Every row was measured in this one run, round by round in turn, because
// absolute figures of a machine mean little.
//
//	go run .              all rows
//	go run . -run hot     the rows whose title contains hot
//	go run . -system aeon those systems of each row whose name contains aeon
//	go run . -quick       short rounds, to see that everything works
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
)

// row is one comparison: the first system is the one the ratios refer to.
type row struct {
	title   string
	goal    string
	callers int
	short   bool // keeps what it makes: short rounds
	systems func() []load.System
}

func rows() []row {
	pair := func(hot bool) func(*rand.Rand) (int, int) {
		return func(r *rand.Rand) (int, int) { return load.Pair(r, hot) }
	}
	transfer := func(hot bool) func() []load.System {
		return func() []load.System {
			return []load.System{
				peers.OrderedMutexes(hot), peers.ProtoTwoPhase(hot),
				aeonBank("aeon, one bank", load.Accounts, pair(hot)), aeonRoots(hot),
			}
		}
	}
	// The region grows, the ten accounts that are touched do not: otherwise the row
	// would show the processor's caches.
	region := func(n int) load.System {
		return aeonBank(fmt.Sprintf("aeon, a bank of %d accounts", n), n, func(r *rand.Rand) (int, int) {
			from := r.IntN(10)
			return from * (n / 10), (from + 1 + r.IntN(9)) % 10 * (n / 10)
		})
	}
	return []row{
		{title: "request and reply, 1 actor, 1 caller", goal: "time <= 0.5 x the library's ask, <= 2 allocations", callers: 1,
			systems: func() []load.System { return []load.System{peers.ProtoAsk(1), aeonAsk(1)} }},
		{title: "request and reply, 1000 actors, 64 callers", goal: "rate >= 3 x the library's", callers: 64,
			systems: func() []load.System { return []load.System{peers.ProtoAsk(1000), aeonAsk(1000)} }},
		{title: "transfer, uniform, 64 callers", goal: "rate >= 1/15 of the mutexes, >= 10 x the library", callers: 64, systems: transfer(false)},
		{title: "transfer, hot, 64 callers", goal: "rate >= 0.7 x uniform", callers: 64, systems: transfer(true)},
		{title: "transfer, uniform and hot, 2 callers", goal: "rate of hot >= 0.7 x uniform", callers: 2, systems: func() []load.System {
			return []load.System{
				aeonBank("aeon, uniform", load.Accounts, pair(false)), aeonBank("aeon, hot", load.Accounts, pair(true)),
			}
		}},
		{title: "read-only event on one actor, 1 caller", goal: "-", callers: 1,
			systems: func() []load.System { return []load.System{aeonRead("aeon, 1 caller")} }},
		{title: "read-only event on one actor, 64 callers", goal: "rate >= that of 1 caller x cores", callers: 64,
			systems: func() []load.System { return []load.System{aeonRead("aeon, 64 callers")} }},
		{title: "region growth, transfer, 1 caller", goal: "flat within 20 %", callers: 1,
			systems: func() []load.System { return []load.System{region(10), region(1000), region(100_000)} }},
		{title: "child creation, 1 caller", goal: "time <= 2 x an ordinary event", callers: 1, short: true,
			systems: func() []load.System { return []load.System{aeonAsk(1), aeonCreate()} }},
	}
}

func main() {
	run := flag.String("run", "", "measure only the rows whose title contains this")
	only := flag.String("system", "", "measure only the systems whose name contains this")
	quick := flag.Bool("quick", false, "short rounds: everything works, the figures mean little")
	rounds := flag.Int("rounds", 5, "rounds per row; the median counts")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%s, %d CPUs, median of %d rounds\n", runtime.Version(), runtime.GOMAXPROCS(0), *rounds)
	for _, r := range rows() {
		if !strings.Contains(r.title, *run) {
			continue
		}
		if err := measure(r, *only, *quick, *rounds); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

func measure(r row, only string, quick bool, rounds int) error {
	plan := load.Plan{Callers: r.callers, Round: time.Second, Rounds: rounds, Warmup: 300 * time.Millisecond}
	if r.short {
		plan.Round, plan.Warmup = 200*time.Millisecond, 50*time.Millisecond
	}
	if quick {
		plan.Round, plan.Warmup, plan.Rounds = 50*time.Millisecond, 20*time.Millisecond, 1
	}
	systems := slices.DeleteFunc(r.systems(), func(s load.System) bool { return !strings.Contains(s.Name, only) })
	if len(systems) == 0 {
		return nil
	}
	results, err := load.Compare(plan, systems...)
	if err != nil {
		return fmt.Errorf("%s: %w", r.title, err)
	}
	fmt.Printf("\n%s    (goal: %s)\n", r.title, r.goal)
	fmt.Printf("  %-36s %14s %10s %10s %10s %8s %8s\n", "", "op/s", "ns/op", "cpu ns/op", "allocs/op", "spread", "rate x")
	for _, s := range results {
		fmt.Printf("  %-36s %14.0f %10.0f %10.0f %10.1f %7.0f%% %8.3g\n",
			s.System, s.OpsPerSec, s.NsPerOp, s.CPUNsPerOp, s.AllocsPerOp, 100*s.Spread, s.OpsPerSec/results[0].OpsPerSec)
	}
	return nil
}
