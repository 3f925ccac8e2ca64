package exec

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// What follows from the commits of the random workload: sub-events, timers and callbacks,
// and the named actors that some of them go to.

// wout is one thing that a call has issued.
type wout struct {
	op    wop
	to    *order.Handle // of an event
	name  string        // of a timer
	after time.Duration
	args  *wargs // of an event
	call  *wcall // of a callback
	at    time.Time
}

// work returns the arguments of the event or callback of o, which identify it.
func (o *wout) work() any {
	if o.call != nil {
		return o.call
	}
	return o.args
}

// wcall is the argument of a callback. The callback awaits an event if args is set.
type wcall struct {
	screen *wscreen
	to     wref
	args   *wargs
}

// wscreen is a client object, wsession the client that it belongs to.
type wscreen struct {
	ClientObject
	ref     ClientRef
	session *wsession
}

type wsession struct {
	client  *Client
	screens [2]wscreen
	seen    []*wcall // callbacks run one at a time
	closed  bool
}

// methodNamed constructs the nodes that have names.
var methodNamed = Method{Class: &classNode, Name: "Named", Effects: order.Effects{Self: order.Write}}

const namedValue = 1000

var methodShow = ClientMethod{Class: "Screen", Name: "show", Run: func(cl *Client, self any, args order.Args) {
	s, c := self.(*wscreen), args.(*wcall)
	s.session.seen = append(s.session.seen, c)
	if c.args != nil {
		_ = cl.Await(c.to.Ref, &methodLocal, c.args)
	}
}}

func init() {
	methodNamed.NewArgs = func() order.Args { return &wargs{} }
	methodNamed.Run = func(cx *Cx, self any, _ order.Args) { self.(*wnode).set(cx, namedValue) }
}

func newSession(s *System) *wsession {
	w := &wsession{client: s.Client()}
	for i := range w.screens {
		sc := &w.screens[i]
		sc.session = w
		sc.ref = NewClientObject(w.client, &sc.ClientObject, sc)
	}
	return w
}

// out notes an event that n issues and returns its arguments.
func (n *wnode) out(x *wargs, st wstep, to order.Ref) *wargs {
	y := &wargs{steps: st.sub, lane: [2]*order.Handle{order.HandleOf(n.Self.Ref()), order.HandleOf(to)}}
	x.outs = append(x.outs, &wout{op: st.op, to: order.HandleOf(to), args: y})
	return y
}

// last completes and returns the last of outs.
func (x *wargs) last(cx *Cx, st wstep) *wout {
	o := x.outs[len(x.outs)-1]
	o.name, o.after, o.at = st.name, time.Duration(st.n)*time.Millisecond, eventOf(cx).sys.clock.Now()
	return o
}

// follow takes a step that issues something for later.
func (n *wnode) follow(cx *Cx, x *wargs, st wstep, to wref) {
	if to.IsNull() {
		to = wref{n.Self.Ref()}
	}
	switch st.op {
	case wEmitNamed:
		r := Named(cx, &classNode, st.name)
		y := n.out(x, st, r)
		cx.Emit(r, &methodLocal, y)
	case wAfter:
		y := n.out(x, st, to.Ref)
		cx.EmitAfter(to.Ref, &methodLocal, y, x.last(cx, st).after, st.name)
	case wEvery:
		y := n.out(x, st, to.Ref)
		cx.EmitEvery(to.Ref, &methodLocal, y, x.last(cx, st).after, st.name)
	case wCancel:
		x.outs = append(x.outs, &wout{op: st.op})
		cx.Cancel(x.last(cx, st).name)
	case wShow, wShowAfter:
		c := &wcall{screen: st.to, to: st.ref}
		if !st.ref.IsNull() {
			c.args = &wargs{steps: st.sub}
		}
		x.outs = append(x.outs, &wout{op: st.op, call: c})
		if o := x.last(cx, st); st.op == wShow {
			cx.Callback(st.to.ref, &methodShow, c)
		} else {
			cx.CallbackAfter(st.to.ref, &methodShow, c, o.after, st.name)
		}
	}
}

// recorder keeps the trace of a workload, and when its timers fired.
type recorder struct {
	clock sched.Clock
	exact bool // time stands still while anything runs
	mu    sync.Mutex
	list  []*traced
	fired map[*traced]firing
}

// firing is the time at which a timer has fired, and the time at which it was due.
type firing struct{ now, due time.Time }

