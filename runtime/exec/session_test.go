package exec

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// rows counts the rows of a section.
func (n *node) rows(section store.Section) (count int) {
	for p := range n.store.Partitions() {
		it := n.store.Scan(store.SectionRange(event.PartitionID(p), section))
		for it.Next() {
			count++
		}
		mustNot(n.t, it.Close())
	}
	return count
}

func (n *node) begin(name string) *Session {
	n.t.Helper()
	x, err := n.sys.BeginSession(name)
	mustNot(n.t, err)
	return x
}

// deposit sends a request and returns its result.
func deposit(x *Session, seq, ack uint64, to order.Ref, amount int64) (int64, error) {
	args := &depositArgs{amount: amount}
	err := x.Await(seq, ack, to, &methodDeposit, args)
	return args.ret, err
}

// A request that comes again, in the same run or a later one, gets the outcome of the first time and does
// not run. Aborts are outcomes, too.
func TestRepeatedRequestsGetTheSameOutcome(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	to := list[0].Ref
	x := n.begin("phone")
	for run := range 3 {
		for range 2 {
			if got, err := deposit(x, 1, 0, to, 50); err != nil || got != 1050 {
				t.Errorf("run %d: request 1 gave %d, %v", run, got, err)
			}
			if _, err := deposit(x, 2, 0, to, -5000); err == nil || err.Error() != "not enough money" {
				t.Errorf("run %d: request 2 gave %v", run, err)
			}
			if got, err := deposit(x, 3, 0, to, 7); err != nil || got != 1057 {
				t.Errorf("run %d: request 3 gave %d, %v", run, got, err)
			}
		}
		if balance, err := (accountRef{to}).Balance(n.cl); err != nil || balance != 1057 {
			t.Errorf("run %d: the balance is %d, %v", run, balance, err)
		}
		if run%2 == 0 {
			n.crash(none)
		} else {
			n.reopen()
		}
		to = n.sys.Resolve(to.ID())
		x = n.begin("phone")
	}
	mustNot(t, x.Await(4, 0, to, methodDelete, nil))
	mustNot(t, x.Await(4, 0, to, methodDelete, nil)) // its outcome survives the actor
	n.crash(none)
	x = n.begin("phone")
	mustNot(t, x.Await(4, 0, n.sys.Resolve(to.ID()), methodDelete, nil))
	n.close()
}

// Requests that were acknowledged are refused, also in the next run. Their outcomes go, so that the table
// does not grow with the requests.
func TestAcknowledgedRequestsAreOver(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	to := list[0].Ref
	x := n.begin("phone")
	const requests = 500
	for seq := uint64(1); seq <= requests; seq++ {
		if _, err := deposit(x, seq, seq-1, to, 1); err != nil {
			t.Fatal(err)
		}
		if rows := n.rows(store.Outcomes); rows > 2*outbox.SweepMin {
			t.Fatalf("%d outcomes after %d requests", rows, seq)
		}
		if seq == requests/2 {
			n.crash(all)
			to, x = n.sys.Resolve(to.ID()), n.begin("phone")
		}
	}
	for _, seq := range []uint64{1, requests - 1} {
		if _, err := deposit(x, seq, 0, to, 1); !errors.Is(err, event.ErrAcknowledged) {
			t.Errorf("request %d: %v", seq, err)
		}
	}
	if _, err := deposit(x, 5, 5, to, 1); err == nil {
		t.Error("a request acknowledged itself")
	}
	n.crash(none)
	to, x = n.sys.Resolve(to.ID()), n.begin("phone")
	if _, err := deposit(x, 1, 0, to, 1); !errors.Is(err, event.ErrAcknowledged) {
		t.Errorf("request 1 after a crash: %v", err)
	}
	if got, err := deposit(x, requests, 0, to, 1); err != nil || got != 1000+requests {
		t.Errorf("the last request, again: %d, %v", got, err)
	}
	n.close()
}

