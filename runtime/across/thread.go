package across

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// delivery is a Called or Returned that waits for the activation that it is for.
type delivery struct {
	from event.StoreID
	m    *Message
}

// Caller is an activation that calls an actor of another store.
type Caller interface {
	// Serve makes a call here, within the activation that waits. At the home it returns nil if the target is in another store, for which the attempt
	// is covered then; it may unwind.
	Serve(*Call) *Reply
	// Told takes what other activations have issued meanwhile, in program order, and what their parts have taken.
	Told(issued []Line, grown []order.Wanted)
}

// Call makes a call, of an actor of a store that the attempt is known to cover. It returns nil if the attempt is over: its code has to unwind.
func (t *Try) Call(to event.StoreID, c *Call, by Caller) *Reply {
	s := t.s
	s.mu.Lock()
	touched := s.home.Touch(t.name, to)
	if touched {
		c.Votes = t.votes(c.Method)
		s.send(to, t.called(to, c))
	}
	s.mu.Unlock()
	called := []string{c.Method}
	var callers []event.StoreID // for which this home has passed calls on, innermost last
	at := to                    // where the thread is
	for touched {
		t.awaits.Store(int64(at) + 1)
		d, ok := t.next()
		t.awaits.Store(0)
		if !ok {
			return nil
		}
		if r := d.m.Reply; r != nil {
			by.Told(r.Lines, r.Grown)
			n := len(callers)
			t.answered(d.from, called[n], r)
			called = called[:n]
			if n == 0 || r.Withdrawn {
				return r
			}
			back := callers[n-1]
			callers, at = callers[:n-1], back
			t.reply(back, r)
			continue
		}
		by.Told(d.m.Call.Lines, d.m.Call.Grown)
		if r := by.Serve(d.m.Call); r != nil {
			t.reply(d.from, r)
			at = d.from
			continue
		}
		pass := *d.m.Call
		pass.Lines, pass.Grown = nil, nil
		on := s.cfg.StoreOf(pass.Target)
		callers, called, at = append(callers, d.from), append(called, pass.Method), on
		s.mu.Lock()
		if touched = s.home.Touch(t.name, on); touched {
			pass.Votes = t.votes(pass.Method)
			s.send(on, t.called(on, &pass))
		}
		s.mu.Unlock()
	}
	return nil
}

// reply answers a call that a part has made. What other activations have issued has been told.
func (t *Try) reply(to event.StoreID, r *Reply) {
	back := *r
	back.Lines, back.Grown = nil, nil
	t.s.tell(to, &Message{Kind: Returned, Name: t.name, Reply: &back})
}

// next waits for the next message of the thread; false: the attempt is over.
func (t *Try) next() (d delivery, ok bool) { return next(t.attempt, &t.inbox) }

// next takes the first message of an inbox that the mutex of a guards.
func next(a *order.Attempt, inbox *[]delivery) (d delivery, ok bool) {
	ok = a.AwaitNews(func() bool {
		if len(*inbox) == 0 {
			return false
		}
		d, *inbox = (*inbox)[0], (*inbox)[1:]
		return true
	})
	return d, ok
}

// Call makes a call of an actor of another store by way of the home. It returns nil if the part is over.
func (p *Part) Call(c *Call, by Caller) *Reply {
	p.s.tell(p.home, &Message{Kind: Called, Name: p.name, Call: c})
	for {
		p.calls.Store(true)
		d, ok := next(p.attempt, &p.inbox)
		p.calls.Store(false)
		switch {
		case !ok:
			return nil
		case d.m.Reply != nil:
			return d.m.Reply
		}
		p.s.tell(p.home, &Message{Kind: Returned, Name: p.name, Reply: by.Serve(d.m.Call)})
	}
}