// Ended is a trace.Func.
func (r *recorder) Ended(t *traced) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, t)
	if f, ok := t.Args.(*fireArgs); ok {
		r.fired[t] = firing{r.clock.Now(), f.ts.DueOf(f.t)}
	}
}

// sorted returns the events in their order.
func (r *recorder) sorted() []*traced {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.list)
	slices.SortFunc(list, func(a, b *traced) int { return cmp.Compare(a.Order, b.Order) })
	return list
}

// mtimer is a timer in the model.
type mtimer struct {
	key    [2]string // issuer and name; no name is in no table
	out    *wout
	over   bool
	last   time.Time // of the firings so far
	firing int
}

// commit does what an event has issued: deletions first, which end timers.
func (m *model) commit() {
	for _, id := range m.buried {
		for _, t := range m.timers {
			if t.key[0] == string(id) {
				m.end(t)
			}
		}
	}
	for _, f := range m.sent {
		f()
	}
}

func (m *model) end(t *mtimer) {
	t.over = true
	if m.named[t.key] == t {
		delete(m.named, t.key)
	}
}

// follow does what actor id has issued.
func (m *model) follow(id mkey, o *wout) {
	key := [2]string{string(id), o.name}
	switch o.op {
	case wEmit, wEmitNamed, wTail:
		m.queue(o)
	case wKeep:
		m.kept[id] = o.args
	case wShow:
		m.box(o.call)
	case wCancel:
		if t := m.named[key]; t != nil {
			m.end(t)
		}
	case wAfter, wEvery, wShowAfter:
		if m.nodes[id].deleted {
			return // a deleted actor has no timers
		}
		if t := m.named[key]; t != nil {
			m.end(t)
		}
		t := &mtimer{key: key, out: o}
		m.timers[o.work()] = t
		if o.name != "" {
			m.named[key] = t
		}
	}
}

// queue puts an event into its lane.
func (m *model) queue(o *wout) {
	k := [2]mkey{m.key(o.args.lane[0]), m.key(o.args.lane[1])}
	m.lanes[k] = append(m.lanes[k], o.args)
}

func (m *model) box(c *wcall) { m.boxes[c.screen.session] = append(m.boxes[c.screen.session], c) }

// fire replays the firing of a timer, an event on its issuer. If the timer is set, the firing
// emits the timer's call, at its time. A one-shot timer is over then.
func (m *model) fire(id mkey, tr *traced) {
	f := tr.Args.(*fireArgs)
	t := m.timers[written(f.t.Call.Args)]
	if t == nil {
		panic(mismatch{fmt.Sprintf("event %v fires a timer that %v has never set", tr.ID, id)})
	}
	if n := m.nodes[id]; n.deleted {
		m.end(t)
		m.check(id)
	}
	want := 1
	if t.over {
		want = 0
	}
	if got := tr.Subs + len(tr.Callbacks); got != want {
		panic(mismatch{fmt.Sprintf("event %v (order %d): timer %q of %v has fired %d times before and emits %d, the model %d",
			tr.ID, tr.Order, t.key[1], id, t.firing, got, want)})
	}
	if t.over {
		return
	}
	m.sent = append(m.sent, func() {
		t.firing++
		if t.out.op != wEvery {
			m.end(t)
		}
		if t.out.call != nil {
			m.box(t.out.call)
		} else {
			m.queue(t.out)
		}
	})
	m.onTime(t, tr)
}

// onTime checks when a timer fires.
func (m *model) onTime(t *mtimer, tr *traced) {
	if m.rec == nil {
		return
	}
	f, o := m.rec.fired[tr], t.out
	why := ""
	switch {
	case f.now.Sub(o.at) < o.after:
		why = "early"
	case !m.rec.exact:
	case o.op != wEvery && !f.now.Equal(f.due):
		why = "late"
	case o.op == wEvery && (f.due.Sub(f.now)%o.after != 0 || !f.now.After(t.last)):
		why = "out of step"
	}
	if why != "" {
		panic(mismatch{fmt.Sprintf("timer %q of %v, set at %v for %v later, due %v, fires %s at %v", t.key[1], t.key[0], o.at, o.after, f.due, why, f.now)})
	}
	t.last = f.now
}

