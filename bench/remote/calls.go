package remote

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
)

// openNear opens the node of this process, beside the one at peer; dir has the identities of both.
func openNear(dir, peer string, onDisk bool) (*node, error) {
	n, err := openNode(filepath.Join(dir, nearDir), peer, onDisk)
	if err != nil {
		return nil, err
	}
	if err := n.await(); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// named returns the i-th actor of a class that the store of a node has.
func (n *node) named(class *aeonrt.Class, of event.NodeID, i int) aeonrt.Ref {
	cl := n.System.Client()
	for k := 0; ; k++ {
		name := fmt.Sprintf("%d-%d", i, k)
		if ref := aeonrt.Named(cl, class, name); storeOf(ref.ID().Birth) == event.StoreID(of-1) {
			return ref
		}
	}
}

// Calls measures events with one remote call: an actor of this node passes a call on to a counter of the other node, uniform over counters. write has
// the counter added to, and else it is read.
func Calls(dir string, peer Peer, counters int, write bool) (load.System, error) {
	n, err := openNear(dir, peer.Address(), false)
	if err != nil {
		return load.System{}, err
	}
	all := make([]app.CounterRef, counters)
	for i := range all {
		all[i] = app.CounterRef{Ref: n.named(&app.AeonClassCounter, far, i)}
	}
	var added atomic.Int64
	return load.System{
		NewClient: func(i, _ int) load.Client {
			cl := n.System.Client()
			relay := app.RelayRef{Ref: n.named(&app.AeonClassRelay, near, i)}
			if !write {
				return func(r *rand.Rand) error {
					_, err := relay.Read(cl, all[r.IntN(counters)])
					return err
				}
			}
			return func(r *rand.Rand) error {
				added.Add(1)
				_, err := relay.Add(cl, all[r.IntN(counters)], 1)
				return err
			}
		},
		Check: func() error {
			var sum int64
			for _, c := range all {
				n, err := c.Read(n.System.Client())
				if err != nil {
					return err
				}
				sum += n
			}
			if sum != added.Load() {
				return fmt.Errorf("the counters are at %d after %d additions", sum, added.Load())
			}
			return nil
		},
		Retries: n.withdrawn,
		Notes:   n.notes,
		Close:   func() { _ = n.close() },
	}, nil
}

// notes says what the session between the nodes has carried.
func (n *node) notes() []string { return n.line.notes(n.System.Stats().Commits) }

// withdrawn returns how many attempts have been made again.
func (n *node) withdrawn() int64 { return int64(n.System.Stats().Withdrawals) }
