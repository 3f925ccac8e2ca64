package store

// UseUp leaves n with as many numbers of its start.
func (n *Numbers) UseUp(left uint64) { n.last.Store(n.last.Load()&^n.count | (n.count - left)) }

// NoteFailure is the first step of Fail.
func (s *Store) NoteFailure(err error) { s.noteFailure(err) }

// Abandon is the second one.
func (s *Store) Abandon() { s.groups.abandon() }
