package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	aeonrt "github.com/aeon-lang/aeon/runtime"
)

const deposit = 1 << 40

// must ends the run: set-up of a benchmark does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// aeonAsk awaits events that write one actor, uniform over n actors.
func aeonAsk(n int) load.System {
	sys := aeonrt.Open(aeonrt.Config{})
	cl := sys.Client()
	counters := make([]app.CounterRef, n)
	for i := range counters {
		counters[i] = must(app.NewCounter(cl))
	}
	return load.System{
		Name: "aeon event, one actor",
		NewClient: func(int, int) load.Client {
			cl := sys.Client()
			return func(r *rand.Rand) error {
				_, err := counters[r.IntN(n)].Add(cl, 1)
				return err
			}
		},
		Close: sys.Close,
	}
}

// aeonRead awaits read-only events on one actor.
func aeonRead(name string) load.System {
	sys := aeonrt.Open(aeonrt.Config{})
	counter := must(app.NewCounter(sys.Client()))
	return load.System{
		Name: name,
		NewClient: func(int, int) load.Client {
			cl := sys.Client()
			return func(*rand.Rand) error {
				_, err := counter.Read(cl)
				return err
			}
		},
		Close: sys.Close,
	}
}

// aeonBank transfers between two of the accounts that one bank owns.
func aeonBank(name string, accounts int, pair func(*rand.Rand) (int, int)) load.System {
	sys := aeonrt.Open(aeonrt.Config{})
	cl := sys.Client()
	bank := must(app.NewBank(cl))
	for left := accounts; left > 0; left -= 1000 {
		if err := bank.Open(cl, int64(min(left, 1000)), deposit); err != nil {
			panic(err)
		}
	}
	return load.System{
		Name: name,
		NewClient: func(int, int) load.Client {
			cl := sys.Client()
			return func(r *rand.Rand) error {
				from, to := pair(r)
				return bank.Transfer(cl, int64(from), int64(to), 1)
			}
		},
		Check: func() error {
			sum := must(bank.Total(cl))
			if want := int64(accounts) * deposit; sum != want {
				return fmt.Errorf("the accounts hold %d, not %d", sum, want)
			}
			return nil
		},
		Close: sys.Close,
	}
}

// aeonRoots transfers between accounts that have no owner.
func aeonRoots(hot bool) load.System {
	sys := aeonrt.Open(aeonrt.Config{})
	cl := sys.Client()
	accounts := make([]app.AccountRef, load.Accounts)
	for i := range accounts {
		accounts[i] = must(app.NewAccount(cl, deposit))
	}
	return load.System{
		Name: "aeon, root accounts",
		NewClient: func(int, int) load.Client {
			cl := sys.Client()
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				return accounts[from].PayTo(cl, accounts[to], 1)
			}
		},
		Check: func() error {
			var sum int64
			for _, a := range accounts {
				sum += must(a.BalanceNow(cl))
			}
			if want := int64(load.Accounts) * deposit; sum != want {
				return fmt.Errorf("the accounts hold %d, not %d", sum, want)
			}
			return nil
		},
		Close: sys.Close,
	}
}

// aeonCreate has one actor create children; every event is one more.
func aeonCreate() load.System {
	sys := aeonrt.Open(aeonrt.Config{})
	parent := must(app.NewParent(sys.Client()))
	return load.System{
		Name: "aeon event that creates a child",
		NewClient: func(int, int) load.Client {
			cl := sys.Client()
			return func(*rand.Rand) error {
				_, err := parent.Grow(cl)
				return err
			}
		},
		Close: sys.Close,
	}
}
