package outbox

import (
	"bufio"
	"io"
	"sync"

	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Output lets lines and dead letters out of a system with a store, in the order of the commits,
// each when the journal is durable up to the position that its event has seen. A client's event
// is answered after that, and after its own lines.
type Output[O any] struct {
	cfg OutputConfig[O]
	out sched.Semaphore // held while output is let out; taken before mu. It is no mutex, as its holder waits
	mu  struct {
		sync.Mutex
		queue   []outgoing[O]
		last    uint64 // number of the last that was added
		left    uint64 // that of the last that is out
		running bool   // a worker is letting output out
	}
}

// OutputConfig says how output leaves.
type OutputConfig[O any] struct {
	Durable func(store.Position) bool
	Wait    func(store.Position) error // until it is durable; an error: it never will be
	Write   func(O)                    // writes one thing out, perhaps into a buffer
	Flush   func()                     // writes what Write has buffered
	Live    *sched.Pending             // counts what waits
	Workers *sched.Workers

	Scheduler *sched.Scheduler // nil: none
}

type outgoing[O any] struct {
	number uint64
	pos    store.Position
	what   O
}

// Open is called before the first use.
func (q *Output[O]) Open(cfg OutputConfig[O]) {
	q.cfg = cfg
	q.out.Open(1, cfg.Scheduler)
}

// Add queues output that leaves when everything up to pos is durable, and returns its number for Flush.
func (q *Output[O]) Add(what O, pos store.Position) uint64 {
	q.cfg.Live.Add(1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.last++
	q.mu.queue = append(q.mu.queue, outgoing[O]{q.mu.last, pos, what})
	return q.mu.last
}

// take returns the first in the queue, if its number is not above limit.
func (q *Output[O]) take(limit uint64) (o outgoing[O], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.mu.queue) == 0 || q.mu.queue[0].number > limit {
		return o, false
	}
	o, q.mu.queue[0] = q.mu.queue[0], outgoing[O]{}
	if q.mu.queue = q.mu.queue[1:]; len(q.mu.queue) == 0 {
		q.mu.queue = nil
	}
	return o, true
}

// Flush lets out everything up to a number, and returns when that has happened. When the
// store has failed nothing leaves any more.
func (q *Output[O]) Flush(limit uint64) {
	if limit == 0 {
		return
	}
	q.out.Acquire(0)
	defer q.out.Release()
	buffered, done, last := false, 0, uint64(0)
	for {
		o, ok := q.take(limit)
		if !ok {
			break
		}
		done, last = done+1, o.number
		if !q.cfg.Durable(o.pos) {
			if buffered {
				q.cfg.Flush() // before the wait for this one
				buffered = false
			}
			if q.cfg.Wait(o.pos) != nil {
				continue
			}
		}
		q.cfg.Write(o.what)
		buffered = true
	}
	if buffered {
		q.cfg.Flush()
	}
	if done > 0 {
		q.mu.Lock()
		q.mu.left = last
		q.mu.Unlock()
		q.cfg.Live.Add(-done)
	}
}

// FlushAll is Flush for all that was added by now.
func (q *Output[O]) FlushAll() {
	q.mu.Lock()
	last := q.mu.last
	if q.mu.left == last {
		last = 0
	}
	q.mu.Unlock()
	q.Flush(last)
}

// Start lets a worker flush what is queued.
func (q *Output[O]) Start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.running || len(q.mu.queue) == 0 {
		return
	}
	q.mu.running = true
	q.cfg.Workers.Run(q.drain)
}

func (q *Output[O]) drain() {
	for {
		q.mu.Lock()
		last := q.mu.last
		if len(q.mu.queue) == 0 {
			q.mu.running = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		q.Flush(last)
	}
}

// Queued calls f for the output that has not left, and returns the number of the last that was added. It is for tests.
func (q *Output[O]) Queued(f func(O)) (last uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.mu.queue {
		f(q.mu.queue[i].what)
	}
	return q.mu.last
}

// Lines collects lines in commit order and writes them outside of locks.
type Lines struct {
	mu struct {
		sync.Mutex
		lines []byte
	}
	write sync.Mutex // held while writing; taken before mu
	w     *bufio.Writer
}

// Open says where the lines go.
func (l *Lines) Open(w io.Writer) { l.w = bufio.NewWriter(w) }

// Add adds a line, which ends without a newline.
func (l *Lines) Add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.lines = append(append(l.mu.lines, line...), '\n')
}

// Flush writes the lines that were added.
func (l *Lines) Flush() {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	lines := l.mu.lines
	l.mu.lines = nil
	l.mu.Unlock()
	if len(lines) > 0 {
		_, _ = l.w.Write(lines)
		_ = l.w.Flush()
	}
}
