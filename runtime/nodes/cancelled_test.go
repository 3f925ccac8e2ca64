package nodes_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// An event makes an actor in another store, and aborts. That store has undone it when the event asks for its vote, and is to drop it when a client cancels the event before
// the vote has come.
func TestACancellationWhileAnAbortIsVotedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.Open = func(event.StoreID) (store.Engine, error) { return replicated{memengine.New(), time.Second}, nil }
		})
		clears := gaugeClear.Run
		defer func() { gaugeClear.Run = clears }()
		gaugeClear.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
			aeonrt.CallRemote(cx, args.(*gaugeArgs).second, &gaugeHail, &gaugeArgs{})
			aeonrt.Abort(cx, "no")
		}
		gaugeHails = func(cx *aeonrt.Cx) {
			aeonrt.New[*gauge](cx, &gaugeClass)
			aeonrt.Constructed(cx)
		}
		s := c.System(0)
		f := s.Client().Issue(all[0], &gaugeClear, &gaugeArgs{second: s.Resolve(all[1].ID())})
		synctest.Wait() // store 1 finds out whether what the event has seen there is durable
		f.Cancel()
		if err := f.Wait(); !errors.Is(err, order.ErrCancelled) {
			t.Errorf("the event ends with %v", err)
		}
		c.Settle()
		if _, parts, _ := c.System(1).Across().Open(); parts > 0 {
			t.Errorf("%d parts are left", parts)
		}
		if err := c.System(1).Graph().Validate(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A client cancels a chain whose last step waits for an actor. In the store of the client the step does not happen. A chain that has gone on in another store is not reached, and goes on.
func TestACancellationOfAChain(t *testing.T) {
	for where, at := range map[string]event.StoreID{"in the store of the client": 0, "in another store": 1} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				here, there := c.System(0), c.System(at)
				last, steps := all[2*at], 0 // of a store that the chain has come to
				gaugeHails = func(cx *aeonrt.Cx) {
					if steps++; steps == 1 {
						cx.Tail(there.Resolve(last.ID()), &gaugeHail, &gaugeArgs{})
					}
				}
				if at == 0 {
					var err error
					if last, err = here.Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{}); err != nil {
						t.Fatal(err)
					}
				}
				holder := c.System(2 * at)
				gaugeHeld = make(chan struct{})
				holds := holder.Client().Issue(holder.Resolve(last.ID()), &gaugeHold, &gaugeArgs{})
				synctest.Wait()
				chain := here.Client().Issue(here.Resolve(all[at].ID()), &gaugeHail, &gaugeArgs{})
				synctest.Wait() // the second step waits
				chain.Cancel()
				synctest.Wait()
				close(gaugeHeld)
				err := errors.Join(holds.Wait(), chain.Wait())
				if at == 0 && (!errors.Is(err, order.ErrCancelled) || steps != 1) || at == 1 && (err != nil || steps != 2) {
					t.Errorf("after %d steps the chain ends with %v", steps, err)
				}
				c.Settle()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
