package exec

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/order"
)

// issueOrder is [ISSUE-ORDER]: the events that a client has issued to one target stand in a line. The first
// of a line runs; the next one is admitted when it has committed or failed. An event that its caller awaits on
// the spot joins a line that is there, and makes none: the client does nothing before it has ended.
type issueOrder struct {
	// open counts the turns that are not over. A turn counts before its event has an id, so that a
	// later id of the client finds it counted.
	open atomic.Int64
	mu   struct {
		sync.Mutex                           // a leaf
		lines      map[*order.Handle][]*turn // by target; the first of each has its turn
	}
}

// turn is the place of an event in a line.
type turn struct {
	order  *issueOrder
	target *order.Handle
	job    func()        // performs the event in a worker; nil for an event that its caller awaits
	ready  chan struct{} // closed when the turn of such an event has come
	state  turnState     // guarded by order.mu
}

type turnState uint8

const (
	waits    turnState = iota
	first              // of its line
	outside            // it was cancelled while it waited, and left its line: what has no effect has no order
	finished           // the event has ended, or was refused
)

// join puts t at the end of the line to its target, calls placed in the order of the line, and reports whether t is the
// first.
func (o *issueOrder) join(t *turn, placed func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	placed()
	return o.append(t)
}

func (o *issueOrder) append(t *turn) bool {
	if o.mu.lines == nil {
		o.mu.lines = make(map[*order.Handle][]*turn)
	}
	line := append(o.mu.lines[t.target], t)
	o.mu.lines[t.target] = line
	if len(line) == 1 {
		t.state = first
	}
	return len(line) == 1
}

// await waits for the turn of an event to target that its caller awaits, and returns it. It is nil if no
// event to that target is outstanding, which costs the event one load.
func (cl *Client) await(target *order.Handle) *turn {
	if cl.order.open.Load() == 0 {
		return nil
	}
	return cl.inLine(target)
}

// inLine is await while events of the client are outstanding. It is apart so that await is inlined.
func (cl *Client) inLine(target *order.Handle) *turn {
	o := &cl.order
	o.mu.Lock()
	if len(o.mu.lines[target]) == 0 {
		o.mu.Unlock()
		return nil
	}
	t := &turn{order: o, target: target, ready: make(chan struct{})}
	o.open.Add(1)
	o.append(t)
	o.mu.Unlock()
	cl.sys.scheduler.Wait(t.ready)
	return t
}

// leave ends the turn, which may be nil or over, and begins the next of the line.
func (t *turn) leave(s *System) {
	if t != nil {
		t.end(s)
	}
}

// end is leave for a turn that is not nil. It is apart so that leave is inlined.
func (t *turn) end(s *System) {
	if next := t.pass(); next == nil {
	} else if next.job == nil {
		close(next.ready)
	} else {
		s.workers.Run(next.job)
	}
}

// pass ends the turn and returns the next of the line, nil if there is none.
func (t *turn) pass() *turn {
	o := t.order
	o.mu.Lock()
	defer o.mu.Unlock()
	was := t.state
	t.state = finished
	if was == finished {
		return nil
	}
	o.open.Add(-1)
	if was != first {
		return nil
	}
	line := o.mu.lines[t.target][1:]
	if len(line) == 0 {
		delete(o.mu.lines, t.target)
		return nil
	}
	o.mu.lines[t.target] = line
	line[0].state = first
	return line[0]
}

// hurry lets a cancelled event that waits for its turn end without it, and reports whether it waited.
func (t *turn) hurry() bool {
	o := t.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if t.state != waits {
		return false
	}
	t.state = outside
	line := o.mu.lines[t.target]
	o.mu.lines[t.target] = slices.DeleteFunc(line, func(u *turn) bool { return u == t })
	return true
}
