package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/store"
)

// journal is aeon's journal alone: a batch of two rows like pebble's, appended and awaited. What an event costs beyond it is the rest of the runtime.
func journal(n *node, err error, hot bool, valueBytes int) (load.System, error) {
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			key, value := make([]byte, 16), make([]byte, valueBytes)
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				b := n.store.NewBatch()
				for _, account := range []int{from, to} {
					key[0] = 'z' // behind everything that recovery reads
					binary.BigEndian.PutUint64(key[8:], uint64(account))
					binary.BigEndian.PutUint64(value, r.Uint64())
					b.Set(key, value)
				}
				return n.store.Wait(context.Background(), n.store.Append(b))
			}
		},
		Close: func() { n.close() },
	}, nil
}

// inParallel calls f for 0 to count-1, from several clients at once: they share syncs.
func inParallel(sys *aeonrt.System, count int, f func(cl *aeonrt.Client, i int) error) error {
	const clients = 64
	errs := make([]error, clients)
	var next atomic.Int64
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			cl := sys.Client()
			for i := int(next.Add(1)) - 1; i < count && errs[c] == nil; i = int(next.Add(1)) - 1 {
				errs[c] = f(cl, i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// bankOf returns the bank of that name.
func bankOf(sys *aeonrt.System, name string) app.BankRef {
	return app.BankRef{Ref: aeonrt.Named(sys.Client(), &app.AeonClassBank, name)}
}

// counterOf returns the counter of that name.
func counterOf(sys *aeonrt.System, name string) app.CounterRef {
	return app.CounterRef{Ref: aeonrt.Named(sys.Client(), &app.AeonClassCounter, name)}
}

// openAccounts opens accounts in a bank, not too many at once.
func openAccounts(n *node, bank app.BankRef, accounts int) error {
	cl := n.Client()
	for left := accounts; left > 0; left -= 1000 {
		if err := bank.Open(cl, int64(min(left, 1000)), deposit); err != nil {
			return err
		}
	}
	return nil
}

// durableBank transfers between two of the accounts that one bank owns.
func durableBank(n *node, err error, hot bool) (load.System, error) {
	if err != nil {
		return load.System{}, err
	}
	bank := bankOf(n.System, "bank")
	if err := openAccounts(n, bank, load.Accounts); err != nil {
		return load.System{}, errors.Join(err, n.close())
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := n.Client()
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				return bank.Transfer(cl, int64(from), int64(to), 1)
			}
		},
		Check: func() error {
			if err := n.reopen(); err != nil {
				return err
			}
			sum, err := bankOf(n.System, "bank").Total(n.Client())
			return errors.Join(err, sumIs(sum))
		},
		Close: func() { n.close() },
	}, nil
}

// durableRoots transfers between accounts that have no owner.
func durableRoots(dir string, hot bool) (load.System, error) {
	n, err := openNode(dir, store.Sync())
	if err != nil {
		return load.System{}, err
	}
	accounts := make([]app.AccountRef, load.Accounts)
	if err := inParallel(n.System, len(accounts), func(cl *aeonrt.Client, i int) (err error) {
		accounts[i], err = app.NewAccount(cl, deposit)
		return err
	}); err != nil {
		return load.System{}, errors.Join(err, n.close())
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := n.Client()
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				return accounts[from].PayTo(cl, accounts[to], 1)
			}
		},
		Check: func() error {
			ids := make([]aeonrt.ActorID, len(accounts))
			for i, a := range accounts {
				ids[i] = a.ID()
			}
			if err := n.reopen(); err != nil {
				return err
			}
			cl, sum := n.Client(), int64(0)
			for _, id := range ids {
				balance, err := app.AccountRef{Ref: n.Resolve(id)}.BalanceNow(cl)
				if err != nil {
					return err
				}
				sum += balance
			}
			return sumIs(sum)
		},
		Close: func() { n.close() },
	}, nil
}

func sumIs(sum int64) error {
	if want := int64(load.Accounts) * deposit; sum != want {
		return fmt.Errorf("the accounts hold %d, not %d", sum, want)
	}
	return nil
}
