package nodes_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/internal/bubble"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/order"
)

// staysAttached has a store make some actors, and its evictor come by, and returns how many of the actors are attached then.
func staysAttached(t *testing.T, s *exec.System) (n int) {
	t.Helper()
	var list []aeonrt.Ref
	for range 20 {
		r, err := s.Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	for range 4 { // it finds first that they were used
		s.Unload(1)
	}
	for _, r := range list {
		if !isDetached(r) {
			n++
		}
	}
	return n
}

func isDetached(r aeonrt.Ref) bool { return order.HandleOf(r).Is(order.Detached) }

// What other events have used leaves memory while an event waits for a store that is away, and so does what the waiting event has used. It attaches that again, and from then on
// nothing leaves before it has ended.
func TestActorsLeaveWhileAnEventWaitsForAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, all := gauges(t, func(*nodes.Config) {})
		s := c.System(0)
		there, runs := s.Resolve(all[2].ID()), make(chan bool)
		near, err := s.Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{})
		if err != nil {
			t.Fatal(err)
		}
		clears := gaugeClear.Run
		defer func() { gaugeClear.Run = clears }()
		gaugeHeld, gaugeClear.Run = make(chan struct{}), func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
			clears(cx, self, args)
			runs <- true
			<-gaugeHeld
		}
		if err := c.Crash(2, losing(allLost)); err != nil {
			t.Fatal(err)
		}
		waits := s.Client().Issue(all[0], &gaugeClear, &gaugeArgs{near, there})
		bubble.Wait()
		if list := s.Across().Look(); len(list) != 1 || !slices.Equal(list[0].For, []event.StoreID{2}) {
			t.Errorf("operators see %v", list)
		}
		if n := staysAttached(t, s); n > 0 {
			t.Errorf("%d actors stay attached that no event needs", n)
		}
		if !isDetached(all[0]) || !isDetached(near) {
			t.Error("the actors of the event that waits stay attached")
		}
		if err := c.Restart(2); err != nil {
			t.Fatal(err)
		}
		<-runs
		if n := staysAttached(t, s); n == 0 {
			t.Error("actors are detached while the event runs")
		}
		close(gaugeHeld)
		if err := waits.Wait(); err != nil {
			t.Error(err)
		}
		if !order.HandleOf(near).Is(order.Deleted) {
			t.Error("the event has not deleted the actor that had left memory")
		}
		if n := staysAttached(t, s); n > 0 {
			t.Errorf("%d actors stay attached when the event has ended", n)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The same, of an event that waits for a chain to leave an actor, in the store of the event or another one, while a step of the chain waits for a store.
func TestActorsLeaveWhileAnEventWaitsForAChain(t *testing.T) {
	for k := range event.StoreID(2) { // the store of the event; the actor is in store 1
		synctest.Test(t, func(t *testing.T) {
			c, all := gauges(t, func(*nodes.Config) {})
			s, of := c.System(k), c.System(1)
			gaugeHails = func(cx *aeonrt.Cx) {
				cx.TailThis(all[1], &gaugeBoth, &gaugeArgs{of.Resolve(all[0].ID()), of.Resolve(all[2].ID())})
			}
			if err := c.Crash(2, losing(allLost)); err != nil {
				t.Fatal(err)
			}
			chain := of.Client().Issue(all[1], &gaugeHail, &gaugeArgs{})
			bubble.Wait()
			gaugeHeld = make(chan struct{})
			waits := s.Client().Issue(s.Resolve(all[1].ID()), &gaugeHold, &gaugeArgs{})
			bubble.Wait()
			if n, list := order.HandleOf(all[1]).WaitingForChain(), s.Across().Look(); k == 1 && n != 1 || k == 0 && len(list) != 1 {
				t.Errorf("store %d: %d events wait for the chain here, and operators see %v", k, n, list)
			}
			if n := staysAttached(t, s); n > 0 {
				t.Errorf("store %d: %d actors stay attached that no event needs", k, n)
			}
			if err := c.Restart(2); err != nil {
				t.Fatal(err)
			}
			if err := chain.Wait(); err != nil {
				t.Error(err)
			}
			bubble.Wait()
			if n := staysAttached(t, s); n == 0 {
				t.Errorf("store %d: actors are detached while the event runs", k)
			}
			close(gaugeHeld)
			if err := waits.Wait(); err != nil {
				t.Error(err)
			}
			c.Settle()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The same, of an event that waits for a store to run another version of the program.
func TestActorsLeaveWhileAnEventWaitsForAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := aeonrt.Class{Shape: aeonrt.Shape{Package: "gauge", Name: "Later"}}
		later.New = func() aeonrt.Object { return new(gauge) }
		construct := gaugeMethod("new", aeonrt.Effects{Self: aeonrt.Write})
		construct.Class, construct.Run = &later, func(*aeonrt.Cx, any, aeonrt.Args) {}
		later.Methods, later.Ctor = []*aeonrt.Method{}, &construct
		older := true
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.Start = func(id event.StoreID, sys *exec.Config) error {
				if id != 1 || !older {
					sys.Classes = append(slices.Clone(sys.Classes), &later)
				}
				return nil
			}
		})
		name := ""
		for n := 0; name == "" || event.NamedActor(later.Path(), name, 0, len(all)).Birth != 1; n++ {
			name = fmt.Sprint("later", n)
		}
		gaugeHeld, gaugeHails = make(chan struct{}), func(cx *aeonrt.Cx) {
			activation.Named(cx, &later, name)
			<-gaugeHeld
		}
		s := c.System(0)
		waits := s.Client().Issue(all[0], &gaugeHail, &gaugeArgs{})
		bubble.Wait()
		if n := staysAttached(t, s); n > 0 {
			t.Errorf("%d actors stay attached that no event needs", n)
		}
		if !isDetached(all[0]) {
			t.Error("the target of the event that waits stays attached")
		}
		older = false
		if err := errors.Join(c.Crash(1, losing(allLost)), c.Restart(1)); err != nil {
			t.Fatal(err)
		}
		bubble.Wait()
		if n := staysAttached(t, s); n == 0 {
			t.Error("actors are detached while the event runs")
		}
		close(gaugeHeld)
		if err := waits.Wait(); err != nil {
			t.Error(err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
