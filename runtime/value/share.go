package value

import "sync/atomic"

// mark says whether a body is shared, and which undo log was last written for it.
type mark struct {
	shared atomic.Bool // several containers refer to it
	notes  uint32      // records of the body in log
	log    uint64      // the undo log that has seen the last logged write
	// base: places from here on are no concern of log, which will cut or replace them; -1
	// if all are. In a map, whose entries have no numbers, it is 0 or -1.
	base int
}

// sole reports whether one container alone refers to the body.
func (m *mark) sole() bool { return !m.shared.Load() }

// watch prepares the body for records of log.
func (m *mark) watch(log uint64) {
	if m.log != log {
		m.log, m.base, m.notes = log, -1, 0
	}
}

// free reports whether log need not restore place i.
func (m *mark) free(i int) bool { return uint(i) >= uint(m.base) } // never if base is -1

// own makes a body one that log need not restore.
func (m *mark) own(log uint64) { m.log, m.base = log, 0 }

// noComparison keeps Go from compiling a comparison for a struct.
type noComparison [0]func()

// Sharer is implemented by pointers to values that contain containers: the
// containers of this package and the generated classes with such fields. MarkShared
// marks everything the value refers to as shared; it may run while other goroutines
// read the value.
type Sharer interface{ MarkShared() }

// Eq reports whether a and b are the same by Go's comparison. It is the equality
// of every type without containers.
func Eq[T comparable](a, b T) bool { return a == b }

// Clear empties a container and returns what it was.
func Clear[C any](c *C) (old C) {
	var empty C
	old, *c = *c, empty
	return old
}

// markAll marks every element of s that refers to a body. It is called when a body is
// cloned: from then on its elements have two owners.
func markAll[T any](s []T) {
	if _, ok := any((*T)(nil)).(Sharer); !ok {
		return
	}
	for i := range s {
		any(&s[i]).(Sharer).MarkShared()
	}
}

// MarkShared marks what *v refers to, if it can refer to anything.
func MarkShared[T any](v *T) {
	if s, ok := any(v).(Sharer); ok {
		s.MarkShared()
	}
}
