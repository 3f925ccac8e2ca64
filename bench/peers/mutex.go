// Package peers holds the systems that aeon is measured beside: the limits (plain
// mutexes, a synced file, pebble), an actor library's request and response, the
// two-phase locking that a careful programmer would write on top of it, embedded
// stores (badger, bbolt), and servers (PostgreSQL, Redis).
package peers

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/aeon-lang/aeon/bench/load"
)

// initialBalance is large enough that no account runs dry in a benchmark.
const initialBalance = 1 << 40

// OrderedMutexes is the limit for a transfer: no actors at all, two mutexes
// taken in index order.
func OrderedMutexes(hot bool) load.System {
	type account struct {
		mu      sync.Mutex
		balance int64
		_       [48]byte // one account per cache line
	}
	accounts := make([]account, load.Accounts)
	for i := range accounts {
		accounts[i].balance = initialBalance
	}
	return load.System{
		Name: "ordered mutexes (limit)",
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				a, b := &accounts[min(from, to)], &accounts[max(from, to)]
				a.mu.Lock()
				b.mu.Lock()
				accounts[from].balance--
				accounts[to].balance++
				b.mu.Unlock()
				a.mu.Unlock()
				return nil
			}
		},
		Check: func() error {
			var sum int64
			for i := range accounts {
				sum += accounts[i].balance
			}
			return conserved(sum)
		},
	}
}

func conserved(sum int64) error {
	if sum != initialBalance*load.Accounts {
		return fmt.Errorf("the accounts hold %d, not %d", sum, int64(initialBalance)*load.Accounts)
	}
	return nil
}
