package sched

import (
	"sync"
	"time"
)

// Semaphore lets so many hold it at a time, in the order in which they have come.
type Semaphore struct {
	scheduler *Scheduler
	max       int
	mu        struct {
		sync.Mutex
		held    int
		waiters []chan struct{}
	}
}

// Open is called once, before use.
func (m *Semaphore) Open(max int, s *Scheduler) { m.max, m.scheduler = max, s }

// Max returns how many may hold it at a time.
func (m *Semaphore) Max() int { return m.max }

// Acquire waits up to patience, 0 for ever, and reports whether the caller holds the semaphore. In a scheduled system it
// waits for ever: no real time passes there.
func (m *Semaphore) Acquire(patience time.Duration) bool {
	m.mu.Lock()
	if m.mu.held < m.max {
		m.mu.held++
		m.mu.Unlock()
		return true
	}
	ch := make(chan struct{})
	m.mu.waiters = append(m.mu.waiters, ch)
	m.mu.Unlock()
	if patience <= 0 || m.scheduler != nil {
		m.scheduler.Wait(ch)
		return true
	}
	alarm := time.NewTimer(patience)
	defer alarm.Stop()
	select {
	case <-ch:
		return true
	case <-alarm.C:
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, w := range m.mu.waiters {
		if w == ch {
			m.mu.waiters = append(m.mu.waiters[:i], m.mu.waiters[i+1:]...)
			return false
		}
	}
	return true // let in at the last moment
}

// Held returns how many hold it.
func (m *Semaphore) Held() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.held
}

// Release ends what Acquire has begun.
func (m *Semaphore) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mu.waiters) > 0 {
		close(m.mu.waiters[0])
		m.mu.waiters = m.mu.waiters[1:]
		return
	}
	m.mu.held--
}
