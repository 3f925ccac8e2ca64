package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// partMax is how many bytes of changes an entry has at most, unless it is told otherwise: a log copes badly with large ones.
const partMax = 512 << 10

// Engine implements store.Engine for the leader of a group, for one term. Any goroutine may use it.
type Engine struct {
	state      *State
	term       uint64
	partMax    int
	layerBytes int
	cfg        Log

	turn   sync.Mutex // held while a group is proposed: they have one order. Taken before mu
	before func()     // see BeforeWrite; guarded by turn

	mu sync.RWMutex // guards what follows; taken behind the mutex of the state
	// over has the pending group, and those before it from where old ends on; old has older ones.
	// Invariant: all groups that the state's engine does not have are in one of them.
	over    *overlay
	size    int      // of the changes in over
	old     []layer  // the oldest first
	number  uint64   // of the pending group
	pending []byte   // as the data of one entry; nil: nothing is pending
	room    int      // the size of the group before
	flying  []flight // groups that are proposed and not committed, in order
	err     error    // it has failed
	failed  chan struct{}
	tell    []func(error)
}

// clockBytes is the room for the time in a group.
const clockBytes = 16

// layer is an overlay that does not change any more.
type layer struct {
	*overlay
	last uint64 // the number of the newest group in it
}

// layerBytes is how many bytes of changes an overlay has before the next group gets one of its own. Layers are dropped as a whole, so few of them
// are looked through, and little more is kept than the state lacks.
const layerBytes = 1 << 20

// flight is a group that is proposed and not committed yet.
type flight struct {
	number uint64
	done   chan struct{} // closed when it is committed
}

// Log is what the engine of a leader needs of the log of its group.
type Log struct {
	// Propose appends data to the log, behind what was proposed before; it does not wait for the commit.
	Propose func(data []byte) error
	// Confirm returns nil if this node has led the group, in the term of the engine, at some time since the call.
	Confirm func() error
	// Clock is that of the node: each group is proposed with the time. nil: without.
	Clock sched.Clock
	// Scheduler has the tasks that wait for a commit wait; nil: Go does.
	Scheduler *sched.Scheduler
}

// Lead returns the engine of a leader in its term. Its state has the first entry of the term, by which it has all that former leaders
// have committed.
func Lead(s *State, term uint64, l Log) *Engine {
	e := &Engine{state: s, term: term, partMax: partMax, layerBytes: layerBytes, cfg: l, over: newOverlay(), failed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.That(s.leader == nil || s.leader.term < term, "engine: a leader of term %d follows", term)
	assert.That(len(s.waiting) == 0, "engine: a leader begins in term %d and its state has not taken what former ones have committed", term)
	s.leader = e
	return e
}

// ErrClosed is the failure of an engine that was closed.
var ErrClosed = errors.New("the engine is closed")

// Fail ends the engine: the leader is deposed, or its log has failed. What is under way has an unknown fate.
func (e *Engine) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.end(err) {
		for _, f := range e.tell {
			f(err)
		}
	}
}

// end has all methods return err from now on; it reports false if they return another error already. Caller holds mu.
func (e *Engine) end(err error) bool {
	if e.err != nil {
		return false
	}
	e.err = err
	close(e.failed)
	return true
}

func (e *Engine) hasFailed() bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.err != nil
}

// Term returns the term in which the engine leads.
func (e *Engine) Term() uint64 { return e.term }

// Index returns up to which entry of the log the state of the leader was handed everything.
func (e *Engine) Index() uint64 { return e.state.Whole() }

// Confirm implements store.Confirming.
func (e *Engine) Confirm() error {
	if e.hasFailed() {
		return e.err
	}
	err := e.cfg.Confirm()
	if err != nil {
		e.Fail(err)
	}
	return err
}

// OnFailure implements store.Failing.
func (e *Engine) OnFailure(f func(error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell = append(e.tell, f)
	if e.err != nil {
		f(e.err)
	}
}

// BeforeWrite implements store.Announcing: what is applied is in memory alone until it is proposed.
func (e *Engine) BeforeWrite(f func()) {
	e.turn.Lock()
	defer e.turn.Unlock()
	e.before = f
}

// Told returns the time that the last group of former leaders was proposed with, the zero time if there is none: this leader's clock goes on from there.
func (e *Engine) Told() (time.Time, error) {
	b, found, err := e.Get(clockKey, nil)
	switch {
	case err != nil || !found:
		return time.Time{}, err
	case len(b) != 8:
		return time.Time{}, &store.CorruptError{Key: clockKey, Reason: "it is no time"}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(b))), nil
}

// batchBytes is the room for changes that a batch begins with: what most events change.
const batchBytes = 160

// NewBatch implements store.Engine.
func (e *Engine) NewBatch() store.Batch { return &batch{make(changes, 0, batchBytes)} }

// Apply implements store.Engine.
func (e *Engine) Apply(b store.Batch) error {
	c := b.(*batch).changes
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	if len(c) == 0 {
		return nil
	}
	if e.pending == nil {
		e.pending = append(make([]byte, 0, 1+max(len(c), e.room)+clockBytes), kindLast)
	}
	e.pending = append(e.pending, c...)
	e.size += len(c)
	return e.over.add(c)
}

// Sync implements store.Engine: all that was applied before is committed, and its state was handed it, when it returns.
func (e *Engine) Sync() error {
	f, err := e.launch()
	if err != nil {
		e.Fail(err)
		return err
	}
	if f == nil {
		return nil
	}
	if e.await(f.done); closed(f.done) {
		return nil
	}
	return e.err
}

