package engine

import (
	"bytes"
	"errors"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// partMax is how many bytes of changes an entry has at most, unless it is told otherwise: a log copes badly with large ones.
const partMax = 512 << 10

// Engine implements store.Engine for the leader of a group, for one term. Any goroutine may use it.
type Engine struct {
	state   *State
	term    uint64
	partMax int
	cfg     Log

	turn sync.Mutex // held while a group is proposed: they have one order. Taken before mu

	mu      sync.RWMutex // guards what follows; taken behind the mutex of the state
	over    overlay      // of the groups in flying, and of the pending one
	number  uint64       // of the pending group
	pending changes
	flying  []flight // groups that are proposed, in order
	err     error    // it has failed
	failed  chan struct{}
	tell    []func(error)
	before  func() // called before a group is proposed; nil: nothing is
}

// flight is a group that is proposed and not in the state yet.
type flight struct {
	number  uint64
	changes changes
	done    chan struct{} // closed when the state has it
}

// Log is what the engine of a leader needs of the log of its group.
type Log struct {
	// Propose appends data to the log, behind what was proposed before; it does not wait for the commit.
	Propose func(data []byte) error
	// Confirm returns nil if this node has led the group, in the term of the engine, at some time since the call.
	Confirm func() error
	// Scheduler has the tasks that wait for a commit wait; nil: Go does.
	Scheduler *sched.Scheduler
}

// Lead returns the engine of a leader in its term. Its state has the first entry of the term, by which it has all that former leaders
// have committed.
func Lead(s *State, term uint64, l Log) *Engine {
	e := &Engine{state: s, term: term, partMax: partMax, cfg: l, over: newOverlay(), failed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.That(s.leader == nil || s.leader.term < term, "engine: a leader of term %d follows", term)
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

// Index returns up to which entry of the log the state of the leader is.
func (e *Engine) Index() uint64 { return e.state.Index() }

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

// BeforeWrite implements store.Announcing: what is applied stays in the memory of the leader until it is proposed.
func (e *Engine) BeforeWrite(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.before = f
}

// NewBatch implements store.Engine.
func (e *Engine) NewBatch() store.Batch { return &batch{} }

// Apply implements store.Engine.
func (e *Engine) Apply(b store.Batch) error {
	c := b.(*batch).changes
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	e.pending = append(e.pending, c...)
	return e.over.add(e.number, c)
}

// Sync implements store.Engine: all that was applied before is committed, and in the state of this node, when it returns.
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
	c := e.pending
	if len(c) > 0 {
		e.flying = append(e.flying, flight{e.number, c, make(chan struct{})})
		e.pending = nil
		e.number++
	}
	var newest *flight
	if n := len(e.flying); n > 0 {
		f := e.flying[n-1]
		newest = &f
	}
	before := e.before
	e.mu.Unlock()
	if before != nil && len(c) > 0 {
		before()
	}
	for len(c) > 0 {
		n, kind := len(c), byte(kindLast)
		if n > e.partMax {
			n, kind = e.partMax, kindPart
		}
		if err := e.cfg.Propose(append([]byte{kind}, c[:n]...)); err != nil {
			return nil, err
		}
		c = c[n:]
	}
	return newest, nil
}

// landed notes that the state has the first n groups that are under way. Caller holds mu.
func (e *Engine) landed(n int) error {
	assert.That(n <= len(e.flying), "engine: %d groups of term %d were committed, and %d proposed", n, e.term, len(e.flying))
	for _, f := range e.flying[:n] {
		if err := e.over.drop(f.number, f.changes); err != nil {
			return err
		}
		close(f.done)
	}
	e.flying = e.flying[n:]
	return nil
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
	if v, found, known := e.over.get(key); known {
		return append(buf, v...), found, nil
	}
	return e.state.engine.Get(key, buf)
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
	over  overlay
	below store.Snapshot
	err   error
}

func (e *Engine) snapshot() *snapshot {
	e.mu.Lock() // a copy of the overlay marks what both share
	defer e.mu.Unlock()
	if e.err != nil {
		return &snapshot{err: e.err}
	}
	return &snapshot{over: e.over.copy(), below: e.state.engine.Snapshot()}
}

// Get implements store.Reader.
func (s *snapshot) Get(key, buf []byte) ([]byte, bool, error) {
	if s.err != nil {
		return buf, false, s.err
	}
	if v, found, known := s.over.get(key); known {
		return append(buf, v...), found, nil
	}
	return s.below.Get(key, buf)
}

// Scan implements store.Reader.
func (s *snapshot) Scan(from, to []byte) store.Iterator {
	if bytes.Compare(from, first) < 0 {
		from = first
	}
	if s.err != nil {
		return failedScan{s.err}
	}
	return &iterator{over: s.over, below: s.below.Scan(from, to), from: from, to: to}
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
