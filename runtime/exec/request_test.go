package exec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// depositKeyed sends a request with a key and returns its result.
func depositKeyed(s *System, key string, to order.Ref, amount int64) (int64, error) {
	args := &depositArgs{amount: amount}
	_, err := s.Perform(&Call{Target: to, Method: &methodDeposit, Args: args, Key: key})
	return args.ret, err
}

// A request with a key that comes again, at once, later or in a later run, gets the outcome of the first time and does not
// run; an abort is an outcome. Keys belong to an actor. A key that comes with other arguments is refused.
func TestRequestsWithKeysRunOnce(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 2)
	to, other := list[0].Ref, list[1].Ref
	for run := range 4 {
		var end sync.WaitGroup
		for range 4 {
			end.Go(func() {
				if got, err := depositKeyed(n.sys, "a", to, 50); err != nil || got != 1050 {
					t.Errorf("run %d: a gave %d, %v", run, got, err)
				}
			})
		}
		end.Wait()
		if _, err := depositKeyed(n.sys, "b", to, -5000); err == nil || err.Error() != "not enough money" {
			t.Errorf("run %d: b gave %v", run, err)
		}
		if got, err := depositKeyed(n.sys, "a", other, 7); err != nil || got != 1007 {
			t.Errorf("run %d: a gave %d, %v to the other account", run, got, err)
		}
		if _, err := depositKeyed(n.sys, "a", to, 51); err != event.ErrKeyReused {
			t.Errorf("run %d: with another amount a gave %v", run, err)
		}
		if balance, err := (accountRef{to}).Balance(n.cl); err != nil || balance != 1050 {
			t.Errorf("run %d: the balance is %d, %v", run, balance, err)
		}
		if run%2 == 0 {
			n.crash(none)
		} else {
			n.reopen()
		}
		to, other = n.sys.Resolve(to.ID()), n.sys.Resolve(other.ID())
	}
	if rows := n.rows(store.Keyed); rows != 3 {
		t.Errorf("there are %d outcomes", rows)
	}
	n.close()
}

// A request that deletes an actor of a name has run, also if it comes again when the name means the next actor.
func TestAKeyBelongsToTheName(t *testing.T) {
	n := startNode(t, Config{})
	for run := range 3 {
		front := Named(n.cl, &classDesk, "front")
		_, err := n.sys.Perform(&Call{Target: front, Method: methodDelete, Key: "close"})
		mustNot(t, err)
		mustNot(t, n.cl.Await(Named(n.cl, &classDesk, "front"), &methodAlone, work(func(cx *Cx, d *desk) {
			if d.setN(cx, d.n+1); d.n != int64(run)+2 { // the constructor begins with 1
				t.Errorf("run %d: n is %d", run, d.n)
			}
		})))
		n.crash(all)
	}
	n.close()
}

// An outcome that an earlier version has stored, with another fingerprint, is that of the request.
func TestRequestsKnowOutcomesOfEarlierVersions(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	c := &Call{Target: list[0].Ref, Method: &methodDeposit, Args: &depositArgs{amount: 5}}
	ask := func(now, before event.Fingerprint) (replayed bool, err error) {
		of := event.Request{Session: "k", Target: list[0].Ref.ID(), Fingerprint: now}
		cl := n.sys.takeCaller()
		defer n.sys.callers.Give(cl)
		_, err = n.sys.durable.keyed.Perform(t.Context(), of, []event.Fingerprint{9, before}, func(r *request) (store.Position, error) { return n.sys.perform(cl, r, c) },
			func(*event.Outcome) error { replayed = true; return nil })
		return replayed, err
	}
	for _, c := range []struct {
		now, before event.Fingerprint
		replayed    bool
		err         string
	}{{1, 1, false, ""}, {1, 1, true, ""}, {2, 1, true, ""}, {1, 2, true, ""}, {2, 2, false, "the outcome of the event is unknown: a request with this key has run"}} {
		if replayed, err := ask(c.now, c.before); replayed != c.replayed || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%+v: %v, %v", c, replayed, err)
		}
	}
	n.close()
}

// orderArgs are those of a deposit that a version of a program takes as a value class with these fields.
type orderArgs struct {
	depositArgs
	fields []string
}

