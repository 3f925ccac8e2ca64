package sched

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Lines order jobs by key: of the places with one key the first goes, and the next one goes when the first has left. Places with
// different keys do not wait for each other. A job that its caller runs itself joins a line that is there, and makes none:
// the caller does nothing else before the job has ended.
type Lines[K comparable] struct {
	// expected counts the places that are not over. A place counts from Expect on.
	expected atomic.Int64
	mu       struct {
		sync.Mutex                   // a leaf
		lines      map[K][]*Place[K] // the first of each goes
	}
}

// Place is a place in a line.
type Place[K comparable] struct {
	lines *Lines[K]
	key   K
	// Job is run by a worker when the place is the first of its line. It is nil where a caller waits for its turn.
	Job   func()
	ready chan struct{} // closed when the place of a caller that waits is the first
	state placeState    // guarded by lines.mu
}

type placeState uint8

const (
	waits    placeState = iota
	first               // of its line
	outside             // it has left its line while it waited
	finished            // it is over
)

// Expect announces a place before any effect of its job can be seen: a goroutine that comes later finds the place counted.
func (l *Lines[K]) Expect() { l.expected.Add(1) }

// Unexpect takes Expect back: there will be no place.
func (l *Lines[K]) Unexpect() { l.expected.Add(-1) }

// Place returns a place that was expected and has not joined its line.
func (l *Lines[K]) Place(key K) *Place[K] { return &Place[K]{lines: l, key: key} }

// Join puts p at the end of its line, calls placed in the order of the line, and reports whether p is the
// first: then the caller runs its job.
func (p *Place[K]) Join(placed func()) bool {
	l := p.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	placed()
	return l.append(p)
}

func (l *Lines[K]) append(p *Place[K]) bool {
	if l.mu.lines == nil {
		l.mu.lines = make(map[K][]*Place[K])
	}
	line := append(l.mu.lines[p.key], p)
	l.mu.lines[p.key] = line
	if len(line) == 1 {
		p.state = first
	}
	return len(line) == 1
}

// Await waits until all places in the line of a key have left, and returns a place there. It returns nil if there is
// no line, which costs one load if there is none at all.
func (l *Lines[K]) Await(key K, s *Scheduler) *Place[K] {
	if l.expected.Load() == 0 {
		return nil
	}
	return l.await(key, s)
}

// await is apart so that Await is inlined.
func (l *Lines[K]) await(key K, s *Scheduler) *Place[K] {
	l.mu.Lock()
	if len(l.mu.lines[key]) == 0 {
		l.mu.Unlock()
		return nil
	}
	p := &Place[K]{lines: l, key: key, ready: make(chan struct{})}
	l.Expect()
	l.append(p)
	l.mu.Unlock()
	s.Wait(p.ready)
	return p
}

// Leave ends the place, which may be nil or over, and lets the next of the line go.
func (p *Place[K]) Leave(w *Workers) {
	if p != nil {
		p.leave(w)
	}
}

// leave is apart so that Leave is inlined.
func (p *Place[K]) leave(w *Workers) {
	if next := p.pass(); next == nil {
	} else if next.Job == nil {
		close(next.ready)
	} else {
		w.Run(next.Job)
	}
}

// pass ends the place and returns the next of the line, nil if there is none.
func (p *Place[K]) pass() *Place[K] {
	l := p.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	was := p.state
	p.state = finished
	if was == finished {
		return nil
	}
	l.Unexpect()
	if was != first {
		return nil
	}
	// Invariant: the first of a line is the only one that goes.
	line := l.mu.lines[p.key]
	assert.That(line[0] == p, "sched: a place that is not the first of its line has gone")
	if line = line[1:]; len(line) == 0 {
		delete(l.mu.lines, p.key)
		return nil
	}
	l.mu.lines[p.key] = line
	line[0].state = first
	return line[0]
}

// Hurry takes a place that waits out of its line, and reports whether it waited: then the caller runs its job.
func (p *Place[K]) Hurry() bool {
	l := p.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.state != waits {
		return false
	}
	p.state = outside
	l.mu.lines[p.key] = slices.DeleteFunc(l.mu.lines[p.key], func(o *Place[K]) bool { return o == p })
	return true
}

// Counts returns how many places are not over, and how many lines there are. It is for tests.
func (l *Lines[K]) Counts() (places int64, lines int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expected.Load(), len(l.mu.lines)
}
