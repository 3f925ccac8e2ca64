package store

// Sized is implemented by engines that can tell how much memory they hold.
type Sized interface {
	// MemoryBytes returns about how many bytes of the heap the engine holds. It may take some
	// microseconds.
	MemoryBytes() int64
}

// MemoryBytes returns about how many bytes of the heap the engine holds, 0 if it does not tell.
func (s *Store) MemoryBytes() int64 {
	if e, ok := s.engine.(Sized); ok {
		return e.MemoryBytes()
	}
	return 0
}
