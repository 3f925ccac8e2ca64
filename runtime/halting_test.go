package runtime

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// anyPlace is a place to which nothing is sent.
type anyPlace struct{ snapshot.Target }

// A store that a node leads no longer is closed while the node sends a snapshot of another one: neither its next snapshot nor a part that is to be deleted waits for that.
func TestAStoreIsClosedWhileASnapshotOfAnotherIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &NodeSnapshots{keeping: keeping{target: anyPlace{}, taking: make(turn, 1)}}
		n.SnapshotEvery = time.Second
		if !n.taking.take(t.Context()) {
			t.Fatal("the turn is not free")
		}
		l := &Led{of: &ClusterConfig{Snapshots: n}}
		l.halts.open()
		h := &Halted{led: l, saved: &snapshot.Saved{}}
		l.halts.list[h] = true
		dropped := make(chan struct{})
		go func() {
			defer close(dropped)
			h.Drop(context.Background())
		}()
		stop := n.startSnapshots(nil, slog.New(slog.DiscardHandler))
		<-time.After(2 * time.Second)
		l.halts.close()
		stop()
		<-dropped
	})
}
