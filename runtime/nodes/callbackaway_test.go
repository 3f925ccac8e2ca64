package nodes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// An event that calls a client of another store back ends with its time, also while it waits for that store, and holds no locks any more. Nothing of it stays in the way of later callbacks.
func TestACallbackToAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip, long, patience = 10 * time.Millisecond, 50 * time.Millisecond, time.Second
		c := openProgram(t, &shop.AeonPackage, 2, func(cfg *nodes.Config) {
			cfg.System.ClientClasses = aeonrt.AllClientClasses(&shop.AeonPackage)
			cfg.Delay = func(m *across.Message) time.Duration {
				if m.Kind == across.Ask && m.Question.Lines != nil {
					return long
				}
				return trip
			}
		})
		open := func(k event.StoreID) (*door.Door, *door.Class) {
			p, err := door.ProgramOf(aeonrt.AllClasses(&shop.AeonPackage), aeonrt.AllClientClasses(&shop.AeonPackage))
			if err != nil {
				t.Fatal(err)
			}
			d := door.Open(door.Config{System: c.System(k), Program: p})
			class, err := d.Class("Shop")
			if err != nil {
				t.Fatal(err)
			}
			return d, class
		}
		d, class := open(0)
		name := ""
		for i := 0; name == "" || event.NamedActor(class.Class.Path(), name, 0, 8).Birth%2 != 0; i++ {
			name = shopName(i)
		}
		call := func(within time.Duration, method, body string) error {
			m, err := class.Method(method)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			x := &door.Call{Method: m}
			if x.Args, err = m.Params.Read([]byte(body), d.Names(t.Context(), "")); err != nil {
				t.Fatal(err)
			}
			if x.Target, err = d.Actor(t.Context(), class, name); err != nil {
				t.Fatal(err)
			}
			_, err = d.Call(ctx, x)
			return err
		}
		timesOut := func(within time.Duration, method, body string) {
			t.Helper()
			began := time.Now()
			if err := call(within, method, body); err == nil || door.Explain(err).Code != door.TimedOut || time.Since(began) > within+trip {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
		ends := func(method, body string) {
			t.Helper()
			if err := call(patience, method, body); err != nil {
				t.Error(err)
			}
		}
		of, _ := open(1)
		ear, err := of.ClientClass("Ear")
		if err != nil {
			t.Fatal(err)
		}
		client, err := of.Remotes.Begin("", []*door.ClientClass{ear})
		if err != nil {
			t.Fatal(err)
		}
		stream, err := client.Stream(0)
		if err != nil {
			t.Fatal(err)
		}
		ends("listen", fmt.Sprintf(`{"ear": %q}`, client.References[0]))
		for _, asked := range []time.Duration{trip / 2, long + trip/2} { // the question is under way, and what overtakes it says that the event has not committed; or the answer is
			timesOut(asked, "say", `{"text": "never", "times": 1}`)
		}
		ends("say", `{"text": "heard", "times": 1}`)
		c.Settle()
		list, err := stream.Take()
		if err != nil || len(list) != 1 || list[0].Number != 1 {
			t.Errorf("the client gets %v (%v)", list, err)
		}
		client.End()
		c.Settle()
		if err := c.Crash(1, losing(allLost)); err != nil {
			t.Fatal(err)
		}
		timesOut(patience, "say", `{"text": "never", "times": 1}`)
		ends("count", `{}`)
		if list := c.System(0).Across().Look(); len(list) > 0 {
			t.Errorf("operators see %v", list)
		}
		said := make(chan error)
		go func() { said <- call(patience, "say", `{"text": "late", "times": 1}`) }()
		<-time.After(trip)
		if list := c.System(0).Across().Look(); len(list) != 1 || !strings.Contains(list[0].Why, "callbacks") {
			t.Errorf("operators see %v", list)
		}
		if err := c.Restart(1); err != nil {
			t.Fatal(err)
		}
		if err := <-said; err != nil {
			t.Errorf("when the store is there again: %v", err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Code of a client that calls a client of another store fails. An actor may call it.
func TestAClientCallsNoClientElsewhere(t *testing.T) {
	c := openProgram(t, &shop.AeonPackage, 2, func(cfg *nodes.Config) { cfg.System.ClientClasses = aeonrt.AllClientClasses(&shop.AeonPackage) })
	ear := exec.NewRemote(c.System(1).Client(), &exec.Remote{})
	s := c.System(0)
	err := value.Try(func() {
		s.Client().Callback(s.ResolveClient(ear.Stored()), aeonrt.AllClientClasses(&shop.AeonPackage)[0].Methods[0], nil)
	})
	if err == nil || !strings.Contains(err.Error(), "a client of another store") {
		t.Errorf("it ends with %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