func TestSessionsExpire(t *testing.T) {
	clock := sched.NewSimClock(time.Unix(1000, 0))
	n := startNode(t, Config{Clock: clock, SessionExpiry: time.Hour})
	_, list := openBank(t, n.sys, "main", 1)
	to := list[0].Ref
	x, y := n.begin("phone"), n.begin("watch")
	for _, s := range []*Session{x, y} {
		if _, err := deposit(s, 1, 0, to, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		n.cl.Advance(20 * time.Minute)
		if _, err := deposit(y, 1, 0, to, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := deposit(x, 2, 0, to, 1); !errors.Is(err, event.ErrSessionExpired) {
		t.Errorf("a request of an expired session: %v", err)
	}
	if _, err := n.sys.Session("phone"); !errors.Is(err, event.ErrSessionExpired) {
		t.Errorf("an expired session: %v", err)
	}
	if s, o := n.rows(store.Sessions), n.rows(store.Outcomes); s != 1 || o != 1 {
		t.Errorf("%d sessions and %d outcomes are left", s, o)
	}
	n.crash(all)
	if _, err := n.sys.Session("phone"); !errors.Is(err, event.ErrSessionExpired) {
		t.Errorf("an expired session, after a crash: %v", err)
	}
	n.close()
}

// Clients send every request until they know its outcome, through crashes at any moment, and
// several requests at once. Every request is done once.
func TestRequestsRunOnceThroughCrashes(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "main", 4)
	_ = b
	ids := make([]order.Ref, len(list))
	const sessions, requests = 4, 60
	var acked [sessions]uint64
	for round := 0; ; round++ {
		for i := range list {
			ids[i] = n.sys.Resolve(list[i].ID())
		}
		if acked == [sessions]uint64{requests, requests, requests, requests} {
			break
		}
		stop := make(chan struct{})
		at := acked // as the clients know at the crash
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range sessions {
			x := n.begin(fmt.Sprint("s", i))
			group.Go(func() {
				for seq := acked[i] + 1; seq <= requests; seq++ {
					var twice sync.WaitGroup
					for range 2 { // the network repeats everything
						twice.Go(func() {
							if _, err := deposit(x, seq, seq-1, ids[i], int64(seq)); err != nil {
								t.Errorf("session %d, request %d: %v", i, seq, err)
							}
						})
					}
					twice.Wait()
					mu.Lock()
					at[i] = seq
					mu.Unlock()
					if seq%7 == 0 {
						select {
						case <-stop:
							return
						default:
						}
					}
				}
			})
		}
		until(func() bool {
			mu.Lock()
			defer mu.Unlock()
			return at[round%sessions] > acked[round%sessions] || at[round%sessions] == requests
		})
		mu.Lock() // a client that went on meanwhile would acknowledge what it does not know after the crash
		known := at
		left := n.engine.Crash(func(unsynced int) int { return unsynced * (round % 3) / 2 })
		mu.Unlock()
		close(stop)
		group.Wait()
		n.close()
		n.engine = left
		n.open()
		acked = known
	}
	for i, r := range ids {
		if got, err := (accountRef{r}).Balance(n.cl); err != nil || got != 1000+requests*(requests+1)/2 {
			t.Errorf("account %d has %d, %v", i, got, err)
		}
	}
	n.close()
}

// A repetition learns under its target's lock whether the request has run. It waits for the lock like any
// event, and then for the event that performs the request: that may be a reader beside it, or a chain that has given the
// lock back.
func TestRepetitionsAreRecognisedUnderTheLock(t *testing.T) {
	for _, c := range []struct {
		name   string
		method *Method
		steps  []wstep
		want   int64 // what is added in all
	}{
		{"writer", &methodLocal, []wstep{{op: wAdd, n: 5}}, 5},
		{"chain", &methodScript, []wstep{{op: wAdd, n: 2}, {op: wKeep, sub: []wstep{{op: wAdd, n: 3}}}}, 5},
		{"abort", &methodLocal, []wstep{{op: wAdd, n: 5}, {op: wAbort}}, 0},
		{"writer below", &methodKids, []wstep{{op: wCall, k: 0, sub: []wstep{{op: wAdd, n: 5}}}}, 5},
	} {
		for _, seed := range []uint64{0, 1, 2, 3, 4, 5} {
			t.Run(fmt.Sprintf("%s, seed %d", c.name, seed), func(t *testing.T) {
				n := startNode(t, Config{Scheduled: seed > 0, Seed: seed})
				a, kid := n.parent()
				x := n.begin("phone")
				sum := func() int64 { return n.value(a) + n.value(kid) }
				before := sum()
				is := func(cond func() bool) { until(func() bool { n.sys.scheduler.Yield(); return cond() }) }
				var inside, leave atomic.Bool
				holder := n.cl.Issue(a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { inside.Store(true); is(leave.Load) }}}})
				is(inside.Load)
				const times = 6
				var errs [times]error
				var ended atomic.Int32
				for i := range times {
					n.sys.workers.Run(func() {
						errs[i] = x.Await(1, 0, a.Ref, c.method, &wargs{steps: c.steps})
						ended.Add(1)
					})
				}
				is(func() bool { return n.sys.Waiting() == times }) // all wait for the lock
				leave.Store(true)
				mustNot(t, holder.Wait())
				is(func() bool { return ended.Load() == times })
				for i, err := range errs {
					if fmt.Sprint(err) != fmt.Sprint(errs[0]) || (err != nil) != (c.want == 0) {
						t.Errorf("%d: %v, %v", i, err, errs[0])
					}
				}
				if got := sum() - before; got != c.want {
					t.Errorf("%d was added, want %d", got, c.want)
				}
				n.close()
			})
		}
	}
}

// A request that deletes an actor of a name has run, also if it is sent again when the name means the next
// actor.
func TestARepetitionOnTheNextActorOfTheName(t *testing.T) {
	n := startNode(t, Config{})
	x := n.begin("phone")
	for run := range 3 {
		front := Named(n.cl, &classDesk, "front")
		mustNot(t, x.Await(1, 0, front, methodDelete, nil))
		mustNot(t, n.cl.Await(Named(n.cl, &classDesk, "front"), &methodAlone, work(func(cx *Cx, d *desk) {
			if d.setN(cx, d.n+1); d.n != int64(run)+2 { // the constructor begins with 1
				t.Errorf("run %d: n is %d", run, d.n)
			}
		})))
		n.crash(all)
		x = n.begin("phone")
	}
	n.close()
}

func TestSessionsNeedAStore(t *testing.T) {
	s, _ := testSystem(t, Config{})
	if _, err := s.BeginSession("x"); !errors.Is(err, ErrNoStore) || !strings.Contains(err.Error(), "store") {
		t.Error(err)
	}
}
