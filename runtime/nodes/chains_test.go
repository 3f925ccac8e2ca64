package nodes_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
)

// A client begins a chain in a new session. The chain ends in a store that has not heard of that session yet, and may not even have heard that the one before has
// ended. The client is told.
func TestAChainEndsWhereTheNewSessionIsNotKnown(t *testing.T) {
	for what, both := range map[string]bool{"the session before is known to have ended": false, "the session before is thought to go on": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				steps := 0
				gaugeHails = func(cx *aeonrt.Cx) {
					if at, to := steps, []int{1, 2, 1}; at < len(to) {
						steps++
						cx.Tail(c.System(event.StoreID(at)).Resolve(all[to[at]].ID()), &gaugeHail, &gaugeArgs{})
					}
				}
				ended := make(chan error, 1)
				c.CutHeardLate(0, 2, both, func() {
					go func() { ended <- c.System(0).Client().Await(all[0], &gaugeHail, &gaugeArgs{}) }()
					synctest.Wait()
				})
				select {
				case err := <-ended:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(time.Minute):
					t.Fatal("the client waits")
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A chain goes on over sessions, whether anything awaits it or not. It is no dead letter if the start of the store that has begun it does not learn of its end: it has not failed.
func TestChainsOutlastSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		c, all := gauges(t, func(cfg *nodes.Config) { cfg.System.Log = slog.New(slog.NewTextHandler(&said, nil)) })
		goes, ended := make(chan struct{}), 0
		var steps []func(*aeonrt.Cx)
		gaugeHails = func(cx *aeonrt.Cx) {
			step := steps[0]
			steps = steps[1:]
			step(cx)
		}
		to := func(from event.StoreID, actor int) func(*aeonrt.Cx) {
			return func(cx *aeonrt.Cx) { cx.Tail(c.System(from).Resolve(all[actor].ID()), &gaugeHail, &gaugeArgs{}) }
		}
		last := func(*aeonrt.Cx) { <-goes; ended++ }
		s := c.System(0)
		steps = []func(*aeonrt.Cx){to(0, 1), to(1, 2), last} // the last step is an event of store 1, as those that come later and wait behind it
		s.Client().Send(all[0], &gaugeHail, &gaugeArgs{})
		synctest.Wait()
		steps = []func(*aeonrt.Cx){to(0, 1), to(1, 2)}
		s.Client().Issue(all[0], &gaugeHail, &gaugeArgs{})
		synctest.Wait()
		steps = []func(*aeonrt.Cx){to(0, 1), to(1, 2), last, last}
		awaited := s.Client().Issue(all[0], &gaugeHail, &gaugeArgs{})
		synctest.Wait()
		c.Cut(0, 1)
		synctest.Wait()
		close(goes)
		if err := awaited.Wait(); err != nil {
			t.Errorf("the client gets %v", err)
		}
		c.Settle()
		goes = make(chan struct{})
		steps = []func(*aeonrt.Cx){to(0, 1), to(1, 2), last}
		s.Client().Send(all[0], &gaugeHail, &gaugeArgs{})
		synctest.Wait()
		if err := c.Crash(0, losing(allLost)); err != nil {
			t.Fatal(err)
		}
		close(goes)
		if err := c.Restart(0); err != nil {
			t.Fatal(err)
		}
		c.Settle()
		if ended != 4 {
			t.Errorf("%d chains have ended, not 4", ended)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := s.Stats().DeadLetters; n != 0 || strings.Contains(said.String(), "dead letter") {
			t.Errorf("%d dead letters; the log has %s", n, said.String())
		}
	})
}
