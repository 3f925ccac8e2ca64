package nodes_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/internal/bubble"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// former is the engine of a node that led a store, and does not know yet that another one does: it has what the store had then.
type former struct {
	*memengine.Engine
	deposed chan struct{} // closed when it learns that
}

// Confirm implements store.Confirming.
func (f *former) Confirm() error {
	<-f.deposed
	return errors.New("another node leads the store")
}

// A node that led a store once, and gets a session before it learns that it does not any more, tells nothing that rests on what it does not have: as a home not that an
// attempt has not committed, as a participant not that it has carried one out. The successor had decided the one, or prepared the other.
func TestFormerLeadersTellNothing(t *testing.T) {
	for name, of := range map[string]event.StoreID{"home": 0, "participant": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engines := map[event.StoreID]*memengine.Engine{}
				late := true
				c, all := gauges(t, func(cfg *nodes.Config) {
					cfg.Open = func(s event.StoreID) (store.Engine, error) {
						engines[s] = memengine.New()
						return engines[s], nil
					}
					cfg.Delay = func(m *across.Message) time.Duration {
						if late && m.Kind == across.Commit && m.Commit.Kind == commit.Decision {
							return time.Hour
						}
						return time.Millisecond
					}
				})
				c.Settle()
				everything := func(n int) int { return n }
				f := &former{engines[of].Crash(everything), make(chan struct{})}
				s := c.System(0)
				if err := s.Client().Issue(all[0], &gaugeClear, &gaugeArgs{s.Resolve(all[1].ID()), s.Resolve(all[2].ID())}).Wait(); err != nil {
					t.Fatal(err)
				}
				if _, _, undone := s.Across().Open(); undone == 0 {
					t.Fatal("all stores have carried it out already")
				}
				var left store.Engine
				err := c.Crash(of, func(e store.Engine, why error) store.Engine {
					e.(*memengine.Engine).Fail(why)
					left = e.(*memengine.Engine).Crash(everything)
					return f
				})
				late = false
				if err := errors.Join(err, c.Restart(of)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Hour) // the third store has carried it out by then
				err = c.Crash(of, func(e store.Engine, why error) store.Engine {
					close(f.deposed)
					f.Fail(why)
					return left
				})
				if err := errors.Join(err, c.Restart(of)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				c.Settle()
				if _, _, undone := c.System(0).Across().Open(); undone != 0 {
					t.Errorf("%d decisions are not carried out", undone)
				}
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
		engines := map[event.StoreID]*memengine.Engine{}
		c, _ := gauges(t, func(cfg *nodes.Config) {
			cfg.Open = func(s event.StoreID) (store.Engine, error) {
				engines[s] = memengine.New()
				return engines[s], nil
			}
		})
		c.Settle()
		everything := func(n int) int { return n }
		f := &former{engines[0].Crash(everything), make(chan struct{})}
		made, err := c.System(0).Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{})
		if err != nil {
			t.Fatal(err)
		}
		c.Settle()
		var left store.Engine
		err = c.Crash(0, func(e store.Engine, why error) store.Engine {
			e.(*memengine.Engine).Fail(why)
			left = e.(*memengine.Engine).Crash(everything)
			return f
		})
		if err := errors.Join(err, c.Restart(0)); err != nil {
			t.Fatal(err)
		}
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
		bubble.Wait()
		if len(said) > 0 {
			t.Errorf("the node says something of an actor that its successor has created: %v", <-said)
		}
		err = c.Crash(0, func(e store.Engine, why error) store.Engine {
			close(f.deposed)
			f.Fail(why)
			return left
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Restart(0); err != nil {
			t.Fatal(err)
		}
		<-said
		<-said
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
