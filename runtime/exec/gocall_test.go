package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// sending is a class whose actors issue calls of a Go function, in a version of the fixture of editions.
type sending struct {
	*edition
	call, quiet, sent Method
	mu                struct {
		sync.Mutex
		keys []string // of the tries
	}
	try func(ctx context.Context, n int) error // the Go function; n counts its tries
}

// sendArgs are the arguments of a call; what follows gets the same.
type sendArgs struct {
	of    *sending
	tries int64
	why   string
}

func (x *sendArgs) Encode(e *codec.Encoder) { e.Int(x.tries) }
func (x *sendArgs) Decode(d *codec.Decoder) { x.tries = d.Int() }
func (x *sendArgs) AeonFailed() (left int)  { x.tries--; return int(x.tries) }
func (x *sendArgs) AeonCall(ctx context.Context) error {
	x.of.mu.Lock()
	x.of.mu.keys = append(x.of.mu.keys, outbox.CallKey(ctx))
	n := len(x.of.mu.keys)
	x.of.mu.Unlock()
	return x.of.try(ctx, n)
}

func (x *sendArgs) AeonThen(failure value.Opt[string]) order.Args {
	return &sendArgs{why: failure.Or("well")}
}

func (v *sending) send(tries int64) *sendArgs { return &sendArgs{of: v, tries: tries} }

// newSending returns a version whose Go function is try. What follows a call adds one to the sum, and notes how the call has ended.
func newSending(try func(ctx context.Context, n int) error) *sending {
	v := &sending{edition: newEdition(unchanged), try: try}
	v.sent = Method{Class: &v.class, Name: "sent", Signature: "(string?)", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return &sendArgs{} }}
	v.sent.Run = func(cx *Cx, self any, args order.Args) {
		c := self.(*clerk)
		undo.Field(cx.UndoLog(), &c.Self, 0, &c.sum)
		undo.Field(cx.UndoLog(), &c.Self, 1, &c.note)
		c.sum++
		c.note = args.(*sendArgs).why
	}
	v.call = Method{Class: &v.class, Name: "go mail.Send then sent", Signature: "(int)", NewArgs: func() order.Args { return v.send(0) },
		Go: &GoCall{Function: "mail.Send", Then: &v.sent}}
	v.quiet = Method{Class: &v.class, Name: "go mail.Send", Signature: "(int)", NewArgs: func() order.Args { return v.send(0) },
		Go: &GoCall{Function: "mail.Send"}}
	v.class.Methods = append(v.class.Methods, &v.sent)
	v.class.Calls = []*Method{&v.call, &v.quiet}
	return v
}

func (v *sending) open(clock sched.Clock) *System {
	return Open(Config{Classes: []*Class{&v.class}, Log: quiet, Clock: clock})
}

// issue has an actor issue a call, and waits for the commit.
func (v *sending) issue(cl *Client, m *Method, tries int64) error {
	return cl.Await(Named(cl, &v.class, "ann"), &v.do, func(cx *Cx, _ order.Ref) { cx.Go(m, v.send(tries)) })
}

func (v *sending) tried() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.mu.keys)
}

// ends reads how many calls have ended, and how the last one has.
func (v *sending) ends(t *testing.T, cl *Client) (sum int64, note string) {
	t.Helper()
	read := Method{Class: &v.class, Name: "read", Effects: order.Effects{Self: order.Read, ReadOnly: true}, Run: func(_ *Cx, self any, _ order.Args) {
		sum, note = self.(*clerk).sum, self.(*clerk).note
	}}
	mustNot(t, cl.Await(Named(cl, &v.class, "ann"), &read, nil))
	return sum, note
}

var errTorn = errors.New("torn")

// failing fails so often, each time in another way, and then ends well.
func failing(times int) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		switch {
		case n > times:
			return nil
		case n%3 == 1:
			return errTorn
		case n%3 == 2:
			panic("torn")
		}
		runtime.Goexit()
		return nil
	}
}

