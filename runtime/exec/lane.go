package exec

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
)

// subEvent is an event that waits for its turn in a lane.
type subEvent struct {
	id     event.EventID
	target *order.Handle
	method *Method
	args   order.Args
	timer  *timer         // that has fired it, if one has
	from   *origin        // traced systems only
	chain  *chain         // that it is a step of, but not the first
	seq    uint64         // in the outbox of a system with a store
	pos    store.Position // of the event that has issued it
}

// lane is the queue of the sub-events of one issuer to one target. The next one is
// admitted when the one before has ended. It exists while it has any.
type lane struct {
	key   laneKey
	queue []subEvent
	head  int
}

type laneKey struct {
	issuer, target *order.Handle
	firing         bool // the firings of the issuer's timers, which wait for each other alone
}

// lanes holds all lanes. A lane is filled by events that hold the issuer, so its order
// is their commit order, then program order.
type lanes struct{ shard.Set[laneShard] }

type laneShard struct {
	mu struct {
		sync.Mutex
		byKey map[laneKey]*lane
	}
}

func (ls *lanes) shard(k laneKey) *laneShard {
	return ls.Of(k.issuer.ID.Serial + k.target.ID.Serial*0x9e3779b9)
}

// push appends a sub-event and returns the lane if the caller has to start it.
func (ls *lanes) push(s *System, issuer *order.Handle, e subEvent) (start *lane) {
	s.live.Add(1)
	k := laneKey{issuer, e.target, e.method == &methodFire}
	sh := ls.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	l := sh.mu.byKey[k]
	if l == nil {
		l = &lane{key: k}
		if sh.mu.byKey == nil {
			sh.mu.byKey = make(map[laneKey]*lane)
		}
		sh.mu.byKey[k] = l
		start = l
	}
	if l.head > len(l.queue)/2 { // the lane of a busy target may never be empty
		n := copy(l.queue, l.queue[l.head:])
		clear(l.queue[n:])
		l.queue, l.head = l.queue[:n], 0
	}
	l.queue = append(l.queue, e)
	return start
}

// next takes the head of the lane; a lane without one is gone.
func (ls *lanes) next(l *lane) (e subEvent, ok bool) {
	sh := ls.shard(l.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if l.head == len(l.queue) {
		delete(sh.mu.byKey, l.key)
		return e, false
	}
	e = l.queue[l.head]
	l.queue[l.head] = subEvent{}
	if l.head++; l.head == len(l.queue) {
		l.queue, l.head = l.queue[:0], 0
	}
	return e, true
}

// more reports whether the lane holds anything; one that does not is gone.
func (ls *lanes) more(l *lane) bool {
	sh := ls.shard(l.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if l.head < len(l.queue) {
		return true
	}
	delete(sh.mu.byKey, l.key)
	return false
}

// drain runs the sub-events of a lane until there is none left.
func (s *System) drain(l *lane) {
	finished := false
	var e subEvent
	var ev *Event
	defer func() {
		if !finished { // runtime.Goexit in an event: its worker is going away
			err := &AbortError{Msg: msgGoexit, Event: e.id, Fault: true}
			if e.chain != nil {
				e.chain.end(ev, err)
			} else {
				s.deadLetter(failure{id: e.id, target: e.target, method: e.method, err: err, pos: ev.maxPos})
			}
			s.timers.fired(e.timer)
			s.live.Add(-1)
			s.workers.Run(func() { s.drain(l) })
		}
	}()
	for {
		var ok bool
		if e, ok = s.lanes.next(l); !ok {
			finished = true
			return
		}
		if s.postpones(e.seq, l.key.firing) {
			s.postpone(e, l.key.firing)
			continue
		}
		ev = s.takeEvent(s.inner, e.id, e.target, e.method, e.args)
		ev.from, ev.maxPos = e.from, e.pos
		ev.stepOf(e.chain)
		if !l.key.firing && s.durable != nil {
			ev.issuer, ev.outSeq = l.key.issuer, e.seq
		}
		err := ev.perform()
		if err == ErrClosed {
			s.giveBack(ev)
			s.postpone(e, l.key.firing)
			continue
		}
		// With its issuer, a timer is gone.
		if ev.chain != nil {
			s.stepped(ev, err)
		} else if err != nil && !(l.key.firing && e.target.Is(order.Deleted)) {
			s.deadLetter(failure{id: e.id, target: e.target, method: e.method, err: err, pos: ev.maxPos})
		}
		s.giveBack(ev)
		s.timers.fired(e.timer)
		s.live.Add(-1)
	}
}

// postpone leaves a sub-event, or a firing, to the next opening of the store, where its row is.
func (s *System) postpone(e subEvent, firing bool) {
	s.postponed.Add(1)
	if e.chain != nil {
		e.chain.postpone(e.pos)
	}
	if firing {
		s.timers.postponed(e.timer)
	} else {
		s.timers.fired(e.timer)
	}
	s.live.Add(-1)
}
