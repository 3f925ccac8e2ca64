package store

// UseUp leaves n with as many numbers of its start.
func (n *Numbers) UseUp(left uint64) { n.last.Store(n.last.Load()&^n.count | (n.count - left)) }

// SetIdle is the last step of the loop of the store as it becomes idle. It may be late: something was appended since the loop has looked.
func (s *Store) SetIdle() { s.groups.idle.Store(true) }

// NoteFailure is the first step of Fail.
func (s *Store) NoteFailure(err error) { s.noteFailure(err) }

// Abandon is the second one.
func (s *Store) Abandon() { s.groups.abandon() }
