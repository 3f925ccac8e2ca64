package nodes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/state/inspection"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// An alarm is a timer of a gauge in store 1 that calls a client of store 2.
type alarm struct {
	*nodes.Cluster
	all      [3]aeonrt.Ref
	versions *aged
	client   *aeonrt.Client
	number   uint64 // of its object

	mu    sync.Mutex // guards what the client hears
	heard []time.Time
	wrong int // callbacks with other arguments
}

func newAlarm(t *testing.T) *alarm {
	x := new(alarm)
	var ear aeonrt.ClientObject
	hear := &aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(_ *aeonrt.Client, _ any, args aeonrt.Args) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.heard = append(x.heard, time.Now())
		if args.(*gaugeArgs).first.ID() != x.all[0].ID() {
			x.wrong++
		}
	}}
	x.versions = &aged{text: &hear.Signature, older: "(int8)", original: "(int)", store: 1}
	x.Cluster, x.all = gauges(t, func(cfg *nodes.Config) {
		cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{hear}}}
		cfg.Start, cfg.Delay = x.versions.start, under(time.Millisecond)
	})
	x.client = x.System(2).Client()
	x.number = aeonrt.NewClientObject(x.client, &ear, nil).Stored()
	gaugeHails = func(cx *aeonrt.Cx) {
		s := x.System(1)
		cx.CallbackAfterEvery(s.ResolveClient(x.number), hear, &gaugeArgs{first: s.Resolve(x.all[0].ID())}, gaugeDelay, gaugeDelay, "alarm")
	}
	return x
}

// set sets the timer by an event of a store.
func (x *alarm) set(home event.StoreID) {
	s := x.System(home)
	s.Client().Issue(s.Resolve(x.all[1].ID()), &gaugeHail, &gaugeArgs{})
}

// nothingLost has losing keep all of them.
func nothingLost(unsynced int) int { return unsynced }

// restart has a store start again, which has all that it has written.
func (x *alarm) restart(t *testing.T, id event.StoreID) {
	t.Helper()
	if err := errors.Join(x.Crash(id, losing(nothingLost)), x.Restart(id)); err != nil {
		t.Fatal(err)
	}
}

// hears waits for a period, and requires that the client hears the alarm so often.
func (x *alarm) hears(t *testing.T, when string, times int) {
	t.Helper()
	count := func() (heard, wrong int) {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.heard), x.wrong
	}
	before, _ := count()
	<-time.After(gaugeDelay)
	synctest.Wait()
	if n, wrong := count(); n-before != times || wrong > 0 {
		t.Errorf("%s: the client hears the alarm %d times, %d times with other arguments; want %d", when, n-before, wrong, times)
	}
}

// isOver requires that nothing is left of the timer.
func (x *alarm) isOver(t *testing.T) {
	t.Helper()
	x.restart(t, 1)
	if n := x.System(1).Restored().Timers; n != 0 {
		t.Errorf("%d timers of a client that has gone are stored", n)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// A timer that calls a client of another store goes on when its own store starts again, also if that learns then that the event which has set it has
// committed: the client, which is there, would miss its callbacks unseen. It ends with the client.
func TestTimersOutliveTheirStoreForClientsElsewhere(t *testing.T) {
	for _, home := range []event.StoreID{1, 0} {
		synctest.Test(t, func(t *testing.T) {
			x := newAlarm(t)
			x.set(home)
			if home == 1 {
				x.Settle()
			}
			for undone := 0; home == 0 && undone == 0; _, _, undone = x.System(home).Across().Open() { // then store 1 does not know it
				<-time.After(time.Microsecond)
			}
			x.restart(t, 1)
			<-time.After(gaugeDelay / 2)
			x.hears(t, "after a start", 1)
			x.restart(t, 1)
			x.hears(t, "after a second start", 1)
			x.client.Close()
			x.hears(t, "without a client", 0)
			x.isOver(t)
		})
	}
}

// So it does if that start is of another version of the program, which lacks the method of the client. It ends though the client's store lacks that, too, as the
// client has gone then.
func TestTimersForClientsOfOtherVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newAlarm(t)
		x.set(1)
		x.Settle()
		x.versions.runs = true
		x.restart(t, 1)
		<-time.After(gaugeDelay / 2)
		x.hears(t, "by the other version", 1)
		x.versions.store = 2
		x.restart(t, 2)
		x.hears(t, "without a client", 0)
		if list := x.System(1).Across().Look(); len(list) > 0 {
			t.Errorf("the timer waits for a client that has gone: %v", list)
		}
		x.versions.runs = false
		x.restart(t, 2)
		x.isOver(t)
	})
}

// listed lists the timers of a store as operators see them.
func listed(t *testing.T, view store.Reader) (list []string) {
	t.Helper()
	in, err := inspection.Open(view, "gauge")
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Timers(0, func(line []byte) error {
		var x inspection.Timer
		err := json.Unmarshal(line, &x)
		list = append(list, fmt.Sprintf("%s.%s %s every %s as %s", x.Actor, x.Method, x.Arguments, x.Every, x.Name))
		return err
	}); err != nil {
		t.Error(err)
	}
	return list
}

// Operators see such a timer.
func TestTimersForClientsElsewhereAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newAlarm(t)
		x.set(1)
		x.Settle()
		if got, want := listed(t, x.Engine(1)), fmt.Sprintf("Ear:%d.hear null every 10s as alarm", x.number); !slices.Equal(got, []string{want}) {
			t.Errorf("the timers are %q, want %q", got, want)
		}
		for p := range event.PartitionID(len(x.all)) {
			if err := store.VerifySection(x.Engine(1), p, store.Timers, func(_, payload []byte) {
				if n, has, _ := store.SignatureOf(store.Timers, payload); has {
					t.Errorf("it waits for a method with the signature %d", n)
				}
			}, func(err *store.CorruptError) { t.Error(err) }); err != nil {
				t.Error(err)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A store that has no clients elsewhere may get such a timer with an actor of a snapshot. That ends when it is due.
func TestTimersForClientsThatAreNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newAlarm(t)
		x.set(1)
		x.Settle()
		var e *memengine.Engine
		if err := x.Crash(1, func(was store.Engine, why error) store.Engine {
			e = losing(nothingLost)(was, why).(*memengine.Engine)
			return e
		}); err != nil {
			t.Fatal(err)
		}
		for _, timers := range []int{1, 0} {
			st, err := store.Open(e, store.Options{Program: "nodes", Partitions: len(x.all), Number: 1, Log: slog.New(slog.DiscardHandler), Fatal: func(error) {}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := exec.Recover(exec.Config{Classes: aeonrt.AllClasses(&gaugePackage), Store: st, Partitions: len(x.all)})
			if err != nil {
				t.Fatal(err)
			}
			if n, list := s.Restored().Timers, listed(t, e); n != timers || len(list) != timers {
				t.Errorf("%d timers are stored, want %d: %q", n, timers, list)
			}
			<-time.After(3 * gaugeDelay)
			synctest.Wait()
			if n := s.Stats().Commits; n != uint64(timers) {
				t.Errorf("%d events, want %d", n, timers)
			}
			s.Close()
			e = losing(nothingLost)(e, errors.New("closed")).(*memengine.Engine)
			_ = st.Close()
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
}