func (x *orderArgs) Encode(e *codec.Encoder) {
	e.Record(len(x.fields))
	for _, name := range x.fields {
		m := e.Field(name)
		if name == "amount" {
			e.Int(x.amount)
		} else {
			e.Bool(name == "rush")
		}
		e.EndField(m)
	}
	e.EndRecord()
}

// A request that comes again to a version that has more fields in its arguments has run, if they are null. If one has a value the request
// is another one.
func TestARequestComesAgainToAnotherVersion(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	version := methodDeposit
	version.Run = func(cx *Cx, self any, args order.Args) {
		x := args.(*orderArgs)
		x.ret = self.(*account).deposit(cx, x.amount)
	}
	for _, c := range []struct {
		fields []string
		want   error
	}{{[]string{"amount"}, nil}, {[]string{"note", "amount"}, nil}, {[]string{"amount", "rush"}, event.ErrKeyReused}} {
		args := &orderArgs{depositArgs{amount: 5}, c.fields}
		if _, err := n.sys.Perform(&Call{Target: list[0].Ref, Method: &version, Args: args, Key: "once"}); err != c.want {
			t.Errorf("with the fields %v: %v", c.fields, err)
		}
	}
	if got, err := list[0].Balance(n.cl); err != nil || got != 1005 {
		t.Errorf("the balance is %d, %v", got, err)
	}
	n.close()
}

// Outcomes stay for the time that was promised, and a quarter of it longer at most; then their rows are gone. A clock that
// is behind that of the run before changes nothing.
func TestOutcomesOfKeysExpire(t *testing.T) {
	clock := sched.NewSimClock(time.Unix(1_000_000, 0))
	n := startNode(t, Config{Clock: clock, SessionExpiry: time.Hour})
	_, list := openBank(t, n.sys, "main", 1)
	to := list[0].Ref
	deposits := int64(0)
	ask := func(key string, fresh bool) {
		t.Helper()
		before, err := accountRef{to}.Balance(n.cl)
		mustNot(t, err)
		if _, err := depositKeyed(n.sys, key, to, 1); err != nil {
			t.Fatal(err)
		}
		if fresh {
			deposits++
			before++
		}
		if after, err := (accountRef{to}).Balance(n.cl); err != nil || after != before || after != 1000+deposits {
			t.Errorf("%s: the balance is %d, and should be %d (%v)", key, after, before, err)
		}
	}
	ask("first", true)
	for i := range 30 {
		n.cl.Advance(7 * time.Minute)
		ask(strings.Repeat("x", i+1), true)
		if i == 7 || i == 12 { // after 56 and 91 minutes
			ask("first", i == 12)
		}
		for back := 1; back <= min(8, i); back++ {
			ask(strings.Repeat("x", i+1-back), false)
		}
		if i%5 == 0 {
			n.crash(none)
			to = n.sys.Resolve(to.ID())
		}
		if rows := n.rows(store.Keyed); rows > 14 {
			t.Fatalf("there are %d outcomes", rows)
		}
	}
	clock.Set(clock.Now().Add(-2 * time.Hour))
	ask(strings.Repeat("x", 30), false)
	ask("y", true)
	ask("y", false)
	n.crash(none)
	to = n.sys.Resolve(to.ID())
	ask("y", false)
	n.close()
}

// Repetitions wait for a chain, in the run that has begun it and in the one that ends it.
func TestChainsOfRequestsWithKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, Config{Clock: sched.RealClock{}})
		a, kid := n.parent()
		leave := make(chan struct{})
		n.cl.Issue(kid.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-leave }}}})
		synctest.Wait()
		n.run(a, &methodLocal, wstep{op: wEmit, sub: []wstep{{op: wAdd, n: 10}}}) // begins, and waits for that
		steps := &wargs{steps: []wstep{{op: wAdd, n: 1}, {op: wTail, sub: []wstep{{op: wAdd, n: 100}}}}}
		ask := func(a wref) error {
			_, err := n.sys.Perform(&Call{Target: a.Ref, Method: &methodLocal, Args: &wargs{steps: steps.steps, number: 1 << 60}, Key: "chain"})
			return err
		}
		var errs [3]error
		var end sync.WaitGroup
		for i := range errs {
			end.Go(func() { errs[i] = ask(a) })
		}
		synctest.Wait()
		end.Go(n.sys.Close)
		synctest.Wait()
		close(leave)
		end.Wait()
		for i, err := range errs {
			if err != event.ErrPostponed {
				t.Errorf("%d has ended with %v", i, err)
			}
		}
		n.reopen()
		mustNot(t, ask(n.again(a)))
		n.cl.Settle()
		mustNot(t, ask(n.again(a)))
		if x, y := n.value(n.again(a)), n.value(n.again(kid)); x != 1 || y != 110 {
			t.Errorf("the values are %d and %d", x, y)
		}
		n.close()
	})
}

