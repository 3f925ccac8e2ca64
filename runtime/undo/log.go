package undo

import (
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/short"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Log is what one branch of an event has written, oldest first. Only the goroutine that runs the branch may use it.
// The zero Log is empty.
type Log struct {
	Edges Edges // set once

	entries []Entry
	number  uint64 // by which containers know the log, 0 until the first of them is written
	next    uint64 // the number that the next log gets; Reset keeps it
}

// Edges are those of ownership, which change where a field is written that owns actors.
type Edges interface {
	// MoveEdges takes the edges from self to the actors that old refers to, and adds those to the ones that v refers to.
	MoveEdges(self *order.Self, old, v any)
}

// Entry is what one place in memory held before it was written: enough to take the
// write back, and to know which field the commit has to store. An undo restores
// entries from the end of the log. So if one place has several entries the
// oldest wins, and the others could as well be missing.
type Entry struct {
	self  *order.Self
	field uint16
	place any    // a pointer to the field, or to a part of it; nil if old is a value.Undo
	old   any    // its value, where that is one word with a pointer
	word  uint64 // its value, where that is a number
	text  string // its value, where that is a string
}

// Inside is added to the number of a field where a write goes into an element,
// an entry or a value that the log restores as a whole: VectorElem, MapUpdate and Field of
// a value see to that. Then the container itself needs no record, only what it refers to.
const Inside uint16 = 1 << 15

// Entries returns what has been written. It is valid until the log is next used.
func (l *Log) Entries() []Entry { return l.entries }

// Self returns the actor that was written.
func (e *Entry) Self() *order.Self { return e.self }

// Field returns the number of the field that was written.
func (e *Entry) Field() uint16 { return e.field &^ Inside }

// Record returns the record of a container, nil if the entry restores another place.
func (e *Entry) Record() value.Undo {
	if e.place != nil {
		return nil
	}
	return e.old.(value.Undo)
}

// Field notes the value of field p, or of a part p of the field, before it is assigned. The
// entry serves the undo and the commit. Field allocates nothing for numbers, strings, references and
// containers. The part lies in the memory of the actor, where it does not move.
func Field[T any](l *Log, self *order.Self, field uint16, p *T) {
	if e := l.word(self, field, p); e != nil {
		// A struct of one pointer goes into an interface as it is, and so do values
		// below 256; floats and larger structs are copied.
		e.old = *p
	}
}

// header notes the container at p before it gets another body.
func header[T any](l *Log, self *order.Self, field uint16, p *T) {
	if field&Inside == 0 {
		Field(l, self, field, p)
	}
}

// word is the part of Field that is compiled once. It appends an entry for place, unless
// there is one already, and returns the entry if its value is still missing.
func (l *Log) word(self *order.Self, field uint16, place any) *Entry {
	if l.hasLately(place) {
		return nil
	}
	e := Entry{self: self, field: field, place: place}
	missing := false
	switch v := place.(type) {
	case *int64:
		e.word = uint64(*v)
	case *string:
		e.text = *v
	case *bool:
		if *v {
			e.word = 1
		}
	case *value.Duration:
		e.word = uint64(*v)
	case *value.Time:
		e.word = uint64(*v)
	case *uint64:
		e.word = *v
	case *uint32:
		e.word = uint64(*v)
	case *int32:
		e.word = uint64(*v)
	default:
		missing = true
	}
	l.room(1)
	l.entries = append(l.entries, e)
	if missing {
		return &l.entries[len(l.entries)-1]
	}
	return nil
}

// lookBack is how many entries a write looks through for an older value of the same place.
const lookBack = 4

// hasLately reports whether one of the last entries already holds an older value of
// place, which is the one that an undo has to end with: a loop that counts in a field
// must not log every round.
func (l *Log) hasLately(place any) bool {
	for i := len(l.entries) - 1; i >= 0 && i >= len(l.entries)-lookBack; i-- {
		if l.entries[i].place == place {
			return true
		}
	}
	return false
}

// record appends a record of a container, nil for none.
func (l *Log) record(self *order.Self, field uint16, u value.Undo) {
	if u != nil {
		l.room(1)
		l.entries = append(l.entries, Entry{self: self, field: field &^ Inside, old: u})
	}
}

// room makes room for n entries.
func (l *Log) room(n int) {
	if n > cap(l.entries)-len(l.entries) {
		l.makeRoom(n)
	}
}

// compactMin is how many entries a log has at least when it drops those that an undo does not need.
const compactMin = 1024

// makeRoom is room for a log whose memory is full: a loop that writes many fields in turn must not log every round either. It
// leaves half of the memory free, so that what stays is not looked through often.
func (l *Log) makeRoom(n int) {
	if len(l.entries) >= compactMin {
		l.compact()
	}
	if n = max(n, len(l.entries)); n > cap(l.entries)-len(l.entries) {
		l.entries = slices.Grow(l.entries, n)
	}
}

// compact drops the entries of places that have an older one. Records of containers stay, in their order: each takes back one
// step.
func (l *Log) compact() {
	seen := make(map[any]struct{}, len(l.entries))
	l.entries = slices.DeleteFunc(l.entries, func(e Entry) bool {
		before := len(seen)
		if e.place != nil {
			seen[e.place] = struct{}{}
		}
		return e.place != nil && len(seen) == before
	})
}

// Undo takes back all writes in the log, from its end: the last value that a place gets is the oldest. It leaves the log
// empty, as after Reset, so that nothing is taken back twice.
func (l *Log) Undo() {
	for i := len(l.entries) - 1; i >= 0; i-- {
		l.entries[i].undo()
	}
	l.Reset()
}

// undo takes the write back.
func (e *Entry) undo() {
	switch p := e.place.(type) {
	case *int64:
		*p = int64(e.word)
	case *string:
		*p = e.text
	case *bool:
		*p = e.word != 0
	case *value.Duration:
		*p = value.Duration(e.word)
	case *value.Time:
		*p = value.Time(e.word)
	case *uint64:
		*p = e.word
	case *uint32:
		*p = uint32(e.word)
	case *int32:
		*p = int32(e.word)
	case nil:
		e.Record().Undo()
	default:
		place := reflect.ValueOf(p).Elem()
		if e.old == nil { // the place is an interface that held nothing
			place.SetZero()
			return
		}
		place.Set(reflect.ValueOf(e.old))
	}
}

// Reset empties the log. Its writes cannot be taken back any more, and containers know the log by another number from
// then on.
func (l *Log) Reset() {
	if len(l.entries) > 0 {
		short.Clear(l.entries)
		l.entries = l.entries[:0]
	}
	l.number = 0
}

// Absorb appends from, and empties it. from is the log of a branch that has ended; its writes have nothing in common with
// what was written here since the branch began.
func (l *Log) Absorb(from *Log) {
	// Invariant: logs that exist at the same time have different numbers. Else a container would take the records of one
	// for those of the other.
	assert.That(from.number == 0 || from.number != l.number, "undo: two logs have one number")
	l.room(len(from.entries))
	l.entries = append(l.entries, from.entries...)
	from.entries, from.number = nil, 0
}

// numberBlock is how many numbers a log takes at once.
const numberBlock = 1 << 12

var numberBlocks atomic.Uint64

// id returns the number of the log, by which containers know the log that they were last written under.
func (l *Log) id() uint64 {
	if l.number == 0 {
		l.takeNumber()
	}
	return l.number
}

// takeNumber gives the log a number.
func (l *Log) takeNumber() {
	if l.next%numberBlock == 0 {
		l.next = numberBlocks.Add(1) * numberBlock
		// Invariant: no number is used twice, and none is 0, which containers have that no log has written. Numbers
		// ascend, so they would have to go through all 64 bits.
		assert.That(l.next != 0, "undo: the numbers of logs are used up")
	}
	l.number = l.next
	l.next++
}