// A call is tried until a try ends well, with twice the time between tries, always under one key, and what follows runs once.
func TestCallIsTriedAgain(t *testing.T) {
	v := newSending(failing(3))
	s := v.open(sched.NewSimClock(time.Unix(1000, 0)))
	defer s.Close()
	cl := s.Client()
	mustNot(t, v.issue(cl, &v.call, 5))
	for i, wait := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, time.Hour} {
		cl.Advance(wait)
		if got := len(v.tried()); got != min(i+1, 4) {
			t.Fatalf("after round %d the call was tried %d times", i, got)
		}
		resting := 1
		if i >= 3 {
			resting = 0
		}
		want := fmt.Sprintf("\naeon_go_tries_total %d\n", min(i+1, 4))
		failed := fmt.Sprintf("\naeon_go_tries_failed_total %d\n", min(i+1, 3))
		rests := fmt.Sprintf("\naeon_go_calls_resting %d\n", resting)
		if text := figures(t, s); !strings.Contains(text, want) || !strings.Contains(text, failed) || !strings.Contains(text, rests) {
			t.Errorf("after round %d the figures lack%s%s%s", i, want, failed, rests)
		}
	}
	if sum, note := v.ends(t, cl); sum != 1 || note != "well" {
		t.Errorf("%d calls have ended, the last one %q", sum, note)
	}
	if keys := v.tried(); keys[0] == "" || len(slices.Compact(keys)) != 1 {
		t.Errorf("the tries had the keys %q", keys)
	}
	if s.timers.Counts().OneShots != 0 || s.live.Count() != 0 {
		t.Errorf("something is left")
	}
}

// figures returns what a system counts, for Prometheus.
func figures(t *testing.T, s *System) string {
	t.Helper()
	var w metrics.Writer
	var text strings.Builder
	s.WriteMetrics(&w)
	if _, err := w.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// The failure of the last try goes to what follows, or is a dead letter; an event that is undone calls nothing.
func TestCallFailsAtLast(t *testing.T) {
	for tries, want := range []string{1: "torn", 2: "panic in the Go function mail.Send: torn", 3: "runtime.Goexit in the Go function mail.Send"} {
		if want == "" {
			continue
		}
		v := newSending(failing(9))
		s := v.open(sched.NewSimClock(time.Unix(1000, 0)))
		cl := s.Client()
		if err := cl.Await(Named(cl, &v.class, "ann"), &v.do, func(cx *Cx, _ order.Ref) {
			cx.Go(&v.call, v.send(9))
			Abort(cx, "no")
		}); err == nil {
			t.Errorf("the event has not aborted")
		}
		mustNot(t, v.issue(cl, &v.call, int64(tries)))
		cl.Advance(time.Hour)
		if sum, note := v.ends(t, cl); sum != 1 || note != want || len(v.tried()) != tries {
			t.Errorf("%d calls have ended, the last one %q, after %d tries; want %q after %d", sum, note, len(v.tried()), want, tries)
		}
		mustNot(t, v.issue(cl, &v.quiet, 1))
		cl.Settle()
		if list := s.DeadLetters(); len(list) != 1 || !list[0].Call || list[0].Method != "Clerk.go mail.Send" {
			t.Errorf("the dead letters are %v", list)
		}
		s.Close()
	}
}

// So many calls are tried at a time, and no more; an actor whose calls are under way serves others.
func TestTriesAreBounded(t *testing.T) {
	begun, end := make(chan struct{}, 2*triesMax), make(chan struct{})
	v := newSending(func(context.Context, int) error {
		begun <- struct{}{}
		<-end
		return nil
	})
	s := v.open(nil)
	cl := s.Client()
	for range triesMax + 10 {
		mustNot(t, v.issue(cl, &v.call, 1))
	}
	for range triesMax {
		<-begun
	}
	if sum, _ := v.ends(t, cl); sum != 0 || len(begun) != 0 {
		t.Errorf("%d calls have ended, %d more have begun", sum, len(begun))
	}
	close(end)
	cl.Settle()
	if sum, _ := v.ends(t, cl); sum != triesMax+10 {
		t.Errorf("%d calls have ended", sum)
	}
	s.Close()
}

// A closing system ends the contexts of tries after a while, and leaves those that do not end then.
func TestCloseLeavesTries(t *testing.T) {
	for _, listens := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			end := make(chan struct{})
			v := newSending(func(ctx context.Context, _ int) error {
				if listens {
					<-ctx.Done()
				} else {
					<-end
				}
				return errTorn
			})
			s := v.open(nil)
			mustNot(t, v.issue(s.Client(), &v.call, 2))
			start := time.Now()
			s.Close()
			want := tryCloseMax
			if listens {
				want /= 2
			}
			if took := time.Since(start); took != want || s.live.Count() != 0 || s.Undone() != 1 {
				t.Errorf("closing took %v, not %v; %d are live, %d undone", took, want, s.live.Count(), s.Undone())
			}
			close(end)
		})
	}
}

