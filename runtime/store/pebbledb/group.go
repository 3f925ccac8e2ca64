package pebbledb

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/aeon-lang/aeon/internal/assert"
)

// groupBytes is how large a group becomes before the writer that makes it larger has pebble take it.
const groupBytes = 64 << 10

// group collects what is applied, and pebble takes it as one batch at the next sync: group commit. Memtable insertion, which is
// most of what a row costs, runs while the disk writes: events that hold locks do not wait for it, nor do those that the sync
// wakes, unless they have made the group larger than groupBytes. A reader of something that has not been taken yet has
// pebble take it first.
type group struct {
	// turn is full while pebble takes a group: they have one order. It is no mutex because pebble may be stopped
	// in the middle of one.
	turn chan struct{}
	// records counts those in the logs, one for each that pebble has taken. The goroutine that has the turn owns it.
	records uint64
	// fresh says that pebble is about to take a group, and has not yielded to the goroutine of its log yet.
	fresh atomic.Bool

	mu      sync.Mutex
	pending *pebble.Batch // nil: nothing
	changed keySet        // by it
	taken   struct {      // what pebble is taking
		rows    batchrepr.Reader
		changed keySet
	}
}

// yieldingComparer returns pebble's order of keys, which yields the processor once for each group that is synced. The
// goroutine that writes pebble's log can run as soon as the group has its place in the log, but waits until an idle
// processor steals it, some 100 us: with 64 clients the yield raised durable transfers from 117 to 138 thousand a second, and
// in two more such runs from 116 to 159 and from 140 to 183. Pebble tells of that moment by no hook, event or
// error: the next thing that it calls is the order of keys.
func (g *group) yieldingComparer() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Compare = func(a, b []byte) int {
		if g.fresh.Load() && g.fresh.CompareAndSwap(true, false) {
			runtime.Gosched()
		}
		return bytes.Compare(a, b)
	}
	return &c
}

// join adds a batch to the group that is pending, and returns how large that is.
func (d *DB) join(b *batch) (size int, err error) {
	g := &d.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending == nil {
		g.pending = d.newGroup()
	}
	g.changed.add(&b.keys)
	err = g.pending.Apply(b.b, nil)
	return g.pending.Len(), err
}

// newGroup returns a group that has nothing but room for its seal.
func (d *DB) newGroup() *pebble.Batch {
	b := d.db.NewBatch()
	b.LogData(make([]byte, sealBytes), nil) // never fails
	return b
}

// take returns the group that is pending, sealed, or nil; the turn is held.
func (d *DB) take() *pebble.Batch {
	g := &d.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.pending
	if b != nil {
		g.taken.rows, g.taken.changed = b.Reader(), g.changed
		g.pending, g.changed = nil, keySet{}
		d.sealGroup(b)
	}
	return b
}

// has reports whether there may be a change of a key that pebble has not taken yet.
func (g *group) has(key []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pending != nil && changesOne(g.pending.Reader(), &g.changed, key) || changesOne(g.taken.rows, &g.taken.changed, key)
}

func changesOne(r batchrepr.Reader, changed *keySet, key []byte) bool {
	if len(r) == 0 || changed.has(key) {
		return len(r) > 0
	}
	return changed.ranges && changes(r, key, append(bytes.Clone(key), 0))
}

// hasAny reports whether there is a change of a key k with from <= k < to that pebble may not have taken yet.
func (g *group) hasAny(from, to []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pending != nil && changes(g.pending.Reader(), from, to) || changes(g.taken.rows, from, to)
}

func changes(r batchrepr.Reader, from, to []byte) bool {
	for {
		kind, key, value, ok, _ := r.Next() // pebble has written it: no error
		switch {
		case !ok:
			return false
		case kind == pebble.InternalKeyKindLogData || bytes.Compare(key, to) >= 0:
		case kind == pebble.InternalKeyKindRangeDelete:
			if bytes.Compare(from, value) < 0 {
				return true
			}
		case bytes.Compare(from, key) <= 0:
			return true
		}
	}
}

// takeTurn waits until pebble takes no group. If over is closed before, it returns the error that has closed it.
func (d *DB) takeTurn(over <-chan struct{}) error {
	select {
	case <-over:
		return d.err()
	default:
	}
	select {
	case d.group.turn <- struct{}{}:
		return nil
	case <-over:
		return d.err()
	}
}

func (d *DB) endTurn() { <-d.group.turn }

// commit has pebble take a batch, and ends the turn unless pebble is stopped in the middle.
func (d *DB) commit(b *pebble.Batch, o *pebble.WriteOptions) (err error) {
	defer d.guard(&err)
	g := &d.group
	g.records++
	g.fresh.Store(o.Sync)
	if err := d.db.Apply(b, o); err != nil {
		err = d.fail(err)
		d.endTurn() // after the failure no goroutine gets it
		return err
	}
	if o.Sync {
		n, err := d.logs.q.records()
		assert.That(err != nil || n == g.records, "pebble has logged %d records, and was given %d", n, g.records)
	}
	g.mu.Lock()
	g.taken.rows = nil
	g.mu.Unlock()
	b.Close() // fails only for one that is being applied
	d.endTurn()
	return nil
}

// settle has pebble take what was applied before.
func (d *DB) settle() error {
	if err := d.takeTurn(d.failed); err != nil {
		return err
	}
	b := d.take()
	if b == nil {
		d.endTurn()
		return nil
	}
	return d.commit(b, pebble.NoSync)
}

// commitAlone has pebble take a batch behind what was applied before.
func (d *DB) commitAlone(b *pebble.Batch) error {
	if err := d.settle(); err != nil {
		return err
	}
	if err := d.takeTurn(d.failed); err != nil {
		return err
	}
	g := d.newGroup()
	if err := g.Apply(b, nil); err != nil {
		d.endTurn()
		return d.fail(err)
	}
	b.Close() // fails only for one that is being applied
	d.sealGroup(g)
	return d.commit(g, pebble.NoSync)
}
