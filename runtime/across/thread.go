package across

import (
	"slices"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Thread is a thread of control that crosses stores: the event itself, or one of its async calls.
type Thread interface {
	// Call makes a call of an actor of another store. It returns nil if the attempt is over: its code has to unwind.
	Call(to event.StoreID, c *Call, by Caller) *Reply
}

// delivery is a call or an answer that waits for the activation that it is for.
type delivery struct {
	from  event.StoreID
	call  *Call  // nil: it is an answer
	reply *Reply // nil: it is a call
}

// Caller is an activation that calls an actor of another store.
type Caller interface {
	// Serve makes a call here, within the activation that waits. At the home it returns nil if the target is in another store, for which the attempt
	// is covered then; it may unwind.
	Serve(*Call) *Reply
	// Told takes what other activations have issued meanwhile, in program order, and what their parts have taken.
	Told(issued []Line, grown []order.Wanted)
	// Next returns where in program order the next call stands, nil if the order of time is that of the program.
	Next() []uint64
}

// thread is a Thread at the home of an attempt. The goroutine that runs its code there owns it.
type thread struct {
	t      *Try
	number uint64
	inbox  []delivery   // guarded by the mutex of the attempt
	awaits atomic.Int64 // where the call is that it waits for: 1 above the number of the store; 0: it waits for none
	open   []sent       // its calls that are not answered, innermost last
	told   int          // how much of the Locked of the attempt its messages have told

	firstIn   [1]delivery // what most threads have of these lists
	firstOpen [2]sent
}

// sent is a call that a home has sent to a store.
type sent struct {
	to, back event.StoreID // back gets the answer: the home, if it is its own call
	others   int           // how much of the Locked of the attempt it had not told then
}

// Thread begins another thread of the attempt.
func (t *Try) Thread() Thread {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	th := &t.own
	if len(t.threads) > 0 {
		th = new(thread)
	}
	*th = thread{t: t, number: uint64(len(t.threads))}
	th.inbox, th.open = th.firstIn[:0], th.firstOpen[:0]
	t.threads = append(t.threads, th)
	return th
}

// Call implements Thread, for a store that the attempt is known to cover.
func (th *thread) Call(to event.StoreID, c *Call, by Caller) *Reply {
	s, outer := th.t.s, len(th.open) // calls within which code runs here that makes this one
	for ok := th.send(to, s.cfg.Store, c, by); ok; {
		th.awaits.Store(int64(th.open[len(th.open)-1].to) + 1)
		d, got := next(th.t.attempt, &th.inbox)
		th.awaits.Store(0)
		if !got {
			return nil
		}
		if r := d.reply; r != nil {
			by.Told(r.Lines, r.Grown)
			back := th.answered(r)
			if len(th.open) == outer || r.Withdrawn {
				return r
			}
			th.reply(back, r)
			continue
		}
		by.Told(d.call.Lines, d.call.Grown)
		th.told += len(d.call.Grown)
		if r := th.serve(d, outer, by); r != nil {
			th.reply(d.from, r)
			continue
		}
		pass := *d.call
		pass.Lines, pass.Grown = nil, nil
		ok = th.send(s.cfg.StoreOf(pass.Target), d.from, &pass, by)
	}
	return nil
}

// serve makes a call of another store here. If the code calls runtime.Goexit, the calls within which it runs have to be answered before it is unwound: an event is decided when
// none is open.
func (th *thread) serve(d delivery, outer int, by Caller) *Reply {
	done := false
	defer func() {
		if done {
			return
		}
		if p := recover(); p != nil { // the attempt is withdrawn
			panic(p)
		}
		th.unwind(d, outer)
	}()
	r := by.Serve(d.call)
	done = true
	return r
}

// unwind answers a call whose code has called runtime.Goexit, and has the calls end within which that has run.
func (th *thread) unwind(d delivery, outer int) {
	for ok := true; ok; d, ok = next(th.t.attempt, &th.inbox) {
		switch r := d.reply; {
		case r == nil: // what follows is called in vain
			th.reply(d.from, unwound(th.t.name.Event, d.call))
		case r.Withdrawn:
			th.t.Lost(r.Claim)
		default:
			back := th.answered(r)
			if len(th.open) == outer {
				return
			}
			th.reply(back, r)
		}
	}
}

// send sends a call, whose answer is for the store back. False: the attempt is over.
func (th *thread) send(to, back event.StoreID, c *Call, by Caller) bool {
	t, s := th.t, th.t.s
	c.Order = by.Next()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.touch(to) {
		return false
	}
	x := t.begins(to)
	x.called = true
	if x.asked {
		x.last.count(votedInVain, overInVain)
		x.asked = false
	}
	if !th.isAt(to) {
		x.sent++
		x.last = t.habit.call(voteKey{c.Method, min(x.sent, nthMax)})
		if !c.Strict && x.last.votes > 0 {
			x.asked, c.Votes, c.Holds = true, x.sent, t.habit.tells
			c.Last = x.last.over == overSure && !c.Holds && len(t.threads) == 1 && t.attempt.Number == 1
		}
	}
	if t.open++; t.open > len(th.open)+1 {
		s.counts.Beside++
	}
	th.open = append(th.open, sent{to: to, back: back, others: t.attempt.Locked() - th.told})
	m := Message{Kind: Called, Name: t.name, Number: th.number, Call: c}
	if t.unordered && !x.answered { // of several calls any may be the first to arrive
		m.Kind, m.Home, m.Method, m.Chain = Visited, s.cfg.Store, t.method, t.chain
	}
	s.send(to, &m)
	return true
}

// isAt reports whether the thread has a call in a store that is not answered: a further one there is made within it.
func (th *thread) isAt(store event.StoreID) bool {
	for i := range th.open {
		if th.open[i].to == store {
			return true
		}
	}
	return false
}

// answered notes the answer of the innermost call, and returns the store that it is for.
func (th *thread) answered(r *Reply) (back event.StoreID) {
	t, s := th.t, th.t.s
	c := th.open[len(th.open)-1]
	th.open = th.open[:len(th.open)-1]
	th.told += len(r.Grown)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.open--
	if r.Lacks != "" {
		t.lacking = c.to
	}
	x := t.in(c.to)
	x.answered, x.wrote = true, x.wrote || r.Wrote || r.Holds
	if s.tries.Get(t.name) == nil {
		return c.back
	}
	if r.Granted {
		t.attempt.Granted()
		th.told++
	}
	t.noteTaken()
	x.took = t.took
	beside := len(t.threads) > 1 && t.attempt.Locked()-th.told != c.others // another one may have taken a lock after the vote
	if beside {
		x.took = tookBeside
	}
	all := r.Votes == x.sent // else a call that was sent before has come there after the vote, or will
	switch {
	case r.Over:
		s.home.Over(t.name, c.to)
		if !all || beside {
			t.taken()
		}
	case r.Votes > 0 && all:
		s.home.Answered(t.name, c.to, r.Wrote || r.Holds)
		if beside {
			t.taken()
		}
	}
	return c.back
}

// reply answers a call that a part has made. What other activations have issued has been told.
func (th *thread) reply(to event.StoreID, r *Reply) {
	back := *r
	back.Lines, back.Grown = nil, nil
	th.t.s.tell(to, &Message{Kind: Returned, Name: th.t.name, Number: th.number, Reply: &back})
}

// next takes the first message of an inbox that the mutex of a guards. It waits for that; false: the attempt is over.
func next(a *order.Attempt, inbox *[]delivery) (d delivery, ok bool) {
	ok = a.AwaitNews(func() bool {
		if len(*inbox) == 0 {
			return false
		}
		d = (*inbox)[0]
		*inbox = slices.Delete(*inbox, 0, 1)
		return true
	})
	return d, ok
}

// visit is a Thread that has a call in the store of a part.
type visit struct {
	p      *Part
	number uint64
	inbox  []delivery  // guarded by the mutex of the attempt
	calls  atomic.Bool // it waits for a call that it has made

	firstIn [1]delivery // what most visits have of inbox
}

// Call implements Thread, by way of the home.
func (v *visit) Call(_ event.StoreID, c *Call, by Caller) *Reply {
	p := v.p
	p.s.tell(p.home, &Message{Kind: Called, Name: p.name, Number: v.number, Call: c})
	for {
		v.calls.Store(true)
		d, ok := next(p.attempt, &v.inbox)
		v.calls.Store(false)
		switch {
		case !ok:
			return nil
		case d.reply != nil:
			return d.reply
		}
		v.serve(d.call, by)
	}
}

// serve makes a call of other code of the attempt, and answers it. If the code calls runtime.Goexit the activation that waits is unwound, too; but first it
// has to have its own answer, as the home takes what it gets for the innermost call.
func (v *visit) serve(c *Call, by Caller) {
	p := v.p
	tell := func(r *Reply) { p.s.tell(p.home, &Message{Kind: Returned, Name: p.name, Number: v.number, Reply: r}) }
	served := false
	defer func() {
		if served {
			return
		}
		for ok := true; ok && c != nil; { // what follows is called in vain
			tell(unwound(p.name.Event, c))
			var d delivery
			d, ok = next(p.attempt, &v.inbox)
			c = d.call
		}
	}()
	r := by.Serve(c)
	served = true
	tell(r)
}
