package exec

import (
	"reflect"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// undoEntry is what one place in memory held before it was written: enough to take the
// write back, and to know which field the redo has to read at the commit. Entries
// restore places, run from the end of the log; so if one place has several entries the
// oldest wins, and the others could as well be missing.
type undoEntry struct {
	self  *order.Self
	field uint16
	place any    // a pointer to the field, or to a part of it; nil if old is a value.Undo
	old   any    // its value, where that is one word with a pointer
	word  uint64 // its value, where that is a number
	text  string // its value, where that is a string
}

// Log notes the value of field p, or of a part p of the field, before it is assigned. It
// serves undo and redo. It allocates nothing for numbers, strings, references and
// containers. The part lies in the memory of the actor, where it does not move.
func Log[T any](cx *Cx, self *order.Self, field uint16, p *T) {
	if e := cx.logWord(self, field, p); e != nil {
		// A struct of one pointer goes into an interface as it is, and so do values
		// below 256; floats and larger structs are copied.
		e.old = *p
	}
}

// logWord is the part of Log that is compiled once: it appends an entry for place, unless
// that is there already, and returns it if the value is still missing in it.
func (cx *Cx) logWord(self *order.Self, field uint16, place any) *undoEntry {
	if cx.loggedLately(place) {
		return nil
	}
	e := undoEntry{self: self, field: field, place: place}
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
	cx.log = append(cx.log, e)
	if missing {
		return &cx.log[len(cx.log)-1]
	}
	return nil
}

// lookBack is how many entries Log looks through for an older value of the same field.
const lookBack = 4

// loggedLately reports whether one of the last entries already holds an older value of
// place, which is the one that an undo has to end with: a loop that counts in a field
// must not log every round.
func (cx *Cx) loggedLately(place any) bool {
	for i := len(cx.log) - 1; i >= 0 && i >= len(cx.log)-lookBack; i-- {
		if cx.log[i].place == place {
			return true
		}
	}
	return false
}

// logUndo appends a record of a container, nil for none.
func (cx *Cx) logUndo(self *order.Self, field uint16, u value.Undo) {
	if u != nil {
		cx.log = append(cx.log, undoEntry{self: self, field: field &^ Inside, old: u})
	}
}

// undoer returns the record of a container, nil if the entry is none.
func (e *undoEntry) undoer() value.Undo {
	if e.place != nil {
		return nil
	}
	return e.old.(value.Undo)
}

// logBlock is how many numbers a context takes at once.
const logBlock = 1 << 12

var logBlocks atomic.Uint64

// logNumber returns the number of this branch's log, by which containers know the log
// that they were last written under. No number is used twice, and none is 0.
func (cx *Cx) logNumber() uint64 {
	if cx.logged == 0 {
		if cx.nextLog%logBlock == 0 {
			cx.nextLog = logBlocks.Add(1) * logBlock
		}
		cx.logged = cx.nextLog
		cx.nextLog++
	}
	return cx.logged
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
	case nil:
		e.undoer().Undo()
	default:
		place := reflect.ValueOf(p).Elem()
		if e.old == nil { // the place is an interface that held nothing
			place.SetZero()
			return
		}
		place.Set(reflect.ValueOf(e.old))
	}
}

// undo takes back everything the attempt did. The event still holds its locks.
func (ev *Event) undo() {
	log := ev.root.log
	for i := len(log) - 1; i >= 0; i-- {
		log[i].undo()
	}
	for _, h := range ev.Deletes {
		h.Unset(order.Dying)
	}
	for _, h := range ev.Born {
		h.Object = nil
	}
	for _, h := range ev.Fresh {
		h.Set(order.Deleted) // a reference that was kept leads to nothing
	}
}
