package exec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// tape is a Recorder that keeps everything as lines. Ended, Called and Gone come one at a
// time.
type tape struct {
	lines []string
	names map[event.EventID]int // events in the order of their records
}

func (t *tape) Prepare(*trace.Event)  {}
func (t *tape) Answered(*trace.Event) {}
func (t *tape) Gone(c event.ClientID) { t.lines = append(t.lines, fmt.Sprint("gone ", c)) }

func (t *tape) origin(o *trace.Origin) string {
	if o.Parent == (event.EventID{}) {
		return fmt.Sprintf("%s of client %d", o.Kind, o.Client)
	}
	return fmt.Sprintf("%s %d of %d by %s", o.Kind, o.Index, t.names[o.Parent], o.Issuer)
}

func (t *tape) Ended(e *trace.Event) {
	if t.names == nil {
		t.names = map[event.EventID]int{}
	}
	t.names[e.ID] = len(t.names) + 1
	list := func(accesses []trace.Access) string {
		var parts []string
		for _, a := range accesses {
			p := fmt.Sprintf("%s=%d", a.Label, a.Version)
			if a.Deleted {
				p += "†"
			}
			parts = append(parts, p)
		}
		slices.Sort(parts)
		return strings.Join(parts, " ")
	}
	line := fmt.Sprintf("%d: %s on %s, %s; r %s; w %s", t.names[e.ID], e.Method, e.Label, t.origin(&e.Origin), list(e.Reads), list(e.Writes))
	if e.Subs+len(e.Callbacks) > 0 {
		line += fmt.Sprintf("; issued %d+%d", e.Subs, len(e.Callbacks))
	}
	if e.Err != nil {
		line += "; " + e.Err.Error()
	}
	t.lines = append(t.lines, line)
}

func (t *tape) Called(c *trace.Callback) {
	t.lines = append(t.lines, fmt.Sprintf("callback %s in %d, %s", c.Method, c.Origin.Client, t.origin(&c.Origin)))
}

func (t *tape) Dropped() { t.lines = append(t.lines, "dropped") }

