package remote

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/runtime/event"
)

// balance is what each account has at first: none runs dry.
const balance = 1 << 40

// accounts makes accounts without an owner in the store of a node.
func (n *node) accounts(of event.NodeID, count int) (list []app.AccountRef, err error) {
	cl := n.System.Client()
	mint := app.MintRef{Ref: n.named(&app.AeonClassMint, of, 0)}
	for len(list) < count {
		made, err := mint.Make(cl, int64(min(500, count-len(list))), balance)
		if err != nil {
			return nil, err
		}
		list = append(list, made.Items()...)
	}
	return list, nil
}

// Transfers measures transfers between accounts of two durable nodes, half of the accounts of load at each: an account of this node pays to one of the other,
// or is paid by it.
func Transfers(dir string, peer Peer) (load.System, error) {
	n, err := openNear(dir, peer.Address(), true)
	if err != nil {
		return load.System{}, err
	}
	here, err1 := n.accounts(near, load.Accounts/2)
	there, err2 := n.accounts(far, load.Accounts/2)
	if err := errors.Join(err1, err2); err != nil {
		return load.System{}, errors.Join(err, n.close())
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := n.System.Client()
			return func(r *rand.Rand) error {
				amount := int64(1 - 2*r.IntN(2))
				return here[r.IntN(len(here))].PayTo(cl, there[r.IntN(len(there))], amount)
			}
		},
		Check: func() error {
			var ids []event.ActorID
			for _, a := range append(here[:len(here):len(here)], there...) {
				ids = append(ids, a.ID())
			}
			if err := errors.Join(n.close(), peer.Restart()); err != nil {
				return err
			}
			again, err := openNear(dir, peer.Address(), true)
			if err != nil {
				return err
			}
			n = again
			sum, err := n.sum(ids)
			if want := int64(load.Accounts) * balance; err == nil && sum != want {
				err = fmt.Errorf("the accounts hold %d, not %d", sum, want)
			}
			return err
		},
		Retries: func() int64 { return n.withdrawn() }, // n is another one after Check,
		Close:   func() { _ = n.close() },
	}, nil
}

// sum adds up accounts.
func (n *node) sum(ids []event.ActorID) (int64, error) {
	const clients = 64
	var sum, next atomic.Int64
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			cl := n.System.Client()
			for i := next.Add(1) - 1; i < int64(len(ids)) && errs[c] == nil; i = next.Add(1) - 1 {
				var b int64
				b, errs[c] = app.AccountRef{Ref: n.System.Resolve(ids[i])}.BalanceNow(cl)
				sum.Add(b)
			}
		})
	}
	wg.Wait()
	return sum.Load(), errors.Join(errs...)
}
