package watch

import (
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Counts count what has become of the events of one client.
type Counts struct {
	Begun       atomic.Uint64 // each ends as a commit, an abort or a repeat, unless it is a move in T
	Commits     atomic.Uint64
	Aborts      atomic.Uint64
	Repeats     atomic.Uint64
	Withdrawals atomic.Uint64
	Reroutes    atomic.Uint64
	_           [64]byte // clients do not share cache lines
}

// addTo adds the counts to t.
func (c *Counts) addTo(t *Stats) {
	t.Commits += c.Commits.Load()
	t.Aborts += c.Aborts.Load()
	t.Repeats += c.Repeats.Load()
	t.Withdrawals += c.Withdrawals.Load()
	t.Reroutes += c.Reroutes.Load()
}

// Stats are the counts of a system, summed over its clients.
type Stats struct {
	Commits          uint64 // events that committed
	Aborts           uint64 // events that failed and were undone
	Repeats          uint64 // requests that had an outcome already
	Withdrawals      uint64 // attempts withdrawn after code of the program had run
	Reroutes         uint64 // attempts withdrawn before any code had run
	DeadLetters      uint64 // failures that were not awaited
	CallbackFailures uint64 // callbacks that panicked
	Moves            uint64 // moves in the sequencing tree
	AdmissionWaits   uint64 // pauses of clients before full queues
}

// WriteMetrics writes the counts.
func (t *Stats) WriteMetrics(w *metrics.Writer) {
	w.Counter("aeon_events_committed_total", "Events that have committed.", t.Commits)
	w.Counter("aeon_events_undone_total", "Events that have failed and were undone.", t.Aborts)
	w.Counter("aeon_requests_repeated_total", "Requests with a key that had an outcome already, and got it.", t.Repeats)
	w.Counter("aeon_attempts_withdrawn_total", "Attempts that were withdrawn after code of the program had run, and made again.", t.Withdrawals)
	w.Counter("aeon_attempts_rerouted_total", "Attempts that were withdrawn before code of the program had run, and made again.", t.Reroutes)
	w.Counter("aeon_admission_waits_total", "Pauses of clients before full queues.", t.AdmissionWaits)
	w.Counter("aeon_tree_moves_total", "Moves of actors in the sequencing tree.", t.Moves)
	w.Counter("aeon_dead_letters_total", "Events that have failed and were not awaited.", t.DeadLetters)
	w.Counter("aeon_callback_failures_total", "Callbacks that have failed.", t.CallbackFailures)
}

// Ledger has the counts of all clients of a system. The zero value has none. Any goroutine may use it.
type Ledger struct {
	mu struct {
		sync.Mutex
		open map[*Counts]struct{} // of the clients that can still be used
		past Stats                // of the others
	}
}

// Open returns the counts of a new client.
func (l *Ledger) Open() *Counts {
	c := &Counts{}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.open == nil {
		l.mu.open = make(map[*Counts]struct{})
	}
	l.mu.open[c] = struct{}{}
	return c
}

// Retire adds up the counts of a client that has gone.
func (l *Ledger) Retire(c *Counts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.addTo(&l.mu.past)
	delete(l.mu.open, c)
}

// Size returns how many clients can still be used.
func (l *Ledger) Size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.mu.open)
}

// Idle reports whether no client has an event under way, the one with the counts apart left aside.
func (l *Ledger) Idle(apart *Counts) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.mu.open {
		if c != apart && c.Commits.Load()+c.Aborts.Load()+c.Repeats.Load() < c.Begun.Load() {
			return false
		}
	}
	return true
}

// AddTo adds the counts of all clients to t.
func (l *Ledger) AddTo(t *Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Commits += l.mu.past.Commits
	t.Aborts += l.mu.past.Aborts
	t.Repeats += l.mu.past.Repeats
	t.Withdrawals += l.mu.past.Withdrawals
	t.Reroutes += l.mu.past.Reroutes
	for c := range l.mu.open {
		c.addTo(t)
	}
}
