package pebbledb

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2"
)

// backlog is a database that has compactions to run, of which some are allowed at a time.
type backlog struct {
	t       *testing.T
	allowed atomic.Int64

	mu      sync.Mutex // as that of a database, which scheduling must not need
	waiting int
	running []chan struct{}
	most    int
	closed  bool

	meanwhile func() // happens when it was looked for what waits; nil: nothing does
}

func (b *backlog) GetAllowedWithoutPermission() int { return int(b.allowed.Load()) }

func (b *backlog) GetWaitingCompaction() (bool, pebble.WaitingCompaction) {
	b.mu.Lock()
	waits, meanwhile := b.waiting > 0, b.meanwhile
	b.meanwhile = nil
	b.mu.Unlock()
	if meanwhile != nil {
		meanwhile()
	}
	return waits, pebble.WaitingCompaction{}
}

func (b *backlog) Schedule(h pebble.CompactionGrantHandle) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		b.t.Error("a compaction is to run in a database that has ended")
	}
	if b.waiting == 0 {
		return false
	}
	b.waiting--
	b.runs(h)
	return true
}

// runs runs a compaction. Caller holds mu.
func (b *backlog) runs(h pebble.CompactionGrantHandle) {
	end := make(chan struct{})
	b.running = append(b.running, end)
	b.most = max(b.most, len(b.running))
	go func() {
		<-end
		h.Done()
	}()
}

// end has the oldest compaction end, and waits for what follows from that.
func (b *backlog) end() {
	b.t.Helper()
	b.mu.Lock()
	if len(b.running) == 0 {
		b.mu.Unlock()
		b.t.Fatal("no compaction runs")
	}
	close(b.running[0])
	b.running = b.running[1:]
	b.mu.Unlock()
	synctest.Wait()
}

func (b *backlog) expect(running, waiting int) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.running) != running || b.waiting != waiting {
		b.t.Errorf("%d compactions run and %d wait, expected %d and %d", len(b.running), b.waiting, running, waiting)
	}
}

// As many compactions run as are allowed: what waits runs when one ends, or when a flush has ended after which more are allowed, and none does in a database that has ended.
func TestCompactionsRunAsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := newCompactions(), &backlog{t: t, waiting: 6}
		b.allowed.Store(1)
		c.Register(2, b)
		b.mu.Lock()
		if ok, h := c.TrySchedule(); !ok {
			t.Fatal("no compaction is allowed")
		} else {
			b.runs(h)
		}
		if ok, _ := c.TrySchedule(); ok {
			t.Error("two compactions run where one is allowed")
		}
		b.mu.Unlock()
		b.end()
		b.expect(1, 5)
		b.allowed.Store(3)
		b.mu.Lock()
		c.UpdateGetAllowedWithoutPermission()
		b.mu.Unlock()
		synctest.Wait()
		b.expect(3, 3)
		b.allowed.Store(2)
		b.end()
		b.expect(2, 3)
		for _, waiting := range []int{2, 1, 0} {
			b.end()
			b.expect(2, waiting)
		}
		b.end()
		b.expect(1, 0)
		b.mu.Lock()
		b.waiting = 1
		b.mu.Unlock()
		c.Unregister()
		b.mu.Lock()
		b.closed = true
		b.mu.Unlock()
		b.end()
		b.expect(0, 1)
		if ok, _ := c.TrySchedule(); ok {
			t.Error("a compaction is allowed in a database that has ended")
		}
		if b.most != 3 {
			t.Errorf("%d compactions ran at a time", b.most)
		}
	})
}

// A compaction ends, and another one waits, when it was just looked for what waits, and nothing did.
func TestACompactionThatWaitsMeanwhileRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := newCompactions(), &backlog{t: t}
		b.allowed.Store(2)
		c.Register(2, b)
		_, h := c.TrySchedule()
		b.runs(h)
		_, second := c.TrySchedule()
		b.meanwhile = func() {
			b.waiting = 1
			second.Done()
		}
		b.end()
		b.expect(1, 0)
		b.end()
		c.Unregister()
	})
}

// However many end at a time, no compaction waits while another one is allowed, and no more run than are.
func TestCompactionsEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := newCompactions(), &backlog{t: t, waiting: 300}
		b.allowed.Store(3)
		c.Register(2, b)
		c.UpdateGetAllowedWithoutPermission()
		synctest.Wait()
		for waiting := 297; waiting > 0; waiting -= 3 {
			b.expect(3, waiting)
			b.mu.Lock()
			for _, end := range b.running {
				close(end)
			}
			b.running = nil
			b.mu.Unlock()
			c.UpdateGetAllowedWithoutPermission()
			synctest.Wait()
		}
		if b.most != 3 {
			t.Errorf("%d compactions ran at a time", b.most)
		}
		for len(b.running) > 0 {
			b.end()
		}
		c.Unregister()
	})
}