func (t *tape) expect(tt *testing.T, want string) {
	tt.Helper()
	got := strings.Join(t.lines, "\n")
	if want = strings.TrimSpace(want); got != want {
		tt.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTraceOfNamesUsedAgain: the second actor of a name has versions of its own, and an event
// on the first actor finds it in its last version.
func TestTraceOfNamesUsedAgain(t *testing.T) {
	var tp tape
	s := Open(Config{Log: quiet, Trace: &tp})
	defer s.Close()
	cl := s.Client()
	old := Named(cl, &classBank, "b")
	_, err := bankRef{old}.Audit(cl)
	mustNot(t, err)
	mustNot(t, cl.Delete(old))
	_, err = bankRef{Named(cl, &classBank, "b")}.Audit(cl)
	mustNot(t, err)
	if _, err := (bankRef{old}).Audit(cl); err == nil {
		t.Error("a deleted actor answers")
	}
	tp.expect(t, `
1: Bank.audit on bank.Bank/b, client of client 2; r bank.Bank/b=0; w bank.Bank/b=1
2: delete on bank.Bank/b, client of client 2; r bank.Bank/b=1; w bank.Bank/b=2†
3: Bank.audit on bank.Bank@2/b, client of client 2; r bank.Bank@2/b=0; w bank.Bank@2/b=1
4: Bank.audit on bank.Bank/b, client of client 2; r bank.Bank/b=2; w ; actor Bank("b") was deleted`)
}

// TestTraceOfAborts: the trace of an event that was undone shows what the event has seen, and leaves the
// versions as they were. An actor that it was about to create is not in the trace.
func TestTraceOfAborts(t *testing.T) {
	var tp tape
	s := Open(Config{Log: quiet, Trace: &tp})
	defer s.Close()
	cl := s.Client()
	b := bankRef{Named(cl, &classBank, "b")}
	a, err := b.Open(cl, "ann")
	mustNot(t, err)
	if _, err := a.Deposit(cl, -1); err == nil {
		t.Error("a debt is accepted")
	}
	if err := b.Transfer(cl, "ann", "bob", 1); err == nil {
		t.Error("a transfer to a missing account is accepted")
	}
	_, err = a.Deposit(cl, 1)
	mustNot(t, err)
	ann := "bank.Account:" + a.ID().String()
	tp.expect(t, `
1: Bank.open on bank.Bank/b, client of client 2; r bank.Bank/b=0; w `+ann+`=1 bank.Bank/b=1
2: Account.deposit on `+ann+`, client of client 2; r `+ann+`=1; w ; not enough money
3: Bank.transfer on bank.Bank/b, client of client 2; r bank.Bank/b=1; w ; no such account
4: Account.deposit on `+ann+`, client of client 2; r `+ann+`=1; w `+ann+`=2`)
}

// TestTraceOfWhatEventsIssue: sub-events, callbacks and the firings of timers name the
// event that they come from.
func TestTraceOfWhatEventsIssue(t *testing.T) {
	var tp tape
	s := Open(Config{Log: quiet, Trace: &tp, Clock: sched.NewSimClock(time.Unix(0, 0))})
	defer s.Close()
	cl := s.Client()
	r, err := cl.New(&classDesk, &methodDesk, work(nil))
	mustNot(t, err)
	guest := &struct{ ClientObject }{}
	g := NewClientObject(cl, &guest.ClientObject, guest)
	hear := &ClientMethod{Class: "Guest", Name: "hear", Run: func(*Client, any, order.Args) {}}
	mustNot(t, cl.Await(r, &methodAlone, work(func(cx *Cx, d *desk) {
		cx.Callback(g, hear, nil)
		cx.Emit(d.Self.Ref(), &methodAlone, work(nil))
		cx.EmitAfter(d.Self.Ref(), &methodAlone, work(nil), time.Second, "")
		cx.Callback(g, hear, nil)
		cx.CallbackAfter(g, hear, nil, 2*time.Second, "")
	})))
	cl.Settle()
	cl.Advance(3 * time.Second)
	cl.Callback(g, hear, nil)
	cl.Settle()
	cl.Close()
	self := classDesk.Package + "." + classDesk.Name + ":" + r.ID().String()
	slices.SortStableFunc(tp.lines[2:5], strings.Compare) // the callbacks run beside the sub-event
	tp.expect(t, strings.ReplaceAll(`
1: Desk.Desk on DESK, client of client 2; r ; w DESK=1
2: Desk.alone on DESK, client of client 2; r DESK=1; w ; issued 1+2
3: Desk.alone on DESK, sub 1 of 2 by DESK; r DESK=1; w 
callback Guest.hear in 2,  1 of 2 by DESK
callback Guest.hear in 2,  2 of 2 by DESK
4: timer on DESK, timer 1 of 2 by DESK; r DESK=1; w ; issued 1+0
5: Desk.alone on DESK, sub 1 of 4 by DESK; r DESK=1; w 
6: timer on DESK, timer 1 of 2 by DESK; r DESK=1; w ; issued 0+1
callback Guest.hear in 2,  1 of 6 by DESK
callback Guest.hear in 2,  of client 2
gone 2`, "DESK", self))
}

// BenchmarkTraced compares a transfer in a system that is traced into a file with one that
// is not.
func BenchmarkTraced(b *testing.B) {
	for _, mode := range []string{"off", "on", "states"} {
		b.Run(mode, func(b *testing.B) {
			cfg := Config{Log: quiet}
			if mode != "off" {
				w, err := trace.Create(b.TempDir()+"/t", trace.Memory, false)
				mustNot(b, err)
				w.Begin(trace.Header{Program: "bench"})
				defer func() { mustNot(b, w.Close()) }()
				cfg.Trace, cfg.TraceStates = w, mode == "states"
			}
			s := Open(cfg)
			defer s.Close()
			_, list := openBank(b, s, "main", 1000)
			closedLoop(b, s, func(cl *Client, rng *rand.Rand) {
				i, j := pick(rng, 1000, 0)
				_ = cl.Await(list[i].Ref, &methodPay, &payArgs{to: list[j], amount: 1})
			})
		})
	}
}

// traceEnv names a directory into which the workload writes its traces. The tests of spec/trace run the workload
// with it and check them.
const traceEnv = "AEON_EXEC_TRACE"

// tee records for two recorders.
type tee struct {
	trace.Recorder
	also trace.Func
}

func (t tee) Ended(e *trace.Event) {
	t.Recorder.Ended(e)
	t.also(e)
}

// recorded makes cfg record for f, and into a file if traceEnv is set. end closes the file.
func (w workload) recorded(cfg *Config, f trace.Func) (end func() error, err error) {
	cfg.Trace = f
	dir := os.Getenv(traceEnv)
	if dir == "" {
		return func() error { return nil }, nil
	}
	file, err := trace.Create(fmt.Sprintf("%s/%d-%d-%d", dir, w.seed, w.goroutines, w.nodes), trace.Memory, false)
	if err != nil {
		return nil, err
	}
	file.Begin(trace.Header{Program: "workload", Seed: w.seed, States: true})
	cfg.Trace, cfg.TraceStates = tee{file, f}, true
	return func() error {
		file.End("closed")
		return file.Close()
	}, nil
}
