package outbox

import (
	"log/slog"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// openSessions returns sessions on a new store; expired counts those that have expired.
func openSessions(t *testing.T, clock sched.Clock, expired *int) (*Sessions[int], *store.Store) {
	st, err := store.Open(replicatest.New(), store.Options{Program: "test", Log: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	ss := &Sessions[int]{}
	ss.Open(SessionsConfig[int]{Store: st, Append: st.Append, Clock: clock, Expiry: time.Hour,
		Begun: func() int { return 7 }, Expired: func(int) { *expired++ }, At: func(string) {}})
	return ss, st
}

// rows returns how many rows a section has in all partitions.
func rows(t *testing.T, st *store.Store, s store.Section) (n int) {
	for p := range st.Partitions() {
		err := row.Section(st, event.PartitionID(p), s, 0, func(_, _, _, _ []byte) error {
			n++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// One event claims a request, and no other event after it; the outcome stays until the client has acknowledged it, and then it never runs again.
func TestRequestsAreClaimedOnce(t *testing.T) {
	expired := 0
	ss, st := openSessions(t, sched.NewSimClock(time.Unix(0, 0)), &expired)
	x := ss.Begin("phone")
	if ss.Begin("phone") != x || ss.Find("phone") != x || ss.Find("other") != nil {
		t.Fatal("a name is not one session")
	}
	actor := event.ActorID{Birth: 1, Serial: 2}
	perform := func(seq uint64) bool {
		r := x.Request(seq, actor)
		defer r.End()
		if !r.Claim() {
			return false
		}
		if again := x.Request(seq, actor); again.Claim() || !r.Claim() {
			t.Errorf("request %d is claimed by another event", seq)
		}
		w := ss.writer()
		r.WriteOutcome(w, &event.Outcome{Kind: event.Abort, Data: []byte("no")})
		st.Append(w.Take())
		return true
	}
	if refused := x.Request(1, actor); !refused.Claim() {
		t.Fatal("a new request is not claimed")
	} else {
		refused.End() // without an outcome
	}
	if _, how := x.Outcome(1); how != Refused {
		t.Errorf("the refused request is %d", how)
	}
	for seq := uint64(1); seq <= 3*SweepMin; seq++ {
		if err := x.Enter(seq, seq-1); err != nil {
			t.Fatal(err)
		}
		if !perform(seq) || perform(seq) {
			t.Fatalf("request %d is not performed once", seq)
		}
		if at, how := x.Outcome(seq); how != Ended || at != actor {
			t.Fatalf("request %d is %d, of %v", seq, how, at)
		}
		if n := rows(t, st, store.Outcomes); n > SweepMin+1 {
			t.Fatalf("%d outcomes are stored, and one is needed", n)
		}
		x.Leave()
	}
	if err := x.Enter(1, 0); err != event.ErrAcknowledged {
		t.Errorf("an acknowledged request: %v", err)
	}
	if _, how := x.Outcome(1); how != Over {
		t.Errorf("an acknowledged request is %d", how)
	}
}

// A session that is used, or has a request that a chain goes on with, does not expire; others leave no row.
func TestIdleSessionsExpire(t *testing.T) {
	clock, expired := sched.NewSimClock(time.Unix(0, 0)), 0
	ss, st := openSessions(t, clock, &expired)
	idle, used, chained := ss.Begin("idle"), ss.Begin("used"), ss.Begin("chained")
	if err := used.Enter(1, 0); err != nil {
		t.Fatal(err)
	}
	left := chained.Request(1, event.ActorID{Serial: 1})
	left.Claim()
	left.Postpone()
	left.End()
	if _, how := chained.Outcome(1); how != Left {
		t.Errorf("a request that is left is %d", how)
	}
	clock.Set(clock.Now().Add(2 * time.Hour))
	ss.Sweep()
	if ss.Find("idle") != nil || ss.Find("used") == nil || ss.Find("chained") == nil || expired != 1 || rows(t, st, store.Sessions) != 2 {
		t.Errorf("%d sessions have expired, %d rows are left", expired, rows(t, st, store.Sessions))
	}
	if err := idle.Enter(1, 0); err != event.ErrSessionExpired {
		t.Errorf("a request of the expired session: %v", err)
	}
}

// A session lives on as long as its client goes on with it, even without a request.
func TestGoingOnWithASessionIsAUse(t *testing.T) {
	for name, goOn := range map[string]func(ss *Sessions[int]){"begin": func(ss *Sessions[int]) { ss.Begin("phone") }, "find": func(ss *Sessions[int]) { ss.Find("phone") }} {
		clock, expired := sched.NewSimClock(time.Unix(0, 0)), 0
		ss, _ := openSessions(t, clock, &expired)
		ss.Begin("phone")
		for range 10 {
			clock.Set(clock.Now().Add(20 * time.Minute))
			goOn(ss)
			ss.Sweep()
		}
		if expired != 0 {
			t.Errorf("%s: the session has expired", name)
		}
		clock.Set(clock.Now().Add(2 * time.Hour))
		if ss.Sweep(); expired != 1 {
			t.Errorf("%s: %d sessions have expired", name, expired)
		}
	}
}
