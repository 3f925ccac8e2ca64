package lock

import "fmt"

// ID names one attempt of an event. Attempts count upwards from 1 and are never reused
// for one E; an attempt that is withdrawn is followed by the next.
type ID[E comparable] struct {
	Event   E
	Attempt uint32
}

// Mode says what an event may do with an actor. Modes are ordered: a hold in mode m
// allows every access in mode m or below.
type Mode uint8

// The modes. None is the mode of passes and of holds that order what is below x
// without touching x.
const (
	None Mode = iota
	Read
	Write
)

// String returns P, R or W, as the protocol writes them.
func (m Mode) String() string {
	switch m {
	case None:
		return "P"
	case Read:
		return "R"
	case Write:
		return "W"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// Conflicts reports whether two events may not hold one actor in modes m and n
// at the same time.
func (m Mode) Conflicts(n Mode) bool {
	return m == Write && n != None || n == Write && m != None
}

// Ref is a handle of an entry in one queue. The zero Ref refers to nothing. A Ref
// stays valid until its entry is released; later uses are recognised as stale.
type Ref struct {
	slot int32 // index + 1
	gen  uint32
}

// Valid reports whether r was ever given out by a queue.
func (r Ref) Valid() bool { return r.slot != 0 }
