package outbox

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// What is queued leaves in its order, nothing before it is durable, and nothing of a store that has failed.
func TestOutputLeavesInOrderWhenItIsDurable(t *testing.T) {
	var out Output[int]
	var live sched.Pending
	var workers sched.Workers
	workers.Open(0, nil)
	defer workers.Close()
	durable, failed := store.Position(0), false
	var left []int
	flushed := 0
	out.Open(OutputConfig[int]{Live: &live, Workers: &workers,
		Durable: func(p store.Position) bool { return p <= durable },
		Wait: func(p store.Position) error {
			if failed {
				return errors.New("the store has failed")
			}
			if flushed != len(left) {
				t.Errorf("%d of %d that have left are not flushed while one waits", len(left)-flushed, len(left))
			}
			durable = p
			return nil
		},
		Write: func(n int) { left = append(left, n) },
		Flush: func() { flushed = len(left) },
	})
	for i := range 5 {
		if n := out.Add(i, store.Position(i/2)); n != uint64(i+1) {
			t.Errorf("thing %d has number %d", i, n)
		}
	}
	out.Flush(3)
	if !slices.Equal(left, []int{0, 1, 2}) || durable != 1 || flushed != 3 || live.Count() != 2 {
		t.Errorf("%v have left, %d are flushed, %d count as live, durable is %d", left, flushed, live.Count(), durable)
	}
	failed = true
	out.Flush(5) // 3 is durable, 4 never will be
	if !slices.Equal(left, []int{0, 1, 2, 3}) || live.Count() != 0 {
		t.Errorf("of the failed store %v have left, %d count as live", left, live.Count())
	}
}

// All that was added is out when FlushAll returns, also what another goroutine has taken and is writing.
func TestFlushAllWaitsForWhatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out Output[int]
		var live sched.Pending
		var left []int
		out.Open(OutputConfig[int]{Live: &live,
			Durable: func(store.Position) bool { return true },
			Write:   func(n int) { left = append(left, n) },
			Flush:   func() { <-time.After(time.Second) },
		})
		go out.Flush(out.Add(7, 1))
		synctest.Wait()
		began := time.Now()
		out.FlushAll()
		if took := time.Since(began); took != time.Second || !slices.Equal(left, []int{7}) {
			t.Errorf("after %v %v are out", took, left)
		}
		out.FlushAll()
		if took := time.Since(began); took != time.Second {
			t.Errorf("with nothing to wait for it takes until %v", took)
		}
	})
}

// Callbacks are taken in order by one goroutine at a time, and none after the client has gone.
func TestMailbox(t *testing.T) {
	var m Mailbox[int]
	counted := 0
	count := func(int) { counted++ }
	for i := range 3 {
		if posted, start := m.Post(i, count); !posted || start != (i == 0) {
			t.Errorf("callback %d: %v, %v", i, posted, start)
		}
	}
	for i := range 2 {
		if c, ok := m.Next(); !ok || c != i {
			t.Errorf("callback %d is %d, %v", i, c, ok)
		}
	}
	if dropped := m.Close(); !slices.Equal(dropped, []int{2}) || !m.Closed() {
		t.Errorf("%v are dropped", dropped)
	}
	if _, ok := m.Next(); ok {
		t.Error("a dropped callback is taken")
	}
	if posted, start := m.Post(9, count); posted || start || counted != 3 {
		t.Error("a callback to a client that has gone is posted")
	}
}
