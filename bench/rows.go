package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
)

// row is one comparison: the first system is the one the ratios refer to.
type row struct {
	title      string
	goal       string
	callers    int
	short      bool // keeps what it makes: short rounds
	timed      bool // an operation takes so long that it is timed by itself
	durable    bool // takes as long as a disk does
	written    bool // says how many bytes an operation has written
	contenders func(*place) []contender
}

// rows are all comparisons, those in memory first.
func rows() []row {
	return slices.Concat(memoryRows(), doorRows(), durableRows(), replicatedRows(), workflowRows(), largeRows(), remoteRows())
}

func memoryRows() []row {
	pair := func(hot bool) func(*rand.Rand) (int, int) {
		return func(r *rand.Rand) (int, int) { return load.Pair(r, hot) }
	}
	transfer := func(hot bool) func(*place) []contender {
		return func(*place) []contender {
			return opened(
				peers.OrderedMutexes(hot), peers.ProtoTwoPhase(hot),
				aeonBank("aeon, one bank", load.Accounts, pair(hot)), aeonRoots(hot),
			)
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
			contenders: func(*place) []contender { return opened(peers.ProtoAsk(1), aeonAsk(1)) }},
		{title: "request and reply, 1000 actors, 64 callers", goal: "rate >= 3 x the library's", callers: 64,
			contenders: func(*place) []contender { return opened(peers.ProtoAsk(1000), aeonAsk(1000)) }},
		{title: "transfer, uniform, 64 callers", goal: "rate >= 1/15 of the mutexes, >= 10 x the library", callers: 64, contenders: transfer(false)},
		{title: "transfer, hot, 64 callers", goal: "rate >= 0.7 x uniform", callers: 64, contenders: transfer(true)},
		{title: "transfer, uniform and hot, 2 callers", goal: "rate of hot >= 0.7 x uniform", callers: 2,
			contenders: func(*place) []contender {
				return opened(
					aeonBank("aeon, uniform", load.Accounts, pair(false)), aeonBank("aeon, hot", load.Accounts, pair(true)),
				)
			}},
		{title: "read-only event on one actor, 1 caller", goal: "-", callers: 1,
			contenders: func(*place) []contender { return opened(aeonRead("aeon, 1 caller")) }},
		{title: "read-only event on one actor, 64 callers", goal: "rate >= that of 1 caller x cores", callers: 64,
			contenders: func(*place) []contender { return opened(aeonRead("aeon, 64 callers")) }},
		{title: "region growth, transfer, 1 caller", goal: "flat within 20 %", callers: 1,
			contenders: func(p *place) []contender {
				large := 100_000
				if p.quick {
					large = 10_000
				}
				return opened(region(10), region(1000), region(large))
			}},
		{title: "child creation, 1 caller", goal: "time <= 2 x an ordinary event", callers: 1, short: true,
			contenders: func(*place) []contender { return opened(aeonAsk(1), aeonCreate()) }},
	}
}
