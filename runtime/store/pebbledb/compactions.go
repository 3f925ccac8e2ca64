package pebbledb

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// compactions is the pebble.CompactionScheduler of one database: as many compactions run at a time as pebble allows. It looks for one that waits when more may be allowed, as a
// flush or a compaction has ended. Pebble's own scheduler looks ten times a second, which wakes a node that has a dozen databases, and nothing to do, more often than all else.
type compactions struct {
	db pebble.DBForCompaction // as of Register, which comes first

	mu       sync.Mutex
	turn     sync.Cond
	running  int
	granting bool // a goroutine grants what waits, without mu
	again    bool // it looks once more before it ends
	closed   bool
}

var _ pebble.CompactionScheduler = (*compactions)(nil)
var _ pebble.CompactionGrantHandle = (*compactions)(nil) // of all

func newCompactions() *compactions {
	c := &compactions{}
	c.turn.L = &c.mu
	return c
}

// Register implements pebble.CompactionScheduler.
func (c *compactions) Register(_ int, db pebble.DBForCompaction) { c.db = db }

// Unregister implements pebble.CompactionScheduler. No method of the database is called after it.
func (c *compactions) Unregister() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for c.granting {
		c.turn.Wait()
	}
}

// TrySchedule implements pebble.CompactionScheduler.
func (c *compactions) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasRoom() {
		return false, nil
	}
	c.running++
	return true, c
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler. The caller holds the mutex of the database, so another goroutine grants.
func (c *compactions) UpdateGetAllowedWithoutPermission() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.grants() {
		go c.grant()
	}
}

// Done implements pebble.CompactionGrantHandle: a compaction has ended, whose goroutine grants now.
func (c *compactions) Done() {
	c.mu.Lock()
	c.running--
	grants := c.grants()
	c.mu.Unlock()
	if grants {
		c.grant()
	}
}

// grants reports whether the caller is to have what waits granted. Caller holds mu.
func (c *compactions) grants() bool {
	if c.again = c.granting; c.granting || !c.hasRoom() {
		return false
	}
	c.granting = true
	return true
}

// hasRoom reports whether one more may run. Caller holds mu.
func (c *compactions) hasRoom() bool {
	return !c.closed && c.running < c.db.GetAllowedWithoutPermission()
}

// grant grants what waits, once grants has returned true.
func (c *compactions) grant() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for waits := true; c.hasRoom() && (waits || c.again); {
		c.again = false
		c.mu.Unlock()
		if waits, _ = c.db.GetWaitingCompaction(); waits {
			waits = c.db.Schedule(c)
		}
		c.mu.Lock()
		if waits {
			c.running++ // it may have ended already
		}
	}
	c.granting, c.again = false, false
	c.turn.Broadcast()
}

// Started implements pebble.CompactionGrantHandle, as do the others below: the pace of compactions is not limited.
func (*compactions) Started() {}

func (*compactions) MeasureCPU(pebble.CompactionGoroutineKind) {}

func (*compactions) CumulativeStats(pebble.CompactionGrantHandleStats) {}