// A repetition that waits for a chain ends when it is cancelled, and does not say that nothing has happened: the chain goes on,
// and has its outcome for the next repetition. That holds where the chain keeps the actor, too.
func TestARepetitionWaitsUntilItIsCancelled(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := startNode(t, Config{Clock: sched.RealClock{}})
			a, kid := n.parent()
			leave := make(chan struct{})
			failpoint = func(name string) {
				if name == "prepare/tail" {
					<-leave
				}
			}
			next := wstep{op: wTail, sub: []wstep{{op: wAdd, n: 100}}}
			if keeps {
				next.op = wKeep
			}
			ask := func(c *order.Cancellation) error {
				_, err := n.sys.Perform(&Call{Target: a.Ref, Method: &methodLocal, Args: &wargs{steps: []wstep{{op: wAdd, n: 1}, next}, number: 1 << 60}, Key: "chain", Cancel: c})
				return err
			}
			var end sync.WaitGroup
			end.Go(func() { mustNot(t, ask(nil)) })
			synctest.Wait()
			cancels := make([]order.Cancellation, 3)
			over := make(chan error, len(cancels))
			for i := range cancels {
				cancels[i].First = true
				go func() { over <- ask(&cancels[i]) }()
			}
			synctest.Wait()
			if len(over) > 0 {
				t.Fatalf("keeps %v: a repetition has ended before the chain: %v", keeps, <-over)
			}
			for i := range cancels {
				cancels[i].Cancel()
				synctest.Wait()
				if len(over) != 1 {
					t.Errorf("keeps %v: repetition %d waits, and was cancelled", keeps, i)
				} else if err := <-over; err != event.ErrUnderWay {
					t.Errorf("keeps %v: repetition %d has ended with %v", keeps, i, err)
				}
			}
			close(leave)
			end.Wait()
			failpoint = nil
			mustNot(t, ask(&order.Cancellation{First: true}))
			if x, y := n.value(a), n.value(kid); x+y != 101 {
				t.Errorf("keeps %v: the values are %d and %d", keeps, x, y)
			}
			n.close()
		})
	}
}

// A cancelled request has not run, and is no outcome: it may come again.
func TestACancelledRequestMayComeAgain(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	var cancel order.Cancellation
	cancel.Cancel()
	args := &depositArgs{amount: 5}
	_, err := n.sys.Perform(&Call{Target: list[0].Ref, Method: &methodDeposit, Args: args, Key: "k", Cancel: &cancel})
	if !errors.Is(err, order.ErrCancelled) {
		t.Error(err)
	}
	if got, err := depositKeyed(n.sys, "k", list[0].Ref, 5); err != nil || got != 1005 {
		t.Errorf("%d, %v", got, err)
	}
	n.close()
}

// An event that is cancelled while it runs a loop ends there, and is undone.
func TestALoopIsCancelled(t *testing.T) {
	_, cl := testSystem(t, Config{})
	front := Named(cl, &classDesk, "front")
	began := make(chan struct{})
	f := cl.Issue(front, &methodAlone, work(func(cx *Cx, d *desk) {
		d.setN(cx, 100)
		close(began)
		for {
			cx.Spend()
		}
	}))
	<-began
	f.Cancel()
	if err := f.Wait(); !errors.Is(err, order.ErrCancelled) {
		t.Errorf("it has ended with %v", err)
	}
	mustNot(t, cl.Await(front, &methodAlone, work(func(_ *Cx, d *desk) {
		if d.n != 1 {
			t.Errorf("n is %d", d.n)
		}
	})))
}

