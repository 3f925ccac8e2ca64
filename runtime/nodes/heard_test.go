package nodes_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/value"
)

// late is a writer that takes long.
type late struct {
	io.Writer
	takes time.Duration
}

func (w late) Write(b []byte) (int, error) {
	<-time.After(w.takes)
	return w.Writer.Write(b)
}

// A store prints a line of an event, which takes long. An event after it calls a client of another store back: that store runs the callback when the line is out, and so
// it does with a line of the same event.
func TestLinesComeBeforeCallbacksOfOtherStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		var ear aeonrt.ClientObject
		hear := aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(*aeonrt.Client, any, aeonrt.Args) { _, _ = io.WriteString(out, "heard\n") }}
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{&hear}}}
			cfg.System.Stdout = late{out, time.Second}
		})
		number := aeonrt.NewClientObject(c.System(0).Client(), &ear, nil).Stored()
		s := c.System(1)
		gaugeHails = func(cx *aeonrt.Cx) { cx.Callback(s.ResolveClient(number), &hear, &gaugeArgs{}) }
		cl := s.Client() // one: events of two have no order
		for _, methods := range [][]*aeonrt.Method{{&gaugeMark, &gaugeHail}, {&gaugeHailing}} {
			for _, m := range methods {
				cl.Send(all[1], m, &gaugeArgs{})
			}
			c.Settle()
			if got, want := out.take(), "marked\nheard\n"; got != want {
				t.Errorf("%q is told, want %q", got, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A session ends behind the commit of an event that calls a client of another store, and before that store hears of the commit: it drops the callback, and the traces of both tell that nothing
// else is missing.
func TestTracesTellOfCallbacksThatAreDropped(t *testing.T) {
	for _, cut := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			heard := 0
			var ear aeonrt.ClientObject
			hear := aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(*aeonrt.Client, any, aeonrt.Args) { heard++ }}
			recorded := newTraces(t.TempDir(), 3, 0, t.Fatalf)
			c, all := gauges(t, func(cfg *nodes.Config) {
				cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{&hear}}}
				cfg.Delay = func(m *across.Message) time.Duration {
					if m.Kind == across.Let {
						return time.Second
					}
					return 0
				}
				recorded.into(cfg)
			})
			number := aeonrt.NewClientObject(c.System(0).Client(), &ear, nil).Stored()
			s := c.System(1)
			gaugeHails = func(cx *aeonrt.Cx) { cx.Callback(s.ResolveClient(number), &hear, &gaugeArgs{}) }
			s.Client().Send(all[1], &gaugeHail, &gaugeArgs{})
			synctest.Wait()
			if cut {
				c.Cut(0, 1)
			}
			c.Settle()
			if want := map[bool]int{false: 1}[cut]; heard != want {
				t.Errorf("%d callbacks are heard, want %d", heard, want)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			recorded.check()
		})
	}
}

// deepArgs have a result that nests too deeply to be sent.
type deepArgs struct{ gaugeArgs }

func (x *deepArgs) EncodeResult(*aeonrt.Encoder) { value.Fail(codec.MsgDepth) }

// The result of a chain that stays in the store of its client is not sent, so it may nest as deeply as it likes; elsewhere its last step fails.
func TestResultsOfChainsAreSentElsewhereOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, all := gauges(t, func(*nodes.Config) {})
		for s, want := range []string{codec.MsgDepth, ""} {
			gaugeHails = func(cx *aeonrt.Cx) { cx.Tail(all[1], &gaugeMark, &deepArgs{}) }
			err := c.System(event.StoreID(s)).Client().Await(c.System(event.StoreID(s)).Resolve(all[1].ID()), &gaugeHail, &gaugeArgs{})
			if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
				t.Errorf("a chain of a client of store %d ends with %v, want %q", s, err, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A store fails while an event that has printed waits until it is durable. The line is dropped, and the system of the store closes.
func TestAStoreFailsThatHasLinesToTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.System.Stdout = out
			cfg.Open = func(event.StoreID) (store.Engine, error) { return replicated{memengine.New(), time.Second}, nil }
		})
		c.Settle()
		s, ended := c.System(1), make(chan error)
		go func() {
			_, err := s.Perform(&exec.Call{Target: all[1], Method: &gaugeMark, Args: &gaugeArgs{}, Key: "mark"})
			ended <- err
		}()
		synctest.Wait()
		err := c.Crash(1, func(e store.Engine, why error) store.Engine { return losing(allLost)(e.(replicated).Engine, why) })
		if err != nil {
			t.Fatal(err)
		}
		err = <-ended
		if unknown := (*event.UnknownError)(nil); !errors.As(err, &unknown) {
			t.Errorf("the event ends with %v", err)
		}
		if told := out.take(); told != "" {
			t.Errorf("%q is told, and may not have happened", told)
		}
		if err := c.Restart(1); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
