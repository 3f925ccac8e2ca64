package nodes_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// former is a node that led a store, and does not know yet that another one does. It has what the store had then.
type former struct {
	*memengine.Engine
	deposed chan struct{} // closed when it learns that
	why     error         // that it learns; set before
	c       *nodes.Cluster
	of      event.StoreID
}

// Confirm implements store.Confirming.
func (f *former) Confirm() error {
	<-f.deposed
	return f.why
}

// newFormer returns a node that has led a store up to now.
func newFormer(t *testing.T, c *nodes.Cluster, of event.StoreID) *former {
	t.Helper()
	f := &former{deposed: make(chan struct{}), c: c, of: of}
	f.leads(t, func(e store.Engine, why error) store.Engine {
		left := losing(nothingLost)(e, why).(*memengine.Engine)
		f.Engine = left.Crash(nothingLost)
		return left
	})
	return f
}

// standsIn has the node get the sessions of the store when its successor has gone. The next leader, which has all of the store, begins with end.
func (f *former) standsIn(t *testing.T) (end func()) {
	t.Helper()
	var left store.Engine
	f.leads(t, func(e store.Engine, why error) store.Engine {
		left = losing(nothingLost)(e, why)
		return f
	})
	return func() {
		f.leads(t, func(_ store.Engine, why error) store.Engine {
			f.Fail(why)
			f.why = why
			close(f.deposed)
			return left
		})
	}
}

// leads has the store begin again, with another engine.
func (f *former) leads(t *testing.T, image func(store.Engine, error) store.Engine) {
	t.Helper()
	if err := errors.Join(f.c.Crash(f.of, image), f.c.Restart(f.of)); err != nil {
		t.Fatal(err)
	}
}

// A node that led a store once, and gets a session before it learns that it does not any more, tells nothing that rests on what it does not have: as a home not that an
// attempt has not committed, as a participant not that it has carried one out. The successor had decided the one, or prepared the other.
func TestFormerLeadersTellNothing(t *testing.T) {
	const late = time.Hour
	for name, of := range map[string]event.StoreID{"home": 0, "participant": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waits atomic.Bool
				waits.Store(true)
				c, all := gauges(t, func(cfg *nodes.Config) {
					cfg.Delay = func(m *across.Message) time.Duration {
						if waits.Load() && m.Kind == across.Commit && m.Commit.Kind == commit.Decision {
							return late
						}
						return time.Millisecond
					}
				})
				c.Settle()
				f := newFormer(t, c, of)
				s := c.System(0)
				if err := s.Client().Issue(s.Resolve(all[0].ID()), &gaugeClear, &gaugeArgs{s.Resolve(all[1].ID()), s.Resolve(all[2].ID())}).Wait(); err != nil {
					t.Fatal(err)
				}
				if _, _, undone := s.Across().Open(); undone == 0 {
					t.Fatal("all stores have carried it out already")
				}
				end := f.standsIn(t)
				waits.Store(false)
				<-time.After(2 * late) // of the bubble: the third store has carried it out then
				end()
				for undone := 1; undone > 0; _, _, undone = c.System(0).Across().Open() {
					<-time.After(time.Millisecond)
				}
				c.Settle()
				s = c.System(1)
				if err := s.Client().Await(s.Resolve(all[1].ID()), &gaugePeek, &gaugeArgs{}); err == nil {
					t.Error("an actor answers that the event has deleted")
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Nor does it say that there is no such actor, to a caller or to another store.
func TestFormerLeadersMissNoActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := gauges(t, func(*nodes.Config) {})
		c.Settle()
		f := newFormer(t, c, 0)
		made, err := c.System(0).Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{})
		if err != nil {
			t.Fatal(err)
		}
		c.Settle()
		end := f.standsIn(t)
		said := make(chan error, 2)
		go func() {
			r, err := c.System(0).Find(made.ID())
			if err == nil {
				t.Errorf("it has found %v, which it does not know", r)
			}
			said <- err
		}()
		go func() {
			s := c.System(1)
			class, err := s.ClassOf(t.Context(), s.Resolve(made.ID()))
			if err == nil && class == "" {
				t.Error("another store is told that there is no such actor")
			}
			said <- err
		}()
		synctest.Wait()
		if len(said) > 0 {
			t.Errorf("the node says something of an actor that its successor has created: %v", <-said)
		}
		end()
		<-said
		<-said
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
