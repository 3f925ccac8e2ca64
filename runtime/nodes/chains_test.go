package nodes_test

import (
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
