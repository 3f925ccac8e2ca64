package image_test

import (
	"fmt"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/value"
)

// loaded returns an actor whose line has size elements, in the store.
func loaded(t testing.TB, size int) (*shop, *actor) {
	s, a := newShop(t), &actor{}
	for i := range size {
		value.Push(&a.line, key(i))
	}
	s.save(a, true, nil, 0, 1, 2)
	return s, s.load()
}

// write sets an element of the line within an event, and returns what takes that back.
func (a *actor) write(log uint64, i int, e string) (undo value.Undo) {
	if !value.FreeElem(&a.line, log, int64(i)) {
		undo = value.NoteSet(&a.line, log, int64(i))
	}
	value.SetAt(&a.line, int64(i), e)
	return undo
}

// A vector that another actor gets is apart from the one that it comes from, also when it comes into memory as it is stored.
func TestAVectorOfAnotherActorIsApart(t *testing.T) {
	s, a := loaded(t, 2000)
	other := &actor{line: a.line.Share()}
	b := s.engine.NewBatch()
	var w image.Writer
	w.Begin(b, event.SerialActor(5, 43), s.layout)
	w.Field(other, 2, nil, true)
	w.Finish()
	if err := s.engine.Apply(b); err != nil {
		t.Fatal(err)
	}
	if !value.SoleVector(other.line) {
		value.OwnVector(&other.line, 1)
	}
	other.write(1, 0, "x")
	if got := a.line.At(0); got != key(0) {
		t.Errorf("element 0 is %s, which another actor has written", got)
	}
}

// An event that writes so much that its log keeps the whole content is taken back to what events before it have written.
func TestUndoOfManyWritesToAStoredVector(t *testing.T) {
	s, a := loaded(t, 300)
	s.save(a, false, []value.Undo{a.write(1, 250, "seven")}, 2)
	var undos []value.Undo
	for i := range 91 {
		undos = append(undos, a.write(2, i, "x"))
	}
	undos = append(undos, a.write(2, 250, "eight"))
	for i := range undos {
		if u := undos[len(undos)-1-i]; u != nil {
			u.Undo()
		}
	}
	for i, want := range map[int64]string{0: key(0), 90: key(90), 250: "seven", 299: key(299)} {
		if got := a.line.At(i); got != want {
			t.Errorf("element %d is %s, expected %s", i, got, want)
		}
	}
}

// A copy that an event makes of what it has written a lot to is stored with all of that.
func TestACopyOfManyWrites(t *testing.T) {
	s, a := loaded(t, 300)
	s.layout.Fields = append(s.layout.Fields, s.layout.Fields[2])
	s.layout.Fields[3].Name, s.layout.Fields[3].Number = "previous", 4
	c := &copied{actor: actor{large: a.large, line: a.line}}
	var undos []value.Undo
	for i := range 1100 {
		if u := value.NotePush(&c.line, 1); u != nil {
			undos = append(undos, u)
		}
		value.Push(&c.line, fmt.Sprint("new", i))
	}
	c.previous = c.line.Share()
	b := s.engine.NewBatch()
	s.w.Begin(b, actorID, s.layout)
	s.w.Field(c, 2, undos, false)
	s.w.Field(c, 3, nil, true)
	s.w.Finish()
	if err := s.engine.Apply(b); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int64]string{0: key(0), 299: key(299), 300: "new0", 1399: "new1099"} {
		if line, previous := c.line.At(i), c.previous.At(i); line != want || previous != want {
			t.Errorf("element %d is %s and %s, expected %s", i, line, previous, want)
		}
	}
}

// copied is an actor with one more field.
type copied struct {
	actor
	previous value.Vector[string]
}

func (c *copied) SaveField(w *image.Writer, field int) {
	if field == 3 {
		image.SaveVector(w, &c.previous, &actorLine)
		return
	}
	c.actor.SaveField(w, field)
}

// A copy of a vector that was shared while it was in memory for an event that has failed shows what it did, whatever becomes of the field.
func TestACopyAfterAFailedEvent(t *testing.T) {
	s, a := loaded(t, 300)
	u := value.NoteContent(&a.line, 1)
	value.Sort(&a.line)
	a.line.Share()
	u.Undo()
	c := a.line.Share()
	a.line = value.Vector[string]{}
	s.save(a, true, nil, 2)
	if list := c.Items(); len(list) != 300 || list[299] != key(299) {
		t.Errorf("the copy has %d elements", len(list))
	}
}

// A container that was written as that of another field, whose log has the writes, is stored as a whole where it comes back.
func TestAContainerThatComesBack(t *testing.T) {
	s, a := loaded(t, 300)
	value.OwnMap(&a.prices, 1)
	for i := range 300 {
		value.PutEntry(&a.prices, key(i), int64(i))
	}
	s.save(a, false, nil, 1)
	a = s.load()
	other := &actor{line: a.line.Share(), prices: a.prices.Share()}
	value.OwnVector(&other.line, 1)
	other.write(1, 7, "x")
	value.OwnMap(&other.prices, 1)
	value.NoteEntry(&other.prices, 1, key(7))
	value.PutEntry(&other.prices, key(7), -7)
	a.line, a.prices = other.line.Share(), other.prices.Share()
	s.save(a, false, nil, 1, 2)
	b := s.load()
	if got, entry := b.line.At(7), b.prices.At(key(7)); got != "x" || entry != -7 {
		t.Errorf("element 7 is %s and its entry %d, expected x and -7", got, entry)
	}
}

// A copy that an event has made while it had appended an element, and taken it back, is stored with that element where it comes back.
func TestACopyOfALongerVectorComesBack(t *testing.T) {
	for _, appended := range []int{1, 3} {
		s, a := loaded(t, 300)
		var undos []value.Undo
		for range appended {
			undos = append(undos, value.NotePush(&a.line, 1))
			value.Push(&a.line, "x")
		}
		longer := a.line.Share()
		value.OwnVector(&a.line, 1)
		for range appended {
			undos = append(undos, value.NotePop(&a.line, 1))
			value.Pop(&a.line)
		}
		s.save(a, false, undos, 2)
		a.line = longer.Share()
		s.save(a, false, nil, 2)
		b := s.load()
		if n := b.line.Size(); n != int64(300+appended) {
			t.Fatalf("it has %d elements", n)
		}
		for i := range int64(appended) {
			if got := b.line.At(300 + i); got != "x" {
				t.Errorf("element %d is %s, expected x", 300+i, got)
			}
		}
	}
}
