package spec

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/aeon-lang/aeon/typecheck"
)

// digest is a fingerprint of 128 bits. Digests of the members of a set are added, so that
// their order does not matter.
type digest struct{ a, b uint64 }

func (d digest) plus(e digest) digest { return digest{d.a + e.a, d.b + e.b} }

// encoder collects bytes that tell one thing from another: everything begins with a tag,
// and with its length where that varies.
type encoder struct{ buf []byte }

func (w *encoder) digest() digest {
	sum := sha256.Sum256(w.buf)
	return digest{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}

func (w *encoder) tag(b byte)       { w.buf = append(w.buf, b) }
func (w *encoder) uint(n uint64)    { w.buf = binary.LittleEndian.AppendUint64(w.buf, n) }
func (w *encoder) id(id eventID)    { w.uint(id.origin); w.uint(id.seq) }
func (w *encoder) sum(d digest)     { w.uint(d.a); w.uint(d.b) }
func (w *encoder) string(s string)  { w.uint(uint64(len(s))); w.buf = append(w.buf, s...) }
func (w *encoder) bool(b bool)      { w.tag(byte(boolInt(b))) }
func (w *encoder) values(l []value) { w.uint(uint64(len(l))); each(l, w.value) }

func each[T any](list []T, f func(T)) {
	for _, x := range list {
		f(x)
	}
}

func (w *encoder) value(v value) {
	for left := []value{v}; len(left) > 0; {
		v, left = left[len(left)-1], left[:len(left)-1]
		w.head(v)
		left = push(left, parts(v)...)
	}
}

// head writes what of v is none of its parts.
func (w *encoder) head(v value) {
	switch v := v.(type) {
	case nil:
		w.tag(0)
	case bool:
		w.tag(1)
		w.bool(v)
	case integer:
		w.tag(2)
		w.uint(uint64(v.bits))
	case float64:
		w.tag(3)
		w.uint(math.Float64bits(v))
	case string:
		w.tag(4)
		w.string(v)
	case byteString:
		w.tag(5)
		w.string(string(v))
	case instant:
		w.tag(6)
		w.uint(uint64(v))
	case span:
		w.tag(7)
		w.uint(uint64(v))
	case enumValue:
		w.tag(8)
		w.uint(uint64(v.of.Index))
		if v.payload != nil {
			w.uint(uint64(len(v.payload.elems)))
		}
	case *structure:
		w.tag(9)
		w.uint(uint64(len(v.fields)))
	case *vector:
		w.tag(10)
		w.uint(uint64(len(v.elems)))
	case *table:
		w.tag(11)
		w.uint(uint64(len(v.entries)))
	case *rows:
		w.tag(15)
		w.uint(uint64(len(v.list)))
	case actorRef:
		w.tag(12)
		w.id(v.who.id)
	case clientRef:
		w.tag(13)
		w.id(v.id)
	case pendingRef:
		w.tag(14)
		w.id(v.id)
	case goHandle:
		w.tag(16)
		w.string(string(v))
	default:
		panic(bug{"a value without a fingerprint"})
	}
}

func (l *line) digest() digest {
	w := &encoder{}
	if l.before != nil {
		w.sum(l.before.sum)
	}
	w.string(l.text)
	return w.digest()
}

func (r *reply) digest() digest {
	w := &encoder{}
	w.sum(r.before.sum)
	switch v := r.value.(type) {
	case result:
		w.result(v)
	case *identity:
		w.id(v.id)
	default:
		w.value(v)
	}
	return w.digest()
}

func (w *encoder) result(r result) {
	w.bool(r.failure != nil)
	if r.failure != nil {
		w.string(r.failure.Msg)
		w.bool(r.failure.Assert)
	} else {
		w.value(r.value)
	}
}

func (c *cause) digest() digest {
	if c == nil || c.sum != (digest{}) {
		if c == nil {
			return digest{}
		}
		return c.sum
	}
	w := &encoder{}
	w.tag(byte(c.key.kind))
	w.id(c.key.id)
	var from digest
	for _, f := range c.from {
		from = from.plus(f.digest())
	}
	w.sum(from)
	c.sum = w.digest()
	return c.sum
}

// sum returns a fingerprint of the actor. keys says that the program can see the order of some actors, which is that of their partitions first: what an actor
// makes is born in its own, so all count. key says that it can see the order of this one.
func (a *actor) sum(keys, key bool) digest {
	if a.digest != (digest{}) {
		return a.digest
	}
	w := &encoder{}
	w.id(a.who.id)
	w.class(a.who.class)
	w.bool(a.deleted)
	if keys {
		w.uint(a.who.birth)
	}
	if key {
		w.uint(a.who.serial)
	}
	if !a.deleted {
		w.values(a.fields)
	}
	a.digest = w.digest()
	return a.digest
}

// Digest returns a fingerprint of the state. Machines of one program and entry with the
// same fingerprint have the same future, except for what they may yet print if
// Options.Observe is not set.
func (m *Machine) Digest() [2]uint64 {
	st := m.st
	var all digest
	add := func(tag byte, f func(w *encoder)) {
		w := &encoder{}
		w.tag(tag)
		f(w)
		all = all.plus(w.digest())
	}
	for _, a := range st.actors {
		if a.born || a.deleted {
			all = all.plus(a.sum(len(m.p.keys) > 0, m.p.keys[a.who.class]))
		}
	}
	for key, n := range st.lost {
		add(1, func(w *encoder) {
			w.class(key.class)
			w.string(key.name)
			w.uint(uint64(n))
		})
	}
	for _, i := range st.issued {
		add(2, func(w *encoder) { w.issue(i) })
	}
	for _, l := range st.lanes {
		add(3, func(w *encoder) {
			w.id(l.issuer.id)
			w.id(l.target.id)
			each(l.queue, func(e *subEvent) {
				w.id(e.id)
				w.string(e.method.Name())
				w.values(e.args)
				w.id(e.timer)
				w.chain(e.chain)
			})
		})
	}
	for _, k := range st.kept {
		add(8, func(w *encoder) {
			w.id(k.who.id)
			w.id(k.step.id)
			w.string(k.step.method.Name())
			w.values(k.step.args)
			w.chain(k.step.chain)
		})
	}
	for _, c := range st.effects {
		add(10, func(w *encoder) { w.effect(c) })
	}
	for id, r := range st.results {
		add(4, func(w *encoder) { w.id(id); w.result(r); w.bool(r.awaited); w.who(r.target); w.method(r.method) })
	}
	for id := range st.called {
		add(9, func(w *encoder) { w.id(id) })
	}
	for id, o := range st.objects {
		add(5, func(w *encoder) { w.id(id); w.class(o.class); w.values(o.fields) })
	}
	add(6, func(w *encoder) {
		w.uint(uint64(st.clock))
		w.counters(st.callbackCounters)
		each(st.mailbox, func(c *callback) { w.id(c.object.id); w.string(c.method.Name()); w.values(c.args); w.id(c.timer) })
		w.tag(0)
		each(st.threads, func(t *thread) { w.thread(t) })
		w.timers(st)
		if m.opts.Observe {
			if st.output != nil {
				w.sum(st.output.sum)
			}
			w.tag(1)
			each(st.failures, func(f *Failure) { w.string(f.Msg); w.string(f.Trace()) })
		}
	})
	if m.opts.Observe {
		m.letters(func(l Letter) {
			add(7, func(w *encoder) { w.string(l.Target); w.string(l.Method); w.string(l.Failure.Msg) })
		})
	}
	return [2]uint64{all.a, all.b}
}

func (w *encoder) effect(c *effectCall) {
	w.id(c.id)
	w.id(c.issuer.id)
	w.string(c.call.Call.Name())
	w.uint(uint64(c.left))
	w.uint(uint64(c.tried))
	w.values(c.then)
}

// issue encodes an event of a client. Its id tells what it is only if main has issued it: a callback
// numbers on from those before, so that in another order another event has the id.
func (w *encoder) issue(i *issue) {
	w.id(i.id)
	w.tag(byte(i.kind))
	w.who(i.target)
	w.class(i.class)
	w.method(i.method)
	w.values(i.args)
	w.bool(i.sent)
}

func (w *encoder) chain(c *chain) {
	if c != nil {
		w.id(c.first)
		if c.issue != nil {
			w.issue(c.issue)
		}
	}
}

func (w *encoder) who(a *identity) {
	w.bool(a != nil)
	if a != nil {
		w.id(a.id)
	}
}

func (w *encoder) class(c *typecheck.Class) {
	w.bool(c != nil)
	if c != nil {
		w.string(c.Pkg.Name)
		w.string(c.Name())
	}
}

func (w *encoder) method(m *typecheck.Func) {
	w.bool(m != nil)
	if m != nil {
		w.string(m.Name())
	}
}

func (w *encoder) counters(c counters) { w.uint(c.events); w.uint(c.draws); w.uint(c.objects) }

func (w *encoder) thread(t *thread) {
	w.uint(t.session)
	w.counters(t.first)
	w.sum(t.log.sum)
	w.bool(t.ended)
	w.bool(t.failure != nil)
	if t.callback != nil {
		w.id(t.callback.object.id)
		w.string(t.callback.method.Name())
		w.values(t.callback.args)
		w.id(t.callback.timer)
	}
}

// timers encodes the timers in the order in which they will fire. Where some are periodic,
// the order in which they were set counts as well: a periodic timer is due together with
// others later.
func (w *encoder) timers(st *state) {
	var generations []uint64
	one := func(t *timer) {
		w.id(t.id)
		w.id(t.issuer.id)
		w.uint(uint64(t.due))
		w.uint(uint64(t.every))
		w.uint(uint64(t.tick))
		w.bool(t.off)
		w.string(t.name)
		w.string(t.method.Name())
		if t.target != nil {
			w.id(t.target.id)
		}
		if t.object != nil {
			w.id(t.object.id)
		}
		if t.again != nil {
			w.effect(t.again)
		}
		w.values(t.args) // they may differ though the events that set them have left the same state
		if t.every > 0 {
			for _, o := range st.timers {
				generations = append(generations, o.generation)
			}
		}
	}
	each(st.timers, one)
	w.tag(1)
	each(st.fired, one)
	w.tag(2)
	if generations != nil {
		slices.Sort(generations)
		generations = slices.Compact(generations)
		for _, t := range st.timers {
			w.uint(uint64(slices.Index(generations, t.generation)))
		}
	}
	var busy digest
	for id, n := range st.busy {
		b := &encoder{}
		b.id(id)
		b.uint(uint64(n))
		busy = busy.plus(b.digest())
	}
	w.sum(busy)
}

// letters calls f for the dead letters so far.
func (m *Machine) letters(f func(Letter)) {
	each(m.st.letters, f)
}
