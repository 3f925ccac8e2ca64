package nodes_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
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
		synctest.Wait()
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
			synctest.Wait()
			gaugeHeld = make(chan struct{})
			waits := s.Client().Issue(s.Resolve(all[1].ID()), &gaugeHold, &gaugeArgs{})
			synctest.Wait()
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
			synctest.Wait()
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
		synctest.Wait()
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
		synctest.Wait()
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

// An event that calls a client of a store back holds no locks, in any store, while that store is away, and keeps no actors in memory. It calls back once when the store is there again.
func TestACallbackToAStoreThatIsAwayHoldsNoLocks(t *testing.T) {
	for _, asked := range []bool{false, true} { // the store goes away when it was asked to hold the callback
		synctest.Test(t, func(t *testing.T) {
			const soon, late = 10 * time.Millisecond, time.Second
			heard := 0
			var ear aeonrt.ClientObject
			hear := aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(*aeonrt.Client, any, aeonrt.Args) { heard++ }}
			c, all := gauges(t, func(cfg *nodes.Config) {
				cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{&hear}}}
				cfg.Delay = func(m *across.Message) time.Duration {
					if m.Kind == across.Ask && m.Question.Lines != nil {
						return late
					}
					return time.Millisecond
				}
			})
			s, of := c.System(1), c.System(0)
			number := aeonrt.NewClientObject(of.Client(), &ear, nil).Stored()
			gaugeHails = func(cx *aeonrt.Cx) {
				if asked { // else the event stays in its store, and does not wait for store 0 to enter again
					aeonrt.CallRemote(cx, s.Resolve(all[2].ID()), &gaugeMark, &gaugeArgs{})
				}
				cx.Callback(s.ResolveClient(number), &hear, &gaugeArgs{})
			}
			leave := func() {
				s.Across().Lost(0)
				of.Across().Lost(1)
			}
			if !asked {
				leave()
			}
			ended := make(chan error, 1)
			go func() { ended <- s.Client().Await(all[1], &gaugeHail, &gaugeArgs{}) }()
			<-time.After(soon)
			if asked {
				leave()
			}
			<-time.After(soon)
			if list := s.Across().Look(); len(list) != 1 || !slices.Equal(list[0].For, []event.StoreID{0}) {
				t.Errorf("asked %v: operators see %v", asked, list)
			}
			for k := 1; k < len(all); k++ {
				next := make(chan error, 1)
				go func() { next <- c.System(event.StoreID(k)).Client().Await(all[k], &gaugePeek, &gaugeArgs{}) }()
				<-time.After(soon)
				if len(next) == 0 {
					t.Errorf("asked %v: an event of store %d waits for one that waits for a store", asked, k)
				}
			}
			if n := staysAttached(t, s); n > 0 {
				t.Errorf("asked %v: %d actors stay attached that no event needs", asked, n)
			}
			if len(ended) > 0 {
				t.Errorf("asked %v: the event has ended: %v", asked, <-ended)
			}
			c.Cut(0, 1) // another session begins
			if err := <-ended; err != nil {
				t.Errorf("asked %v: when the store is there again: %v", asked, err)
			}
			c.Settle()
			if heard != 1 {
				t.Errorf("asked %v: %d callbacks are heard", asked, heard)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// So does one whose callback the program of that store does not have.
func TestACallbackOfAnotherVersionHoldsNoLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const soon = 10 * time.Millisecond
		hear := aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(*aeonrt.Client, any, aeonrt.Args) {}}
		versions := &aged{text: &hear.Signature, older: "(int8)", original: "(int)", store: 0, runs: true}
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{&hear}}}
			cfg.Start, cfg.Delay = versions.start, under(time.Millisecond)
		})
		s := c.System(1)
		var ear aeonrt.ClientObject
		number := aeonrt.NewClientObject(c.System(0).Client(), &ear, nil).Stored()
		gaugeHails = func(cx *aeonrt.Cx) {
			aeonrt.CallRemote(cx, s.Resolve(all[2].ID()), &gaugeMark, &gaugeArgs{})
			cx.Callback(s.ResolveClient(number), &hear, &gaugeArgs{})
		}
		ended := make(chan error, 1)
		go func() { ended <- s.Client().Await(all[1], &gaugeHail, &gaugeArgs{}) }()
		<-time.After(soon)
		if list := s.Across().Look(); len(list) != 1 || !slices.Equal(list[0].For, []event.StoreID{0}) || !strings.Contains(list[0].Why, "Ear.hear") {
			t.Errorf("operators see %v", list)
		}
		for k := 1; k < len(all); k++ {
			next := make(chan error, 1)
			go func() { next <- c.System(event.StoreID(k)).Client().Await(all[k], &gaugePeek, &gaugeArgs{}) }()
			<-time.After(soon)
			if len(next) == 0 {
				t.Errorf("an event of store %d waits for one that waits for a version", k)
			}
		}
		if n := staysAttached(t, s); n > 0 || len(ended) > 0 {
			t.Errorf("%d actors stay attached that no event needs; the event has ended: %v", n, len(ended) > 0)
		}
		versions.runs = false
		if err := errors.Join(c.Crash(0, losing(allLost)), c.Restart(0)); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("when both run one version: %v", err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
