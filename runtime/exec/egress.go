package exec

import (
	"sync"

	"github.com/aeon-lang/aeon/runtime/store"
)

// egress is where lines and dead letters leave a system with a store: in the order of the
// commits, each when the journal is durable up to what its event has seen. A client's event
// waits for that, and for its own lines, before it is answered.
type egress struct {
	sys *System
	out sync.Mutex // held while things are let out; taken before mu
	mu  struct {
		sync.Mutex
		queue   []outgoing
		last    uint64 // number of the last that was added
		running bool   // a worker is letting things out
	}
}

// outgoing is a line, a line of the log, or a dead letter.
type outgoing struct {
	number uint64
	pos    store.Position
	kind   opKind // opPrint or opLog; else failure
	text   string
	attrs  []any
	failed *failure
}

// add queues o, and returns its number for flush.
func (e *egress) add(o outgoing) uint64 {
	e.sys.live.Add(1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.last++
	o.number = e.mu.last
	e.mu.queue = append(e.mu.queue, o)
	return o.number
}

// print is a line of a client: it comes behind those of the events that the client has seen.
func (e *egress) print(text string) {
	n := e.add(outgoing{kind: opPrint, text: text})
	if e.sys.durable.answersWait {
		e.flush(n)
	} else {
		e.start()
	}
}

// take returns the first in the queue, if its number is not above limit.
func (e *egress) take(limit uint64) (o outgoing, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.mu.queue) == 0 || e.mu.queue[0].number > limit {
		return o, false
	}
	o, e.mu.queue[0] = e.mu.queue[0], outgoing{}
	if e.mu.queue = e.mu.queue[1:]; len(e.mu.queue) == 0 {
		e.mu.queue = nil
	}
	return o, true
}

// flush lets out everything up to a number, and returns when that has happened. When the
// store has failed nothing leaves any more.
func (e *egress) flush(limit uint64) {
	if limit == 0 {
		return
	}
	e.out.Lock()
	defer e.out.Unlock()
	lines, done := false, 0
	for {
		o, ok := e.take(limit)
		if !ok {
			break
		}
		done++
		if !e.sys.durable.Journal.Durable(o.pos) {
			if lines {
				e.sys.out.flush() // while this one waits
				lines = false
			}
			if e.sys.durable.Wait(o.pos) != nil {
				continue
			}
		}
		switch {
		case o.failed != nil:
			e.sys.logDeadLetter(*o.failed)
		case o.kind == opLog:
			e.sys.log.Info(o.text, o.attrs...)
		default:
			e.sys.out.add(o.text)
			lines = true
		}
	}
	if lines {
		e.sys.out.flush()
	}
	e.sys.live.Add(-done)
}

// start lets a worker flush what is queued.
func (e *egress) start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.running || len(e.mu.queue) == 0 {
		return
	}
	e.mu.running = true
	e.sys.workers.Run(e.drain)
}

func (e *egress) drain() {
	for {
		e.mu.Lock()
		last := e.mu.last
		if len(e.mu.queue) == 0 {
			e.mu.running = false
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		e.flush(last)
	}
}
