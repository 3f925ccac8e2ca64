package driver

import "sync"

// confirmations are the questions whether this node still leads a group (ReadIndex). All that are asked while one is under way share the next.
type confirmations struct {
	mu      sync.Mutex
	current *round // under way; nil: none
	next    *round // nil: none has asked
}

// round is a question that many ask at once.
type round struct {
	id   uint64 // belongs to the loop
	term uint64
	done chan struct{}
	err  error // set before done is closed
}

// confirm returns nil if this node has led the group in the term at some time since the call.
func (m *member) confirm(term uint64) error {
	c := &m.confirmations
	c.mu.Lock()
	r := c.next
	if r != nil && r.term > term {
		c.mu.Unlock()
		return ErrDeposed
	}
	if r == nil || r.term != term {
		if r != nil {
			r.end(ErrDeposed)
		}
		r = &round{term: term, done: make(chan struct{})}
		c.next = r
		if c.current == nil {
			m.ask()
		}
	}
	c.mu.Unlock()
	m.of.cfg.Scheduler.Wait(r.done)
	return r.err
}

// ask begins the next round. Caller holds mu.
func (m *member) ask() {
	m.current, m.next = m.next, nil
	m.question()
}

// askAgain asks the question that is under way anew, as other members hold from now on. Package raft drops what a node answers that is a member no more,
// and looks at the answers that it has when the next one comes: to a leader that is alone none comes. The loop calls it.
func (m *member) askAgain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil {
		m.question()
	}
}

// question has the core be asked for the current round. Caller holds mu.
func (m *member) question() {
	d, r := m.of, m.current
	if !d.loop.add(func() {
		d.question++
		r.id = d.question
		err := error(ErrDeposed)
		if now := d.core.Leader(m.id); now.Term == r.term {
			err = d.core.Read(m.id, r.id)
		}
		if err != nil {
			m.ended(r, err)
		}
	}) {
		m.current = nil
		r.end(ErrClosed)
	}
}

// confirmed ends the round of a question. The loop calls it.
func (m *member) confirmed(id uint64) {
	m.mu.Lock()
	r := m.current
	m.mu.Unlock()
	if r != nil && r.id == id {
		m.ended(r, nil)
	}
}

// ended ends a round, and begins the next.
func (m *member) ended(r *round, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != r {
		return
	}
	m.current = nil
	r.end(err)
	if m.next != nil {
		m.ask()
	}
}

// failWaiters ends all rounds of a term that is over.
func (m *member) failWaiters(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range []*round{m.current, m.next} {
		if r != nil {
			r.end(err)
		}
	}
	m.current, m.next = nil, nil
}

// end ends a round. Caller holds mu.
func (r *round) end(err error) {
	r.err = err
	close(r.done)
}
