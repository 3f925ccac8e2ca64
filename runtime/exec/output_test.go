package exec

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// stalled is an engine whose syncs wait until they are let go.
type stalled struct {
	replicatest.Engine
	mu   sync.Mutex
	gate chan struct{} // nil: open
}

func (e *stalled) Sync() error {
	e.mu.Lock()
	gate := e.gate
	e.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return e.Engine.Sync()
}

func (e *stalled) stall() (goOn func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	gate := make(chan struct{})
	e.gate = gate
	return func() {
		e.mu.Lock()
		e.gate = nil
		e.mu.Unlock()
		close(gate)
	}
}

// safeBuffer may be written and read at once.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

var _ io.Writer = (*safeBuffer)(nil)

// While a disk stalls nothing leaves the node: no line, no callback, no answer. Locks are given back
// meanwhile, and afterwards everything leaves in the order of the commits.
func TestNothingLeavesBeforeItIsDurable(t *testing.T) {
	e := &stalled{Engine: replicatest.New()}
	st := openStore(t, e, nil)
	out := &safeBuffer{}
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet, Stdout: out})
	mustNot(t, err)
	cl := s.Client()
	r, err := cl.New(&classDesk, &methodDesk, work(nil))
	mustNot(t, err)
	var called []int64
	screen := &struct{ ClientObject }{}
	ref := NewClientObject(cl, &screen.ClientObject, screen)
	show := &ClientMethod{Class: "Screen", Name: "show", Run: func(_ *Client, _ any, args order.Args) { called = append(called, args.(int64)) }}
	goOn := e.stall()
	var answers sync.WaitGroup
	for range 5 {
		answers.Go(func() {
			mustNot(t, s.Client().Await(r, &methodAlone, work(func(cx *Cx, d *desk) {
				undo.Field(cx.UndoLog(), &d.Self, 0, &d.n)
				d.n++
				cx.Print("line " + itoa(int(d.n)))
				cx.Callback(ref, show, d.n)
			})))
		})
	}
	desk := order.HandleOf(r)
	until(func() bool { return e.Applied() > 0 && len(s.queuedLines()) == 5 }) // all have committed, none was answered
	if out.String() != "" || order.HandleOf(desk.Object.ActorSelf().Ref()) != desk {
		t.Errorf("before the sync: %q", out.String())
	}
	select {
	case <-waitFor(&answers):
		t.Error("an answer came before the sync")
	default:
	}
	goOn()
	answers.Wait()
	cl.Settle()
	if got := out.String(); got != "line 1\nline 2\nline 3\nline 4\nline 5\n" || len(called) != 5 {
		t.Errorf("after the sync: %q, callbacks %v", got, called)
	}
	for i, n := range called {
		if n != int64(i+1) {
			t.Errorf("callbacks came as %v", called)
			break
		}
	}
	s.Close()
	mustNot(t, st.Close())
}

// queuedLines returns the lines that have not left.
func (s *System) queuedLines() (list []string) {
	s.output.Queued(func(o outgoing) { list = append(list, o.text) })
	return list
}

func waitFor(group *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	return done
}

// When the store fails all waiters are told that the outcome is unknown, nothing leaves
// any more, and the hook that ends the process is called once. Events that have not begun by then are told that they have not happened.
func TestFailedStoreLeavesOutcomesUnknown(t *testing.T) {
	e := replicatest.New()
	fatal := make(chan error, 8)
	st := openStore(t, e, func(err error) { fatal <- err })
	out := &safeBuffer{}
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet, Stdout: out})
	mustNot(t, err)
	_, list := openBank(t, s, "main", 4)
	full := errors.New("no space left")
	e.Fail(full)
	var group sync.WaitGroup
	var lost atomic.Int64
	for i := range 16 {
		group.Go(func() {
			_, err := list[i%4].Deposit(s.Client(), 1)
			var unknown *event.UnknownError
			switch {
			case !errors.Is(err, full):
				t.Errorf("a deposit gave %v", err)
			case errors.As(err, &unknown) && strings.Contains(unknown.AbortMessage(), "unknown"):
				lost.Add(1)
			case !errors.Is(err, event.ErrClosed):
				t.Errorf("a deposit gave %v", err)
			}
		})
	}
	group.Wait()
	if lost.Load() == 0 {
		t.Error("no deposit had begun when the store failed")
	}
	begun, _ := st.Positions()
	if _, err := list[0].Deposit(s.Client(), 1); !errors.Is(err, event.ErrClosed) || !errors.Is(err, full) || errors.As(err, new(*event.UnknownError)) {
		t.Errorf("after the failure a deposit gave %v", err)
	}
	if now, _ := st.Positions(); now != begun {
		t.Errorf("it has appended %d batches", now-begun)
	}
	if _, err := s.BeginSession("x"); err == nil {
		t.Error("a session began on a store that has failed")
	}
	s.Close()
	if err := st.Close(); !errors.Is(err, full) {
		t.Errorf("Close gave %v", err)
	}
	if len(fatal) != 1 {
		t.Errorf("the hook was called %d times", len(fatal))
	}
	var failed *store.FailedError
	if err := <-fatal; !errors.As(err, &failed) {
		t.Errorf("the hook was given %v", err)
	}
}
