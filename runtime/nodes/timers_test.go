package nodes_test

import (
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// tickArgs has a shop set a timer that calls an object of another store.
type tickArgs struct {
	to   aeonrt.ClientRef
	call *exec.ClientMethod
}

// A timer that calls a client of another store ends when that has gone.
func TestTimersEndWithTheirClientElsewhere(t *testing.T) {
	c := openProgram(t, &shop.AeonPackage, 2, func(cfg *nodes.Config) {
		cfg.System.Clock = sched.NewSimClock(time.Unix(1000, 0))
		cfg.System.ClientClasses = aeonrt.AllClientClasses(&shop.AeonPackage)
	})
	var said *exec.ClientMethod
	for _, class := range aeonrt.AllClientClasses(&shop.AeonPackage) {
		for _, m := range class.Methods {
			if m.Name == "said" {
				said = m
			}
		}
	}
	heard := 0
	client := c.System(1).Client()
	ear := exec.NewRemote(client, &exec.Remote{Deliver: func(*exec.ClientMethod, aeonrt.Args) { heard++ }})
	tick := aeonrt.Method{Class: &shop.AeonClassShop, Name: "tick", Effects: aeonrt.Effects{Self: aeonrt.Write}, Run: func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		a := args.(*tickArgs)
		cx.CallbackAfterEvery(a.to, a.call, a.call.NewArgs(), time.Second, time.Second, "")
	}}
	s := c.System(0)
	name := ""
	for i := 0; name == "" || event.NamedActor(shop.AeonClassShop.Path(), name, 0, 8).Birth%2 != 0; i++ {
		name = shopName(i)
	}
	cl := s.Client()
	if err := cl.Await(aeonrt.Named(cl, &shop.AeonClassShop, name), &tick, &tickArgs{s.ResolveClient(ear.Stored()), said}); err != nil {
		t.Fatal(err)
	}
	cl.Advance(3 * time.Second)
	c.Settle()
	if heard != 3 {
		t.Errorf("%d callbacks, want 3", heard)
	}
	client.Close()
	cl.Advance(time.Second) // the answer to this firing says that the client has gone
	c.Settle()
	before := s.Stats().Commits
	if s.FireNext() {
		t.Errorf("the timer is still set: %d more events", s.Stats().Commits-before)
	}
	if heard != 3 {
		t.Errorf("%d callbacks to a client that has gone", heard-3)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// The delay of a timer that an event sets in another store begins when the event commits, however late that store learns of it: it is down meanwhile, and so
// may be the store that has decided.
func TestTimersOfAStoreThatLearnsLate(t *testing.T) {
	const trip, away = 10 * time.Millisecond, gaugeDelay - 2*time.Second
	for _, down := range [][]event.StoreID{{1}, {0, 1}} {
		synctest.Test(t, func(t *testing.T) {
			c, all := gauges(t, func(cfg *nodes.Config) { cfg.Delay = under(trip) })
			var rang []time.Time
			gaugeHails = func(*aeonrt.Cx) { rang = append(rang, time.Now()) }
			s := c.System(0)
			s.Client().Issue(all[0], &gaugeWind, &gaugeArgs{first: s.Resolve(all[1].ID())})
			for undone := 0; undone == 0; _, _, undone = s.Across().Open() {
				<-time.After(time.Millisecond)
			}
			committed := time.Now()
			for _, id := range down {
				if err := c.Crash(id, losing(func(unsynced int) int { return unsynced })); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(away)
			for _, id := range down {
				if err := c.Restart(id); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(2 * gaugeDelay)
			synctest.Wait()
			if len(rang) != 1 {
				t.Fatalf("stores %v were down: the timer has fired %d times", down, len(rang))
			}
			if late := rang[0].Sub(committed) - gaugeDelay; late.Abs() > 2*trip {
				t.Errorf("stores %v were down: the timer is late by %v", down, late)
			}
			c.Settle()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
