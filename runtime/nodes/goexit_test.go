package nodes_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Code that calls runtime.Goexit in another store than the home of its event fails the event, which leaves no locks there: also if it runs within a call of
// a third store that its own store waits for.
func TestGoexitInAnotherStore(t *testing.T) {
	for what, depth := range map[string]int{"at once": 0, "within a call of a third store": 2} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				s, cl := c.System(0), c.System(1).Client()
				kept, err := cl.New(&gaugeClass, &gaugeNew, &gaugeArgs{})
				if err != nil {
					t.Fatal(err)
				}
				deep := 0
				gaugeHails = func(cx *aeonrt.Cx) {
					if deep == depth {
						runtime.Goexit()
					}
					deep++
					to := []event.ActorID{all[2].ID(), kept.ID()}[deep-1]
					aeonrt.CallRemote(cx, c.System(event.StoreID(deep)).Resolve(to), &gaugeHail, &gaugeArgs{})
				}
				failed := make(chan error)
				go func() { failed <- s.Client().Await(s.Resolve(all[1].ID()), &gaugeHail, &gaugeArgs{}) }()
				select {
				case err := <-failed:
					if err == nil || err.Error() != event.MsgGoexit {
						t.Errorf("the event ended with %v", err)
					}
				case <-time.After(time.Minute):
					t.Fatal("the event does not end")
				}
				c.Settle()
				for _, a := range []aeonrt.Ref{all[1], kept} {
					if err := cl.Await(a, &gaugePeek, &gaugeArgs{}); err != nil {
						t.Error(err)
					}
				}
				for id := range event.StoreID(3) {
					if tries, parts, _ := c.System(id).Across().Open(); tries+parts > 0 {
						t.Errorf("store %d has %d attempts and %d parts left", id, tries, parts)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Code of the home that calls runtime.Goexit within a call of another store fails the event as well. The event's own code takes its goroutine with it.
func TestGoexitWithinACallOfAnotherStore(t *testing.T) {
	for what, e := range map[string]struct {
		async bool
		way   []int // of the calls, by stores
	}{
		"in the event's own code":           {false, []int{1, 0}},
		"in an async call":                  {true, []int{1, 0}},
		"in an async call by a third store": {true, []int{1, 2, 0}},
		"in an async call, twice":           {true, []int{1, 0, 2, 0}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				way, at := append([]int{0}, e.way...), 0
				gaugeHails = func(cx *aeonrt.Cx) {
					if at == len(way)-1 {
						runtime.Goexit()
					}
					s := c.System(event.StoreID(way[at]))
					at++
					if to := s.Resolve(all[way[at]].ID()); at == 1 && e.async {
						aeonrt.Async(cx, to, &gaugeHail, &gaugeArgs{})
					} else {
						aeonrt.CallRemote(cx, to, &gaugeHail, &gaugeArgs{})
					}
				}
				first, err := c.System(0).Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{})
				if err != nil {
					t.Fatal(err)
				}
				failed := make(chan error, 1)
				go func() {
					defer close(failed)
					failed <- c.System(0).Client().Await(first, &gaugeHail, &gaugeArgs{})
				}()
				select {
				case err, told := <-failed:
					if told != e.async || told && (err == nil || err.Error() != event.MsgGoexit) {
						t.Errorf("the event ended with %v", err)
					}
				case <-time.After(time.Minute):
					t.Fatal("the event does not end")
				}
				for _, a := range []aeonrt.Ref{first, all[0], all[1], all[2]} {
					if err := c.System(0).Client().Await(c.System(0).Resolve(a.ID()), &gaugePeek, &gaugeArgs{}); err != nil {
						t.Error(err)
					}
				}
				c.Settle()
				for id := range event.StoreID(3) {
					if tries, parts, _ := c.System(id).Across().Open(); tries+parts > 0 {
						t.Errorf("store %d has %d attempts and %d parts left", id, tries, parts)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What it has changed before is taken back.
func TestGoexitInAnotherStoreChangesNothing(t *testing.T) {
	defer func(added func()) { tillAdded = added }(tillAdded)
	synctest.Test(t, func(t *testing.T) {
		c, in, cl := tills(t, 3, time.Millisecond, func() store.Engine { return memengine.New() })
		for s := range in {
			before, after := &tillArgs{}, &tillArgs{}
			if err := cl.Await(in[s][1], &tillSee, before); err != nil {
				t.Fatal(err)
			}
			tillAdded = runtime.Goexit
			f := cl.Issue(in[s][1], &tillAdd, &tillArgs{by: 5})
			if err := f.Wait(); err == nil || err.Error() != event.MsgGoexit {
				t.Errorf("the event ended with %v", err)
			}
			tillAdded = func() {}
			if err := cl.Await(in[s][1], &tillSee, after); err != nil || after.ret != before.ret {
				t.Errorf("the till in store %d has %d (%v), and not %d", s, after.ret, err, before.ret)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
