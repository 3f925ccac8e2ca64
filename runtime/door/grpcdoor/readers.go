package grpcdoor

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
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

	mu      sync.Mutex
	open    []*reading // in the order in which they have begun
	waiting []*reading
	of      map[source]int // how many of open each has
	looks   time.Time      // when timer is due; the zero time: it is not set
	timer   *time.Timer    // has look called; one for all, as arguments are late that seldom
}

// source is where calls come from: a caller, or where callers are not known a connection.
type source struct {
	by     *access.Caller
	remote string
}

func sourceOf(q *gate.Request) source {
	if q.By == access.Anyone {
		return source{remote: q.Remote}
	}
	return source{by: q.By}
}

// reading is a call whose arguments are being read, or are to be.
type reading struct {
	from         source
	asked, began time.Time
	ended        bool          // it is late, or gives way
	admitted     chan struct{} // closed then; nil: at once
	got          chan received // has room for the message, and for the error that ends the reading before
}

type received struct {
	message
	err error
}

// enter asks for a place. Caller waits for admitted, and calls leave in any case.
func (rs *readers) enter(from source) *reading {
	r := &reading{from: from, asked: time.Now(), got: make(chan received, 2)}
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

// receive returns the message of a call. What it receives beyond the time that it has is not awaited: the receiver is free again
// when the call has ended.
func (s *Server) receive(ctx context.Context, stream grpc.ServerStream, q *gate.Request) ([]byte, error) {
	r := s.reading.enter(sourceOf(q))
	if r.admitted != nil {
		late := time.NewTimer(s.reading.late)
		defer late.Stop()
		select {
		case <-r.admitted:
		case <-late.C:
			s.reading.leave(r)
			return nil, s.reading.slow()
		case <-ctx.Done():
			s.reading.leave(r)
			return nil, door.Refuse(door.TimedOut, "the call has ended before its arguments have arrived")
		}
	}
	s.receivers.receive(job{&s.reading, r, stream})
	got := <-r.got
	return got.bytes, got.err
}

// receivers are goroutines that receive the messages of calls. Some are kept for the next call: a fresh one grows its stack first,
// which costs more than what it does.
type receivers struct {
	jobs chan job
	kept chan struct{} // has one for each that waits for a job
	done chan struct{} // closed when none is to wait any more
	end  func()        // closes it, and may be called again. Goroutines that receive end with their calls
}

// keptMax is how many goroutines wait for a job at the most.
const keptMax = 16

func newReceivers() receivers {
	done := make(chan struct{})
	return receivers{jobs: make(chan job), kept: make(chan struct{}, keptMax), done: done, end: sync.OnceFunc(func() { close(done) })}
}

// job is a call whose message is to be received.
type job struct {
	readers *readers
	of      *reading
	stream  grpc.ServerStream
}

func (j job) do() {
	defer j.readers.leave(j.of)
	var got received
	got.err = unread(j.stream.RecvMsg(&got.message))
	j.of.got <- got
}

// receive has a job done, and does not wait for it.
func (rs *receivers) receive(j job) {
	select {
	case rs.jobs <- j:
	default:
		go rs.work(j)
	}
}

func (rs *receivers) work(j job) {
	for {
		j.do()
		select {
		case rs.kept <- struct{}{}:
		default:
			return
		}
		select {
		case j = <-rs.jobs:
			<-rs.kept
		case <-rs.done:
			return
		}
	}
}
