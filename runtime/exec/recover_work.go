package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

func isClass(err error) bool { return errors.Is(err, ErrClass) }

// calls calls f for every call that waits in a section, with the rest of its key and of its payload. Calls
// that the program cannot read are counted instead.
func (r *recovery) calls(section store.Section, keyMin int, f func(p event.PartitionID, key []byte, sig *storedSignature, in *payloadReader) error) error {
	for p := range r.s.host.Partitions {
		err := r.rows(event.PartitionID(p), section, keyMin, func(key, payload []byte) error {
			in := payloadReader{rest: payload}
			sig, err := r.d.signatures.waiting(uint32(in.uint()))
			if sig == nil {
				return err
			}
			return f(event.PartitionID(p), key, sig, &in)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// args reads the arguments of a call, which are the rest of its row.
func (r *recovery) args(in *payloadReader, m *Method) (order.Args, error) {
	if in.bad {
		return nil, in.end()
	}
	if len(in.rest) == 0 {
		return nil, nil
	}
	args := m.NewArgs()
	dec := codec.NewDecoder(in.rest)
	dec.Context = r.s
	args.(argsCodec).Decode(dec)
	return args, dec.Close()
}

// outbox reads the sub-events that have not ended into their lanes. Nobody runs them yet.
func (r *recovery) outbox() error {
	return r.calls(store.Outbox, 26, func(p event.PartitionID, key []byte, sig *storedSignature, in *payloadReader) error {
		h := r.d.resolve(event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(key)})
		e, err := r.subEvent(sig.method, in, h)
		if err != nil {
			return err
		}
		e.target, e.seq = r.d.resolve(actorInKey(key[8:])), binary.BigEndian.Uint64(key[18:])
		r.live++
		r.d.found.SubEvents++
		if l := r.s.lanes.push(r.s, h, e); l != nil {
			r.lanes = append(r.lanes, l)
		}
		return nil
	})
}

// subEvent reads a sub-event, or the next step of a chain.
func (r *recovery) subEvent(m *Method, in *payloadReader, issuer *order.Handle) (e subEvent, err error) {
	parent, index, generation := in.event(), int(in.uint()), in.uint()
	kind := trace.Sub
	if in.byte() != 0 {
		kind = trace.Tail
		if e.chain, err = r.chain(in); err != nil {
			return e, err
		}
	}
	e.id, e.method = parent.Child(index), m
	e.from = r.s.restored(kind, parent, issuer, index)
	if e.args, err = r.args(in, m); err != nil {
		return e, err
	}
	if t := r.timers[generation]; generation != 0 && t != nil {
		e.timer = t
		t.firings++ // its next tick waits for this one
	}
	return e, nil
}

// chain reads what a step knows of its chain, and lets repetitions of the request that began
// it wait for its end.
func (r *recovery) chain(in *payloadReader) (*chain, error) {
	ch := &chain{sys: r.s, first: in.event()}
	r.live++
	r.s.live.Add(1)
	if in.byte() == 0 {
		return ch, nil
	}
	name, seq, target := in.text(), in.uint(), in.actor()
	x := r.d.sessions.mu.byName[name]
	if x == nil {
		return nil, fmt.Errorf("its session %q is missing", name)
	}
	x.mu.running[seq] = make(chan struct{})
	ch.request = &request{session: x, seq: seq, target: target, claimed: true}
	ch.orphan = true
	return ch, nil
}

// continuations reads the steps of chains that keep their actors: no other event touches these
// before the steps have run.
func (r *recovery) continuations() error {
	return r.calls(store.Continuations, 16, func(p event.PartitionID, key []byte, sig *storedSignature, in *payloadReader) error {
		h := r.d.resolve(event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(key)})
		e, err := r.subEvent(sig.method, in, h)
		if err != nil {
			return err
		}
		if e.chain == nil {
			return errors.New("it belongs to no chain")
		}
		e.chain.keep(h)
		r.steps = append(r.steps, tailStep{id: e.id, target: h, method: e.method, args: e.args, keep: true, from: e.from,
			seq: binary.BigEndian.Uint64(key[8:])})
		r.chains = append(r.chains, e.chain)
		r.d.found.Continuations++
		return nil
	})
}

// setTimers reads the timers.
func (r *recovery) setTimers() error {
	ts := &r.s.timers
	now := r.s.clock.Now()
	r.timers = make(map[uint64]*timer)
	return r.calls(store.Timers, 16, func(_ event.PartitionID, key []byte, sig *storedSignature, in *payloadReader) error {
		t, err := r.timer(key, sig, in)
		if err != nil {
			return err
		}
		r.timers[t.generation] = t
		r.d.found.Timers++
		ts.mu.Lock()
		defer ts.mu.Unlock()
		_, sim := r.s.clock.(*sched.SimClock)
		t.late = !sim && !t.due.After(now)
		ts.enter(t)
		return nil
	})
}

// timer reads one timer.
func (r *recovery) timer(key []byte, sig *storedSignature, in *payloadReader) (*timer, error) {
	t := &timer{stored: int64(binary.BigEndian.Uint64(key) ^ 1<<63), generation: binary.BigEndian.Uint64(key[8:]), method: sig.method, signature: sig.Number}
	t.tick = in.uint()
	t.payload = append([]byte(nil), in.rest...)
	parent := in.event()
	issuer := in.actor()
	t.name = in.text()
	target := in.actor()
	every, size := binary.Varint(in.rest)
	if size <= 0 || in.bad {
		return nil, errors.New("it ends too early")
	}
	in.rest = in.rest[size:]
	var err error
	if t.args, err = r.args(in, t.method); err != nil {
		return nil, err
	}
	t.issuer = r.d.resolve(issuer)
	if err := r.d.Attach(t.issuer); err != nil {
		return nil, err
	}
	if t.issuer.Is(order.Deleted) {
		return nil, fmt.Errorf("its issuer %v is missing", issuer)
	}
	t.from = r.s.restored(trace.Timer, parent, t.issuer, 0)
	t.target, t.every, t.due = r.d.resolve(target), time.Duration(every), time.Unix(0, t.stored)
	return t, nil
}

// enter puts a timer into the heap. Caller holds mu.
func (ts *timers) enter(t *timer) {
	if t.every == 0 {
		ts.mu.oneShots++
	}
	if t.name != "" {
		ts.mu.named[timerKey{t.issuer, t.name}] = t
	}
	ts.list(t)
	ts.queue(t)
}

// list notes that t is not off. Caller holds mu.
func (ts *timers) list(t *timer) {
	if t.next = ts.mu.first[t.issuer]; t.next != nil {
		t.next.prev = t
	}
	ts.mu.first[t.issuer] = t
	t.issuer.Mark(order.MarkTimed, true)
}

// unlist notes that t is off. An actor whose last timer that was may be detached. Caller holds mu.
func (ts *timers) unlist(t *timer) {
	if t.next != nil {
		t.next.prev = t.prev
	}
	switch {
	case t.prev != nil:
		t.prev.next = t.next
	case t.next != nil:
		ts.mu.first[t.issuer] = t.next
	default:
		delete(ts.mu.first, t.issuer)
		t.issuer.Mark(order.MarkTimed, false)
	}
	t.next, t.prev = nil, nil
}

// forgetRows removes the rows of the timers of an actor that an event deletes.
func (ts *timers) forgetRows(w *preparation, issuer *order.Handle) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for t := ts.mu.first[issuer]; t != nil; t = t.next {
		w.unset(t)
	}
}
