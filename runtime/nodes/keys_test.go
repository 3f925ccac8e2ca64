package nodes_test

import (
	"errors"
	"fmt"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/sim/door/depot"
)

// ask calls a method of a depot by the door of store 0, as a client outside does, and returns the result.
func ask(t *testing.T, c *nodes.Cluster, key, of, method, args string) (string, error) {
	t.Helper()
	p, err := door.ProgramOf(aeonrt.AllClasses(&depot.AeonPackage), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := door.Open(door.Config{System: c.System(0), Program: p})
	class, err := d.Class("Depot")
	if err != nil {
		t.Fatal(err)
	}
	m, err := class.Method(method)
	if err != nil {
		t.Fatal(err)
	}
	call := &door.Call{Method: m, Key: key}
	if call.Args, err = m.Params.Read([]byte(args), d.Names(t.Context(), "")); err != nil {
		t.Fatal(err)
	}
	if call.Target, err = d.Actor(t.Context(), class, of); err != nil {
		t.Fatal(err)
	}
	answer, err := d.Call(t.Context(), call)
	return string(answer.Result), err
}

// A request that deletes actors which it names gets its first answer again, though their names mean the next actors then: at once, and when
// each store has started anew. With other actors it is another request.
func TestAKeyOutlivesItsArguments(t *testing.T) {
	for stores := event.StoreID(1); stores <= 2; stores++ {
		c := openProgram(t, &depot.AeonPackage, int(stores))
		args, before := `{"others":["Depot/0"`, 8
		for i := range before {
			if i > 0 {
				args += fmt.Sprintf(`,"Depot/%d"`, i)
			}
			for range i % 3 { // the ids of the next actors have another order
				if _, err := ask(t, c, "", fmt.Sprint(i), "close", "{}"); err != nil {
					t.Fatal(err)
				}
			}
		}
		closes := func(last string) (string, error) {
			t.Helper()
			return ask(t, c, "k", "home", "closeAll", args+`],"last":"Depot/`+last+`"}`)
		}
		for run := range stores + 1 {
			for range 2 {
				if got, err := closes("last"); err != nil || got != "9" {
					t.Errorf("%d stores, run %d: %s, %v", stores, run, got, err)
				}
			}
			if _, err := closes("other"); !errors.Is(err, event.ErrKeyReused) {
				t.Errorf("%d stores, run %d: with another actor %v", stores, run, err)
			}
			if run == stores {
				break
			}
			c.Settle()
			err := c.Crash(run, losing(func(unsynced int) int { return unsynced }))
			if err == nil {
				err = c.Restart(run)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
