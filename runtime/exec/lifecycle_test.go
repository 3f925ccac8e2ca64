package exec

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// collected collects garbage until cond holds.
func collected(cond func() bool) {
	until(func() bool {
		runtime.GC()
		return cond()
	})
}

func TestFailureOfADroppedFutureBecomesADeadLetter(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	fail := work(func(cx *Cx, _ *desk) { Abort(cx, "no") })
	kept := cl.Issue(r.Ref, &methodAlone, fail)
	for range 100 {
		cl.Issue(r.Ref, &methodAlone, fail)
	}
	cl.Settle()
	collected(func() bool { return s.Stats().DeadLetters == 100 })
	if left := s.unclaimed.Count(); left != 1 {
		t.Errorf("%d failures are kept, want that of the future which can be awaited", left)
	}
	if err := kept.Wait(); err == nil || err.Error() != "no" {
		t.Errorf("awaited: %v", err)
	}
	s.Close()
	if n := s.Stats().DeadLetters; n != 100 {
		t.Errorf("%d dead letters, want 100", n)
	}
}

func TestClientsLeaveNothingButTheirStatistics(t *testing.T) {
	s, cl := testSystem(t, Config{})
	r := newDesk(t, cl)
	before := s.Stats().Commits
	for range 100 {
		mustNot(t, r.await(s.Client(), func(*Cx, *desk) {}))
	}
	collected(func() bool { return s.ledger.Size() <= 2 }) // cl and the system's own
	if n := s.Stats().Commits - before; n != 100 {
		t.Errorf("%d commits, want 100", n)
	}
	runtime.KeepAlive(cl)
}

func TestCloseWaitsForEventsThatAreAwaited(t *testing.T) {
	var out bytes.Buffer
	s := Open(Config{Stdout: &out, Log: quiet})
	cl := s.Client()
	r := newDesk(t, cl)
	entered := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
			close(entered)
			until(s.closing.Load)
			for range 10_000 { // Close has time to be wrong
				runtime.Gosched()
			}
			cx.Print("ended")
			cx.Emit(r.Ref, &methodWork, work(func(cx *Cx, _ *desk) { cx.Print("and what it issued") }))
		}))
	})
	<-entered
	s.Close()
	if got := out.String(); got != "ended\nand what it issued\n" {
		t.Errorf("closed with %q printed", got)
	}
	wg.Wait()
	if err := r.await(cl, func(*Cx, *desk) {}); err != event.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	if err := cl.Issue(r.Ref, &methodWork, work(nil)).Wait(); err != event.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

// slowJournal notes the position up to which answers have waited.
type slowJournal struct {
	*store.Store
	mu     sync.Mutex
	waited store.Position
	times  int // that it was waited for
}

func (*slowJournal) Durable(p store.Position) bool { return p == 0 }

func (j *slowJournal) Wait(ctx context.Context, p store.Position) error {
	j.mu.Lock()
	if p > j.waited {
		j.waited, j.times = p, 0
	}
	if p == j.waited {
		j.times++
	}
	j.mu.Unlock()
	return j.Store.Wait(ctx, p)
}

// forget returns the position up to which answers have waited, and forgets it.
func (j *slowJournal) forget() (waited store.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	waited, j.waited = j.waited, 0
	return waited
}

// slowSystem opens a system with that journal.
func slowSystem(t *testing.T, j *slowJournal) (*System, *Client) {
	t.Helper()
	j.Store = openStore(t, replicatest.New(), nil)
	s, err := Recover(Config{Store: j.Store, Classes: testClasses, Log: quiet, journal: j})
	mustNot(t, err)
	t.Cleanup(func() { mustNot(t, j.Store.Close()) })
	t.Cleanup(watchFor(t, s))
	return s, s.Client()
}

func TestAnswersWaitForTheDeletionTheyTellOf(t *testing.T) {
	j := &slowJournal{}
	s, cl := slowSystem(t, j)
	expect := func(what string, err error, want store.Position) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "was deleted") {
			t.Errorf("%s: %v", what, err)
		}
		if j.waited != want {
			t.Errorf("%s: waited for position %d, the deletion is %d", what, j.waited, want)
		}
	}
	visit := func(p, k deskRef) error {
		return p.await(s.Client(), func(cx *Cx, _ *desk) { k.do(cx, func(*Cx, *desk) {}) })
	}
	p, k := parentAndKid(t, cl)
	mustNot(t, k.await(cl, func(cx *Cx, d *desk) { Delete(cx, k.Ref) }))
	at := j.forget()
	expect("after it", visit(p, k), at)
	j.forget()
	expect("as its target", k.await(cl, func(*Cx, *desk) {}), at)

	// Deleted while the event waits for it.
	p, k = parentAndKid(t, cl)
	deleting, seen := make(chan struct{}), make(chan error)
	go func() {
		<-deleting
		seen <- visit(p, k)
	}()
	mustNot(t, cl.Await(k.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
		Delete(cx, k.Ref)
		close(deleting)
		until(func() bool { return s.Waiting() > 0 })
	})))
	err := <-seen
	expect("while waiting", err, j.waited)
	if j.times != 2 {
		t.Errorf("%d events have waited for the deletion: not the one that has met it", j.times)
	}
}

func TestARefusedCycleWaitsForWhatItTellsOf(t *testing.T) {
	j := &slowJournal{}
	_, cl := slowSystem(t, j)
	own := func(cx *Cx, d *desk, boss deskRef) {
		undo.FieldOwned(cx.UndoLog(), &d.Self, 7, &d.boss, boss)
		d.boss = boss
	}
	a, b := newDesk(t, cl), newDesk(t, cl)
	mustNot(t, a.await(cl, func(cx *Cx, d *desk) { own(cx, d, b) }))
	at := j.forget()
	if err := b.await(cl, func(cx *Cx, d *desk) { own(cx, d, a) }); err == nil || err.Error() != msgCycle {
		t.Error(err)
	}
	if j.waited != at {
		t.Errorf("waited for position %d, the edge that closes the cycle is %d", j.waited, at)
	}
}
