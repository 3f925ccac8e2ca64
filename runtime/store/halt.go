package store

import (
	"sync"
	"time"
)

// Halt has all appends wait, once those under way are over, until resume is called, or limit has passed, and returns a view of what was appended.
// resume reports whether nothing was appended up to its call, the first.
//
// If all stores of a cluster are halted at some time, their views are what a crash of all at that time would leave, if none of them had lost what was
// not durable.
func (s *Store) Halt(limit time.Duration) (view Snapshot, resume func() (halted bool)) {
	s.appends.Lock()
	view = s.Snapshot()
	var once sync.Once
	end := func() (ended bool) {
		once.Do(func() {
			s.appends.Unlock()
			ended = true
		})
		return ended
	}
	timer := time.AfterFunc(limit, func() { end() })
	return view, func() bool {
		timer.Stop()
		return end()
	}
}
