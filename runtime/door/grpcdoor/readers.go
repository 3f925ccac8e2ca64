package grpcdoor

import (
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// readers bound how many calls have their arguments read at the same time, so that messages which are incomplete take no more
// memory than those. Others wait.
//
// Nothing can take the places of all: a source has a part of them, and while calls of other sources wait, the call that has
// been read the longest gives way.
type readers struct {
	max, each int           // of all sources, and of each
	patience  time.Duration // that a call is read at least
	late      time.Duration // after which arguments that have not arrived are not awaited any more

	spare sync.Pool // readings that no call uses. One that was ended before its message had arrived never comes here

	mu      sync.Mutex
	open    []*reading // in the order in which they have begun
	waiting []*reading
	of      map[gate.Source]int // how many of open each has
	looks   time.Time           // when timer is due; the zero time: it is not set
	timer   *time.Timer         // has look called; one for all, as arguments are late that seldom
}

// reading is a call whose arguments are being read, or are to be.
type reading struct {
	from         gate.Source
	asked, began time.Time
	ended        bool          // it is late, or gives way
	admitted     chan struct{} // closed then; nil: at once
	message      message       // that is being received
	got          chan received // has room for how the receiving ends, and for the error that ends the reading before
}

// received is how a reading has ended. Unless whole is set, message may still be written.
type received struct {
	whole bool // all has arrived, or nothing more will
	err   error
}

// done returns what was received, and ends the use of r.
func (rs *readers) done(r *reading) ([]byte, error) {
	got := <-r.got
	if !got.whole {
		return nil, got.err
	}
	b := r.message.bytes
	*r = reading{got: r.got}
	rs.spare.Put(r)
	return b, got.err
}

// enter asks for a place. Caller waits for admitted, and calls leave in any case.
func (rs *readers) enter(from gate.Source) *reading {
	r, ok := rs.spare.Get().(*reading)
	if !ok {
		r = &reading{got: make(chan received, 2)}
	}
	r.from, r.asked = from, time.Now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.fits(r) {
		rs.admit(r, r.asked)
		return r
	}
	r.admitted = make(chan struct{})
	rs.waiting = append(rs.waiting, r)
	rs.relieve(r.asked)
	return r
}

// fits reports whether there is a place for r. Caller holds mu.
func (rs *readers) fits(r *reading) bool { return len(rs.open) < rs.max && rs.of[r.from] < rs.each }

// admit gives r a place. Caller holds mu.
func (rs *readers) admit(r *reading, now time.Time) {
	r.began = now
	rs.open = append(rs.open, r)
	rs.of[r.from]++
	if r.admitted != nil {
		close(r.admitted)
	}
	rs.lookAt(r.asked.Add(rs.late))
}

// leave gives the place of r to one that waits, or ends the waiting of r.
func (rs *readers) leave(r *reading) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if i := slices.Index(rs.waiting, r); i >= 0 {
		rs.waiting = slices.Delete(rs.waiting, i, i+1)
		return
	}
	i := slices.Index(rs.open, r)
	assert.That(i >= 0, "grpcdoor: a call leaves the readers that is not among them")
	rs.open = slices.Delete(rs.open, i, i+1)
	if rs.of[r.from]--; rs.of[r.from] == 0 {
		delete(rs.of, r.from)
	}
	if len(rs.waiting) == 0 {
		return
	}
	now := time.Now()
	if i := slices.IndexFunc(rs.waiting, rs.fits); i >= 0 {
		next := rs.waiting[i]
		rs.waiting = slices.Delete(rs.waiting, i, i+1)
		rs.admit(next, now)
	}
	rs.relieve(now)
}

// relieve has calls give way, the oldest first, to those that wait and whose source has places left. Caller holds mu.
func (rs *readers) relieve(now time.Time) {
	want := 0
	for _, r := range rs.waiting {
		if rs.of[r.from] < rs.each {
			want++
		}
	}
	for _, r := range rs.open[:min(want, len(rs.open))] {
		if r.ended {
			continue
		}
		if until := r.began.Add(rs.patience); until.After(now) {
			rs.lookAt(until)
			return
		}
		r.end(door.Refuse(door.Full, "the arguments have not arrived within %v, and other calls wait for their place", rs.patience))
	}
}

// end ends a reading before its message has arrived. Caller holds mu of the readers.
func (r *reading) end(err error) {
	r.ended = true
	r.got <- received{err: err}
}

// slow is the failure of a call that was not read in time.
func (rs *readers) slow() error {
	return door.Refuse(door.TimedOut, "the arguments have not arrived within %v", rs.late)
}

// lookAt has look called at a time, or before. Caller holds mu.
func (rs *readers) lookAt(t time.Time) {
	if !rs.looks.IsZero() && !rs.looks.After(t) {
		return
	}
	rs.looks = t
	if rs.timer == nil {
		rs.timer = time.AfterFunc(time.Until(t), rs.look)
		return
	}
	rs.timer.Reset(time.Until(t))
}

// look ends the readings that are late, and has others give way.
func (rs *readers) look() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.looks = time.Time{}
	now := time.Now()
	for _, r := range rs.open {
		switch until := r.asked.Add(rs.late); {
		case r.ended:
		case until.After(now):
			rs.lookAt(until)
		default:
			r.end(rs.slow())
		}
	}
	rs.relieve(now)
}
