package outbox

import "sync"

// Mailbox holds the callbacks of one client: they run one at a time, in the order in
// which the events that issued them committed.
type Mailbox[C any] struct {
	mu struct {
		sync.Mutex
		queue   []C
		running bool // a goroutine takes the callbacks one by one
		closed  bool
	}
}

// Post appends a callback, unless the client has gone: then posted is false. start says that the caller has to start
// taking callbacks. counted is called before any other goroutine can see the callback.
func (m *Mailbox[C]) Post(c C, counted func(C)) (posted, start bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.closed {
		return false, false
	}
	counted(c)
	m.mu.queue = append(m.mu.queue, c)
	start = !m.mu.running
	m.mu.running = true
	return true, start
}

// Next takes the first callback. If ok is false there is none, and the caller has to stop taking callbacks.
func (m *Mailbox[C]) Next() (c C, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mu.queue) == 0 {
		m.mu.running = false
		return c, false
	}
	c, m.mu.queue[0] = m.mu.queue[0], c // the queue keeps nothing of what was taken
	if m.mu.queue = m.mu.queue[1:]; len(m.mu.queue) == 0 {
		m.mu.queue = nil
	}
	return c, true
}

// Close drops the callbacks that wait, and returns them. Later ones are refused.
func (m *Mailbox[C]) Close() (dropped []C) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dropped = m.mu.queue
	m.mu.closed, m.mu.queue = true, nil
	return dropped
}

// Closed reports whether the mailbox was closed.
func (m *Mailbox[C]) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.closed
}
