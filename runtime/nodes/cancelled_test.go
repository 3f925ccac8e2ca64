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

// A client cancels a chain whose next step waits for an actor. The step does not happen, wherever it waits, and whatever its store hears when.
func TestACancellationOfAChain(t *testing.T) {
	for where, e := range map[string]struct {
		path []event.StoreID // of the actors of the steps: each step waits in the store of the one before
		when func(c *nodes.Cluster, cancel func()) error
	}{
		"in the store of the client":       {[]event.StoreID{0, 0}, atOnce},
		"in another store":                 {[]event.StoreID{1, 2}, atOnce},
		"in a third store":                 {[]event.StoreID{1, 2, 1}, atOnce},
		"in the store of the client again": {[]event.StoreID{1, 0, 1}, atOnce},
		"in a store that begins anew before it is told": {[]event.StoreID{1, 2}, func(c *nodes.Cluster, cancel func()) error {
			err := c.Crash(1, losing(allKept))
			cancel()
			return errors.Join(err, c.Restart(1))
		}},
	} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				here := c.System(0)
				last, steps := all[e.path[len(e.path)-1]], 0
				if len(e.path) > 2 || e.path[1] == e.path[0] { // one that no step has come to
					maker := c.System(e.path[len(e.path)-1])
					var err error
					if last, err = maker.Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{}); err != nil {
						t.Fatal(err)
					}
				}
				gaugeHails = func(cx *aeonrt.Cx) {
					from := c.System(e.path[steps])
					if steps++; steps < len(e.path)-1 {
						cx.Tail(from.Resolve(all[e.path[steps]].ID()), &gaugeHail, &gaugeArgs{})
					} else if steps < len(e.path) {
						cx.Tail(from.Resolve(last.ID()), &gaugeHail, &gaugeArgs{})
					}
				}
				holder := c.System(e.path[len(e.path)-1])
				gaugeHeld = make(chan struct{})
				holds := holder.Client().Issue(holder.Resolve(last.ID()), &gaugeHold, &gaugeArgs{})
				synctest.Wait()
				chain := here.Client().Issue(here.Resolve(all[e.path[0]].ID()), &gaugeHail, &gaugeArgs{})
				synctest.Wait() // its last step waits
				if want := len(e.path) - 1; steps != want {
					t.Fatalf("it has come to step %d, not %d", steps, want)
				}
				if err := e.when(c, chain.Cancel); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				close(gaugeHeld)
				_ = holds.Wait() // its store may have begun anew
				if err := chain.Wait(); !errors.Is(err, order.ErrCancelled) || steps != len(e.path)-1 {
					t.Errorf("after %d steps the chain ends with %v", steps, err)
				}
				c.Settle()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				for s := range event.StoreID(3) {
					if n := c.System(s).Stats().DeadLetters; n > 0 {
						t.Errorf("store %d has %d dead letters", s, n)
					}
				}
			})
		})
	}
}

func atOnce(_ *nodes.Cluster, cancel func()) error {
	cancel()
	return nil
}

// A chain goes to and fro between two stores without an end. It ends when its client cancels it, though no step of it waits for anything.
func TestACancellationOfAnEndlessChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, all := gauges(t, func(*nodes.Config) {})
		goes, steps := make(chan struct{}, 1), 0
		gaugeHails = func(cx *aeonrt.Cx) {
			at := event.StoreID(1 + steps%2)
			switch steps++; steps {
			case 100:
				goes <- struct{}{}
			case 100_000:
				return
			}
			cx.Tail(c.System(at).Resolve(all[3-at].ID()), &gaugeHail, &gaugeArgs{})
		}
		s := c.System(0)
		chain := s.Client().Issue(s.Resolve(all[1].ID()), &gaugeHail, &gaugeArgs{})
		<-goes
		chain.Cancel()
		if err := chain.Wait(); !errors.Is(err, order.ErrCancelled) {
			t.Errorf("after %d steps the chain ends with %v", steps, err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
