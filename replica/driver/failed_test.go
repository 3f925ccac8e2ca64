package driver_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// failing is a place whose states cannot be written any more when it is told so.
type failing struct {
	driver.Place
	fails atomic.Bool
}

// Open implements driver.Place.
func (p *failing) Open(dir string) (store.Engine, error) {
	e, err := p.Place.Open(dir)
	if err == nil && strings.HasPrefix(dir, "states") {
		e = failingEngine{e, p}
	}
	return e, err
}

type failingEngine struct {
	store.Engine
	of *failing
}

// Apply implements store.Engine.
func (e failingEngine) Apply(b store.Batch) error {
	if e.of.fails.Load() {
		return errors.New("the disk is gone")
	}
	return e.Engine.Apply(b)
}

// A node that becomes the leader and cannot write what was acknowledged to its state has no engine: it would read without that.
func TestANodeThatHasFailedLeadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := three()
		for i, p := range places {
			places[i] = &failing{Place: p}
		}
		var fatal atomic.Int64
		cfg := quick(places...)
		cfg.Fatal = func(event.NodeID, error) { fatal.Add(1) } // the process is about to end
		c := open(t, cfg)
		id, e := lead(t, c)
		if err := put(e, "a", "1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for i, p := range places {
			p.(*failing).fails.Store(event.NodeID(i+1) != id)
		}
		if err := c.Stop(id); err != nil {
			t.Fatal(err)
		}
		for at := id%3 + 1; ; at = at%3 + 1 { // one of the others is elected
			d := c.Node(at)
			if d == nil || d.Leader(replicatest.Group).Leader != at {
				<-time.After(time.Millisecond)
				continue
			}
			e, err := d.Lead(replicatest.Group, d.Leader(replicatest.Group).Term)
			if errors.Is(err, driver.ErrDeposed) {
				continue
			}
			if !errors.Is(err, driver.ErrClosed) || fatal.Load() == 0 {
				t.Errorf("node %d leads with %v (%v), and has failed %d times", at, e, err, fatal.Load())
			}
			break
		}
		for i := range places {
			_ = c.Stop(event.NodeID(i + 1)) // it says why it has failed
		}
	})
}