// await returns when done is closed or the engine has failed.
func (e *Engine) await(done <-chan struct{}) {
	if s := e.cfg.Scheduler; s != nil {
		s.Until(func() bool { return closed(done) || closed(e.failed) })
		return
	}
	select {
	case <-done:
	case <-e.failed:
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// launch proposes the pending group, and returns the newest that is under way; nil if none is.
func (e *Engine) launch() (*flight, error) {
	e.turn.Lock()
	defer e.turn.Unlock()
	e.mu.Lock()
	if e.err != nil {
		defer e.mu.Unlock()
		return nil, e.err
	}
	data := e.pending
	if data != nil {
		e.flying = append(e.flying, flight{e.number, make(chan struct{})})
		if e.pending, e.room = nil, len(data); e.size >= e.layerBytes {
			e.old = append(e.old, layer{e.over, e.number})
			e.over, e.size = newOverlay(), 0
		}
		e.number++
	}
	var newest *flight
	if n := len(e.flying); n > 0 {
		f := e.flying[n-1]
		newest = &f
	}
	e.mu.Unlock()
	if data != nil && e.before != nil {
		e.before()
	}
	if data != nil && e.cfg.Clock != nil { // whose time is behind that of all events in the group
		now := binary.BigEndian.AppendUint64(nil, uint64(e.cfg.Clock.Now().UnixNano()))
		data = changes(data).add(kindSet, clockKey, now)
	}
	for len(data) > 1+e.partMax {
		if err := e.cfg.Propose(append([]byte{kindPart}, data[1:1+e.partMax]...)); err != nil {
			return nil, err
		}
		data = data[e.partMax:]
		data[0] = kindLast // in the place of what has gone
	}
	if data != nil {
		if err := e.cfg.Propose(data); err != nil {
			return nil, err
		}
	}
	return newest, nil
}

// committed notes that the first n groups that are under way have been committed.
func (e *Engine) committed(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	assert.That(n <= len(e.flying), "engine: %d groups of term %d were committed, and %d proposed", n, e.term, len(e.flying))
	for _, f := range e.flying[:n] {
		close(f.done)
	}
	e.flying = e.flying[n:]
}

// landed returns the number of the first group that is not committed.
func (e *Engine) landed() uint64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if len(e.flying) > 0 {
		return e.flying[0].number
	}
	return e.number
}

// taken notes that the state's engine has all groups with lower numbers, and drops the layers that have no others.
func (e *Engine) taken(number uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for n < len(e.old) && e.old[n].last < number {
		e.old[n].release()
		n++
	}
	e.old = slices.Clone(e.old[n:]) // a snapshot may have the list
	if number == e.number && e.pending == nil {
		e.over.release()
		e.over, e.size = newOverlay(), 0
	}
}

// first is where the rows of a store begin: those before are the state's own.
var first = []byte{1}

// Get implements store.Reader.
func (e *Engine) Get(key, buf []byte) ([]byte, bool, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.err != nil {
		return buf, false, e.err
	}
	return look(e.over, e.old, e.state.engine, key, buf)
}

// look looks for a key in overlays, the newest first, and below them.
func look(over *overlay, old []layer, below store.Reader, key, buf []byte) ([]byte, bool, error) {
	v, found, known := over.get(key)
	for i := len(old) - 1; i >= 0 && !known; i-- {
		v, found, known = old[i].get(key)
	}
	if known {
		return append(buf, v...), found, nil
	}
	return below.Get(key, buf)
}

// Scan implements store.Reader.
func (e *Engine) Scan(from, to []byte) store.Iterator {
	s := e.snapshot()
	return &scan{s.Scan(from, to), s}
}

// scan is an iterator with the snapshot that it goes over.
type scan struct {
	store.Iterator
	of *snapshot
}

// Close implements store.Iterator.
func (s *scan) Close() error { return errors.Join(s.Iterator.Close(), s.of.Close()) }

// Snapshot implements store.Engine.
func (e *Engine) Snapshot() store.Snapshot { return e.snapshot() }

// snapshot implements store.Snapshot.
type snapshot struct {
	over  *overlay
	old   []layer
	below store.Snapshot
	err   error
}

func (e *Engine) snapshot() *snapshot {
	e.mu.Lock() // a copy of the overlay marks what both share
	defer e.mu.Unlock()
	if e.err != nil {
		return &snapshot{err: e.err}
	}
	for _, l := range e.old {
		l.order()
	}
	return &snapshot{over: e.over.copy(), old: e.old[:len(e.old):len(e.old)], below: e.state.engine.Snapshot()}
}

// Get implements store.Reader.
func (s *snapshot) Get(key, buf []byte) ([]byte, bool, error) {
	if s.err != nil {
		return buf, false, s.err
	}
	return look(s.over, s.old, s.below, key, buf)
}

// Scan implements store.Reader.
func (s *snapshot) Scan(from, to []byte) store.Iterator {
	if bytes.Compare(from, first) < 0 {
		from = first
	}
	if s.err != nil {
		return failedScan{s.err}
	}
	it := s.below.Scan(from, to)
	for _, l := range s.old {
		it = l.scan(it, from, to)
	}
	return s.over.scan(it, from, to)
}

// Close implements store.Snapshot.
func (s *snapshot) Close() error {
	if s.err != nil {
		return nil
	}
	return s.below.Close()
}

// failedScan is an iterator over an engine that has failed.
type failedScan struct{ err error }

func (failedScan) Next() bool     { return false }
func (failedScan) Prev() bool     { return false }
func (failedScan) Key() []byte    { return nil }
func (failedScan) Value() []byte  { return nil }
func (s failedScan) Close() error { return s.err }

// Close implements store.Engine: what was applied is committed. The state stays open.
func (e *Engine) Close() error {
	err := e.Sync()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end(ErrClosed)
	return err
}