// A chain that has begun goes on without its caller, if the cancellation is of the first step alone.
func TestAChainGoesOnWithoutItsCaller(t *testing.T) {
	for first, want := range map[bool]int64{true: 20, false: 10} {
		s, cl := testSystem(t, Config{})
		front := Named(cl, &classDesk, "front")
		cancel := order.Cancellation{First: first}
		_, err := s.Perform(&Call{Target: front, Method: &methodAlone, Cancel: &cancel, Args: work(func(cx *Cx, d *desk) {
			d.setN(cx, 10)
			cx.TailThis(front, &methodAlone, work(func(cx *Cx, d *desk) {
				cancel.Cancel()
				d.setN(cx, 20)
			}))
		})})
		if (err == nil) != first || !first && !errors.Is(err, order.ErrCancelled) {
			t.Errorf("first %v: it has ended with %v", first, err)
		}
		mustNot(t, cl.Await(front, &methodAlone, work(func(_ *Cx, d *desk) {
			if d.n != want {
				t.Errorf("first %v: n is %d, and should be %d", first, d.n, want)
			}
		})))
	}
}

// A chain that fails behind its first step says so, for what that did stays: to its caller, and by a key in this run and the next one. One whose first
// step fails has not happened.
func TestAChainThatFailsBehindItsFirstStep(t *testing.T) {
	n := startNode(t, Config{})
	a, _ := n.parent()
	ask := func(key string, steps ...wstep) (told string) {
		_, err := n.sys.Perform(&Call{Target: n.again(a).Ref, Method: &methodLocal, Args: &wargs{steps: steps, number: 1 << 60}, Key: key})
		abort, is := errors.AsType[*event.AbortError](err)
		if !is {
			t.Fatalf("%q has ended with %v", key, err)
		}
		return fmt.Sprintf("fault %v, partly %v", abort.Fault, abort.Partly)
	}
	add := wstep{op: wAdd, n: 1}
	for run := range 2 {
		for _, c := range []struct {
			key, want string
			steps     []wstep
		}{
			{"abort", "fault false, partly false", []wstep{add, {op: wAbort}}},
			{"fault", "fault true, partly false", []wstep{add, {op: wFault}}},
			{"abort behind", "fault false, partly true", []wstep{add, {op: wKeep, sub: []wstep{{op: wAbort}}}}},
			{"fault behind", "fault true, partly true", []wstep{add, {op: wKeep, sub: []wstep{{op: wFault}}}}},
			{"abort elsewhere", "fault false, partly true", []wstep{add, {op: wTail, sub: []wstep{{op: wAbort}}}}},
			{"abort of the third", "fault false, partly true", []wstep{add, {op: wKeep, sub: []wstep{{op: wKeep, sub: []wstep{{op: wAbort}}}}}}},
		} {
			for range 2 {
				if told := ask(c.key, c.steps...); told != c.want {
					t.Errorf("run %d: %s has ended with %s", run, c.key, told)
				}
			}
			if told := ask("", c.steps...); told != c.want {
				t.Errorf("run %d: %s without a key has ended with %s", run, c.key, told)
			}
		}
		if got, want := n.value(n.again(a)), int64(4+4*(run+1)); got != want {
			t.Errorf("run %d: the value is %d, and should be %d", run, got, want)
		}
		n.reopen()
	}
	n.close()
}

func TestKeysThatAreRefused(t *testing.T) {
	s, cl := testSystem(t, Config{})
	_, list := openBank(t, s, "main", 1)
	if _, err := depositKeyed(s, "k", list[0].Ref, 5); err != ErrNoStore {
		t.Errorf("without a store: %v", err)
	}
	if got, err := depositKeyed(s, "", list[0].Ref, 5); err != nil || got != 1005 {
		t.Errorf("without a key: %d, %v", got, err)
	}
	_ = cl
	n := startNode(t, Config{})
	_, list = openBank(t, n.sys, "main", 1)
	long := strings.Repeat("x", row.KeyMax)
	if _, err := depositKeyed(n.sys, long+"x", list[0].Ref, 5); err == nil || !strings.Contains(err.Error(), strconv.Itoa(row.KeyMax)) {
		t.Errorf("one byte more: %v", err)
	}
	if got, err := depositKeyed(n.sys, long, list[0].Ref, 5); err != nil || got != 1005 {
		t.Errorf("the longest key: %d, %v", got, err)
	}
	n.close()
}
