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
	mu        sync.Mutex
	open      []*reading // in the order in which they have begun
	waiting   []*reading
	of        map[source]int // how many of open each has
	looks     bool           // relieve will be called
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
	from     source
	began    time.Time
	ended    bool          // it gives way
	admitted chan struct{} // closed then; nil: at once
	got      chan received // has room for the message, and for the error that ends the reading before
}

type received struct {
	message
	err error
}

// enter asks for a place. Caller waits for admitted, and calls leave in any case.
func (rs *readers) enter(from source) *reading {
	r := &reading{from: from, got: make(chan received, 2)}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.fits(r) {
		rs.admit(r)
		return r
	}
	r.admitted = make(chan struct{})
	rs.waiting = append(rs.waiting, r)
	rs.relieve()
	return r
}

// fits reports whether there is a place for r. Caller holds mu.
func (rs *readers) fits(r *reading) bool { return len(rs.open) < rs.max && rs.of[r.from] < rs.each }

// admit gives r a place. Caller holds mu.
func (rs *readers) admit(r *reading) {
	r.began = time.Now()
	rs.open = append(rs.open, r)
	rs.of[r.from]++
	if r.admitted != nil {
		close(r.admitted)
	}
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
	if i := slices.IndexFunc(rs.waiting, rs.fits); i >= 0 {
		next := rs.waiting[i]
		rs.waiting = slices.Delete(rs.waiting, i, i+1)
		rs.admit(next)
	}
	rs.relieve()
}

// relieve has calls give way, the oldest first, to those that wait and whose source has places left. Caller holds mu.
func (rs *readers) relieve() {
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
		if young := rs.patience - time.Since(r.began); young > 0 {
			rs.look(young)
			return
		}
		r.ended = true
		r.got <- received{err: door.Refuse(door.Full, "the arguments have not arrived within %v, and other calls wait for their place", rs.patience)}
	}
}

// look has relieve called after a time. Caller holds mu.
func (rs *readers) look(after time.Duration) {
	if rs.looks {
		return
	}
	rs.looks = true
	time.AfterFunc(after, func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.looks = false
		rs.relieve()
	})
}

// receive returns the message of a call. What it receives beyond the time that it has is not awaited: the goroutine ends with
// the call.
func (s *Server) receive(ctx context.Context, stream grpc.ServerStream, q *gate.Request) ([]byte, error) {
	late := time.NewTimer(argsTime)
	defer late.Stop()
	slow := func() error {
		return door.Refuse(door.TimedOut, "the arguments have not arrived within %v", argsTime)
	}
	r := s.reading.enter(sourceOf(q))
	if r.admitted != nil {
		select {
		case <-r.admitted:
		case <-late.C:
			s.reading.leave(r)
			return nil, slow()
		case <-ctx.Done():
			s.reading.leave(r)
			return nil, door.Refuse(door.TimedOut, "the call has ended before its arguments have arrived")
		}
	}
	go func() {
		defer s.reading.leave(r)
		var got received
		got.err = unread(stream.RecvMsg(&got.message))
		r.got <- got
	}()
	select {
	case got := <-r.got:
		return got.bytes, got.err
	case <-late.C:
		return nil, slow()
	}
}
