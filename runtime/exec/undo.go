package exec

import (
	"reflect"

	"github.com/aeon-lang/aeon/runtime/value"
)

// undoEntry is the state before one write: enough to take the write back, and to know
// which field the redo has to read at the commit.
type undoEntry struct {
	self  *Self
	field uint16
	place any    // a pointer to the field, or an undoer
	old   any    // its value, where that is one word with a pointer
	word  uint64 // its value, where that is a number
	text  string // its value, where that is a string
}

// undoer takes back a write to an element of a container.
type undoer interface{ undo() }

// Log notes the value of field p before it is assigned. It serves undo and redo. It
// allocates nothing for numbers, strings, references and containers.
func Log[T any](cx *Cx, self *Self, field uint16, p *T) {
	e := undoEntry{self: self, field: field, place: p}
	if cx.loggedLately(e.place) {
		return
	}
	switch v := e.place.(type) {
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
		// A struct of one pointer goes into an interface as it is, and so do values
		// below 256; floats and larger structs are copied.
		e.old = *p
	}
	cx.log = append(cx.log, e)
}

// lookBack is how many entries Log looks through for an older value of the same field.
const lookBack = 4

// loggedLately reports whether one of the last entries already holds an older value of
// the number, string or bool at place, which is the one that an undo has to end with:
// a loop that counts in a field must not log every round. Containers do not
// qualify, since undoers of their elements lie between.
func (cx *Cx) loggedLately(place any) bool {
	for i := len(cx.log) - 1; i >= 0 && i >= len(cx.log)-lookBack; i-- {
		if cx.log[i].place == place {
			switch place.(type) {
			case *int64, *string, *bool, *value.Duration, *value.Time, *uint64, *uint32, *int32, *float64:
				return true
			}
			return false
		}
	}
	return false
}

func (cx *Cx) logUndo(self *Self, field uint16, u undoer) {
	cx.log = append(cx.log, undoEntry{self: self, field: field, place: u})
}

// undo takes the write back.
func (e *undoEntry) undo() {
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
	case undoer:
		p.undo()
	default:
		reflect.ValueOf(p).Elem().Set(reflect.ValueOf(e.old))
	}
}

// undo takes back everything the attempt did. The event still holds its locks.
func (ev *Event) undo() {
	log := ev.root.log
	if planted.forgetUndo && len(log) > 0 {
		log = log[:len(log)-1]
	}
	for i := len(log) - 1; i >= 0; i-- {
		log[i].undo()
	}
	for _, h := range ev.deletes {
		h.unset(dying)
	}
	for _, h := range ev.born {
		h.obj = nil
	}
	for _, h := range ev.fresh {
		h.set(deleted) // whoever kept the reference finds nothing there
	}
}
