package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
)

// Every returns how often snapshots are taken, 0 if none are.
func (n *NodeSnapshots) Every() time.Duration {
	if n == nil || n.target == nil {
		return 0
	}
	return n.SnapshotEvery
}

var (
	errNoPlace = errors.New("this node has no place for snapshots: start it with --snapshots, as the others")
	errOver    = errors.New("the store has another leader now")
)

// halts are the parts that a system takes in snapshots of several stores.
type halts struct {
	ctx    context.Context // done when the system is to end
	cancel context.CancelFunc

	mu       sync.Mutex
	list     map[*Halted]bool // nil: the system ends
	quiesced *time.Timer      // that ends what Quiesce has begun last; nil: it has not been called
}

func (l *halts) open() {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.list = make(map[*Halted]bool)
}

// within returns a context that ends with ctx, and when the system is to end: what has the mutex of a part then gives it back.
func (l *halts) within(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	left := context.AfterFunc(l.ctx, cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// close ends all parts, and waits for that.
func (l *halts) close() {
	l.cancel()
	l.mu.Lock()
	list := l.list
	l.list = nil
	l.mu.Unlock()
	for h := range list {
		h.Close()
	}
}

// Halted is a store that takes part in a snapshot of several, which are halted together and saved one by one.
type Halted struct {
	led *Led

	mu     sync.Mutex      // held while the part is saved
	halted *archive.Halted // nil: it is over
	saved  *snapshot.Saved // nil: nothing is there that Drop would have to delete
	failed error           // why not all of it was saved
}

// Quiesce has no event of the store be decided that other stores would have to carry out, until GoOn is called, or limit has passed. It returns when they have carried out
// all that was decided before.
func (l *Led) Quiesce(ctx context.Context, limit time.Duration) error {
	a := l.System.Across()
	l.halts.mu.Lock()
	if l.halts.quiesced != nil {
		l.halts.quiesced.Stop()
	}
	l.halts.quiesced = time.AfterFunc(limit, a.GoOn)
	l.halts.mu.Unlock()
	return a.Quiesce(ctx)
}

// GoOn ends what Quiesce has begun.
func (l *Led) GoOn() { l.System.Across().GoOn() }

// Halt halts the store until Resume, or until limit has passed. The caller calls Close. The error is an *archive.UnsettledError if it is to be quiesced before.
func (l *Led) Halt(limit time.Duration) (*Halted, error) {
	if l.of.Snapshots.Every() == 0 {
		return nil, errNoPlace
	}
	l.halts.mu.Lock() // the system does not end while the store is halted
	defer l.halts.mu.Unlock()
	if l.halts.list == nil {
		return nil, errOver
	}
	a, err := l.System.Archive()
	if err != nil {
		return nil, err
	}
	halted, err := a.Halt(limit)
	if err != nil {
		return nil, err
	}
	h := &Halted{led: l, halted: halted}
	l.halts.list[h] = true
	return h, nil
}

// Resume has the store go on, and reports whether it was halted up to now.
func (h *Halted) Resume() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.halted != nil && h.halted.Resume()
}

// Save makes the part that the store has, as it was when it was halted.
func (h *Halted) Save(ctx context.Context, set snapshot.Set, taken time.Time) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.halted == nil {
		return errOver
	}
	ctx, stop := h.led.halts.within(ctx)
	defer stop()
	n := h.led.of.Snapshots
	if !n.taking.take(ctx) {
		return ctx.Err()
	}
	defer n.taking.leave()
	start := time.Now()
	saved, err := h.halted.Save(ctx, n.target, set, taken)
	h.saved, h.failed = saved, err
	if err == nil {
		tell(h.led.of.Log, saved, start)
	}
	h.over()
	return err
}

// Prune ends the part, and deletes those of older snapshots, as far as fewer are to be kept, when all parts of this one are saved.
func (h *Halted) Prune(ctx context.Context) {
	h.end(ctx, func(ctx context.Context, n *NodeSnapshots) { n.prune(ctx, &h.saved.Manifest, h.led.of.Log) })
}

// Drop ends the part, and deletes what it has saved: a part has failed, this one or another. Its content stays for the next one.
func (h *Halted) Drop(ctx context.Context) {
	h.end(ctx, func(ctx context.Context, n *NodeSnapshots) {
		n.delete(ctx, h.led.of.Log, "the part of a snapshot that failed was not deleted", func(ctx context.Context) error {
			return snapshot.Remove(ctx, n.target, &h.saved.Manifest)
		})
		n.clean(ctx, h.saved, h.failed, h.led.of.Log)
	})
}

// end ends the part, and calls clean if it was saved, while nothing else writes to the place; unless the system is to end before that is so.
func (h *Halted) end(ctx context.Context, clean func(context.Context, *NodeSnapshots)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over()
	ctx, stop := h.led.halts.within(ctx)
	defer stop()
	if n := h.led.of.Snapshots; h.saved != nil && n.taking.take(ctx) {
		defer n.taking.leave()
		clean(ctx, n)
	}
}

// Close ends the part.
func (h *Halted) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over()
}

// Abandon is Close unless the part is being saved. It reports whether the part is over.
func (h *Halted) Abandon() bool {
	if !h.mu.TryLock() {
		return false
	}
	defer h.mu.Unlock()
	h.over()
	return true
}

// over gives back what the part has of the store. Caller holds mu.
func (h *Halted) over() {
	if h.halted == nil {
		return
	}
	if err := h.halted.Close(); err != nil {
		h.led.of.Log.Warn("a view of a store was not closed well", "error", err)
	}
	h.halted = nil
	h.led.halts.mu.Lock()
	defer h.led.halts.mu.Unlock()
	delete(h.led.halts.list, h)
}
