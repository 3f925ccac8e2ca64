package nodes_test

import (
	"testing"
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
		cx.CallbackAfterEvery(time.Second, time.Second, "", a.to, a.call, a.call.NewArgs())
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