// compareFollows compares the calls and timers that are left, and the callbacks that clients got, with the model.
func (m *model) compareFollows(s *System) error {
	pending := map[any]bool{}
	var wrong error
	s.timers.Pending(func(t *timer, found bool) {
		pending[written(t.Call.Args)] = true
		mt := m.timers[written(t.Call.Args)]
		if mt == nil || mt.over {
			wrong = fmt.Errorf("timer %q of %v is pending, but not in the model", t.Name, t.Issuer)
		}
		if (t.Name != "") != found {
			wrong = fmt.Errorf("timer %q of %v is pending, but the table of names has another", t.Name, t.Issuer)
		}
	})
	if wrong != nil {
		return wrong
	}
	for work, t := range m.timers {
		if t.over || pending[work] {
			continue
		}
		if c := t.out.call; c == nil || !c.screen.session.closed {
			return fmt.Errorf("timer %q of %v is pending in the model only, after %d firings", t.key[1], t.key[0], t.firing)
		}
		m.end(t) // as its client has gone
	}
	if names := s.timers.Counts().Named; names != len(m.named) {
		return fmt.Errorf("%d timers have names, in the model %d", names, len(m.named))
	}
	for w, want := range m.boxes {
		if w.closed { // the rest was dropped
			want = want[:min(len(w.seen), len(want))]
		}
		if !slices.Equal(w.seen, want) {
			at := 0
			for at < min(len(want), len(w.seen)) && want[at] == w.seen[at] {
				at++
			}
			return fmt.Errorf("a client was called back %d times, by the model %d times; the first difference is callback %d", len(w.seen), len(want), at)
		}
	}
	return nil
}

// later returns a step that issues something, to the screens of the given sessions.
func (g *generator) later() wstep {
	st := wstep{k: g.rng.IntN(4), n: int64(g.rng.IntN(30)), sub: []wstep{{op: wAdd, n: 3}}}
	if g.rng.IntN(2) == 0 {
		st.name = [...]string{"tick", "tock"}[g.rng.IntN(2)]
	}
	if g.rng.IntN(3) == 0 && !g.w.stored { // client objects live in one process
		st.sub = append(st.sub, wstep{op: wGet}, wstep{op: wShow, to: g.screen()})
	}
	switch p := g.rng.IntN(100); {
	case p >= 70 && g.w.stored, p < 15:
		st.op, st.name = wEmitNamed, g.name()
	case p < 45:
		st.op = wAfter
	case p < 55:
		st.op, st.name, st.n = wEvery, "tick", st.n+5
		st.sub = st.sub[:1] // it runs again and again: only the last notes would be left
	case p < 70:
		st.op, st.name = wCancel, cmp.Or(st.name, "tock")
	case p < 85:
		st.op, st.to = wShow, g.screen()
	default:
		st.op, st.to = wShowAfter, g.screen()
	}
	if st.to != nil && g.rng.IntN(4) == 0 {
		st.ref = g.ref()
	} else if st.to != nil {
		st.sub = nil
	}
	return st
}

func (g *generator) screen() *wscreen {
	w := g.sessions[g.rng.IntN(len(g.sessions))]
	return &w.screens[g.rng.IntN(len(w.screens))]
}

func (g *generator) name() string { return [...]string{"ann", "bob", "cid"}[g.rng.IntN(3)] }

// passEvents is how many events of the clients end for each step of simulated time.
const passEvents = 20

// pass lets simulated time pass beside several clients; done counts their events that have ended. It must
// not wait for the system to settle, as Advance does: nothing would fire before the end.
func (w workload) pass(s *System, rng *rand.Rand, sessions []*wsession, done *atomic.Int64) {
	for i := range w.events / w.goroutines * w.goroutines / passEvents {
		for done.Load() < int64(i*passEvents) {
			runtime.Gosched()
			s.scheduler.Yield()
		}
		s.rush(moment(rng))
		w.passed(i, sessions)
	}
}

// moment is how long a step of simulated time is.
func moment(rng *rand.Rand) time.Duration { return time.Duration(rng.IntN(4)) * time.Millisecond }

// passed closes the last session when half of the steps are over.
func (w workload) passed(step int, sessions []*wsession) {
	if step == w.events/(2*passEvents) {
		last := sessions[len(sessions)-1]
		last.client.Close()
		last.closed = true
	}
}

// rush is Advance without waiting for anything to settle.
func (s *System) rush(d time.Duration) {
	c := s.clock.(*sched.SimClock)
	end := c.Now().Add(d)
	for {
		due, ok := s.timers.Next()
		if !ok || due.After(end) {
			break
		}
		c.Set(due)
		for t, _, _ := s.timers.Pop(due); t != nil; t, _, _ = s.timers.Pop(due) {
			s.fire(t)
		}
	}
	c.Set(end)
}
