package cluster

import (
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
)

// A node may hear of a store while it ends: nothing runs for that, and nothing waits for its end.
func TestStoresThatComeWhileTheNodeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{id: &identity.Identity{Node: 1}}
		n.holders.run(n)
		before := n.holders.of(n, 1)
		n.holders.end()
		after := n.holders.of(n, 2)
		n.tasks.Wait() // for ever, if one of them runs: synctest tells
		for id, h := range map[placement.StoreID]*holder{1: before, 2: after} {
			if !h.ended {
				t.Errorf("the holder of store %d goes on", id)
			}
		}
	})
}