// crashed returns what is left of a store when the event that has issued a call has its place in the journal.
func (v *sending) crashed(t *testing.T, m *Method, tries int64) replicatest.Engine {
	t.Helper()
	e := replicatest.New()
	st := openStore(t, e, nil)
	s, err := v.recover(st)
	mustNot(t, err)
	var waits replicatest.Engine
	failpoint = func(name string) {
		if name == "appended/client" && waits == nil {
			waits = e.Crash(all)
		}
	}
	defer func() { failpoint = nil }()
	mustNot(t, v.issue(s.Client(), m, tries))
	s.Client().Settle()
	s.Close()
	mustNot(t, st.Close())
	return waits
}

// A call is a row from the commit to its end: after a crash it is made again, under the same key, with the tries that are left.
func TestCallsOutliveCrashes(t *testing.T) {
	v := newSending(failing(0))
	e := v.crashed(t, &v.call, 3)
	key := v.tried()[0]
	torn := newSending(failing(9))
	st := openStore(t, e, nil)
	s, err := torn.recover(st)
	mustNot(t, err)
	cl := s.Client()
	cl.Settle()
	cl.Advance(time.Second) // two tries have failed
	s.Close()
	mustNot(t, st.Close())
	if s.Postponed() != 0 {
		t.Errorf("%d are postponed", s.Postponed())
	}
	e = e.Reopen()
	last := newSending(failing(9))
	st = openStore(t, e, nil)
	s, err = last.recover(st)
	mustNot(t, err)
	cl = s.Client()
	cl.Advance(time.Hour)
	if sum, note := last.ends(t, cl); sum != 1 || note != "torn" {
		t.Errorf("%d calls have ended, the last one %q", sum, note)
	}
	if a, b := torn.tried(), last.tried(); len(a) != 2 || len(b) != 1 || a[0] != key || a[1] != key || b[0] != key {
		t.Errorf("the tries had the keys %q, then %q and %q", key, a, b)
	}
	s.Close()
	mustNot(t, st.Close())
	st = openStore(t, e.Reopen(), nil)
	if s, err = newSending(nil).recover(st); err != nil || s.Restored().SubEvents != 0 {
		t.Errorf("the row has not gone: %+v, %v", s.Restored(), err)
	}
	s.Close()
	mustNot(t, st.Close())
}

// The row of a call that nothing follows goes, too, be it well or not.
func TestQuietCallsLeaveNothing(t *testing.T) {
	for times := range 2 {
		v := newSending(failing(times))
		e := v.crashed(t, &v.quiet, 1)
		v = newSending(failing(times))
		st := openStore(t, e, nil)
		s, err := v.recover(st)
		mustNot(t, err)
		s.Client().Settle()
		s.Close()
		if len(s.DeadLetters()) != times || len(v.tried()) != 1 {
			t.Errorf("%d dead letters, %d tries", len(s.DeadLetters()), len(v.tried()))
		}
		mustNot(t, st.Close())
		st = openStore(t, e.Reopen(), nil)
		if s, err = newSending(nil).recover(st); err != nil || s.Restored().SubEvents != 0 {
			t.Errorf("the row has not gone: %+v, %v", s.Restored(), err)
		}
		s.Close()
		mustNot(t, st.Close())
	}
}

// A program that has lost the function, or what follows it, does not open a store in which calls of it wait.
func TestWaitingCallsOfGoMeetAnotherVersion(t *testing.T) {
	v := newSending(failing(0))
	waits := v.crashed(t, &v.call, 1)
	for name, change := range map[string]func(*sending){
		"lost":    func(v *sending) { v.class.Calls = nil },
		"changed": func(v *sending) { v.call.Signature = "(int,string)" },
	} {
		next := newSending(nil)
		change(next)
		st := openStore(t, waits.Crash(all), nil)
		_, err := next.recover(st)
		var wrong *store.CallError
		if !errors.As(err, &wrong) || wrong.Waiting != 1 || !strings.Contains(err.Error(), "go mail.Send then sent") {
			t.Errorf("%s: Recover gave %v", name, err)
		}
		mustNot(t, st.Close())
	}
}

// Deleting the issuer deletes none of its calls: what follows is a dead letter.
func TestCallsOutliveTheirIssuer(t *testing.T) {
	v := newSending(failing(1))
	st := openStore(t, replicatest.New(), nil)
	s, err := v.recover(st)
	mustNot(t, err)
	cl := s.Client()
	mustNot(t, v.issue(cl, &v.call, 2))
	cl.Settle()
	mustNot(t, cl.Delete(Named(cl, &v.class, "ann")))
	cl.Advance(time.Second)
	if list := s.DeadLetters(); len(v.tried()) != 2 || len(list) != 1 || list[0].Method != "Clerk.sent" {
		t.Errorf("%d tries, dead letters %v", len(v.tried()), list)
	}
	s.Close()
	mustNot(t, st.Close())
}

// gated is an engine whose syncs wait while a gate is closed.
type gated struct {
	replicatest.Engine
	gate atomic.Pointer[chan struct{}]
}

func (g *gated) Sync() error {
	if gate := g.gate.Load(); gate != nil {
		<-*gate
	}
	return g.Engine.Sync()
}

// No try begins before the event that has issued the call is durable.
func TestTriesWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, e := newSending(failing(0)), &gated{Engine: replicatest.New()}
		st := openStore(t, e, nil)
		s, err := v.recover(st)
		mustNot(t, err)
		cl := s.Client()
		mustNot(t, cl.Await(Named(cl, &v.class, "ann"), &v.at, nil))
		gate := make(chan struct{})
		e.gate.Store(&gate)
		f := cl.Issue(Named(cl, &v.class, "ann"), &v.do, func(cx *Cx, _ order.Ref) { cx.Go(&v.call, v.send(1)) })
		synctest.Wait()
		if n := len(v.tried()); n != 0 {
			t.Errorf("there were %d tries of a call that a crash could take back", n)
		}
		e.gate.Store(nil)
		close(gate)
		mustNot(t, f.Wait())
		cl.Settle()
		if sum, _ := v.ends(t, cl); sum != 1 {
			t.Errorf("%d calls have ended", sum)
		}
		s.Close()
		mustNot(t, st.Close())
	})
}

// The row of a call and what follows it change in one batch: after a crash between the end of a try and the commit of what follows, the
// call is made again, and what follows runs once.
func TestWhatFollowsComesOnce(t *testing.T) {
	for _, point := range []string{"prepare/sub", "appended/sub"} {
		v, e := newSending(failing(0)), replicatest.New()
		st := openStore(t, e, nil)
		s, err := v.recover(st)
		mustNot(t, err)
		var left replicatest.Engine
		failpoint = func(name string) {
			if name == point && left == nil {
				left = e.Crash(all)
			}
		}
		mustNot(t, v.issue(s.Client(), &v.call, 1))
		s.Client().Settle()
		failpoint = nil
		s.Close()
		mustNot(t, st.Close())
		if left == nil {
			t.Fatalf("there is no %s", point)
		}
		v = newSending(failing(0))
		st = openStore(t, left, nil)
		s, err = v.recover(st)
		mustNot(t, err)
		cl := s.Client()
		cl.Settle()
		tries := map[string]int{"prepare/sub": 1}[point]
		if sum, _ := v.ends(t, cl); sum != 1 || len(v.tried()) != tries {
			t.Errorf("%s: %d calls have ended, after %d more tries", point, sum, len(v.tried()))
		}
		s.Close()
		mustNot(t, st.Close())
	}
}
