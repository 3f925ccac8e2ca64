package order

import (
	"slices"
	"testing"
)

// Actors that have had one name, one after the other, have different ids, wherever the deletion of one has got to when the next is made. So all goroutines
// take their latches in one order while actors hang below the deleted one.
func TestActorsOfOneName(t *testing.T) {
	s := newHost(t)
	var list []*Handle
	for i := range 4 {
		h := s.Named(treeShape, "main")
		if again := s.Named(treeShape, "main"); again != h || h.ID.Birth != s.FirstID(treeShape, "main").Birth || int(h.Named.Incarnation) != i {
			t.Errorf("actor %d is %v, and %v when asked for again", i, h.ID, again.ID)
		}
		for _, o := range list {
			if o.ID == h.ID || RefOf(o).CompareKey(RefOf(h)) != -RefOf(h).CompareKey(RefOf(o)) {
				t.Errorf("an actor of the same name has had the id %v", h.ID)
			}
		}
		list = append(list, h)
		h.Set(Created | Deleted)
		if i%2 == 0 {
			s.Forget(h)
		}
	}
	if first := list[0].ID; first != s.FirstID(treeShape, "main") {
		t.Errorf("the first actor is %v", first)
	}
	x := s.child(list[0], 1)
	s.Graph.Delete(&list[0].Node) // x has yet to be moved
	a := s.attempt(x)
	roots := func(of ...*Handle) []*Handle {
		a.members.reset()
		for _, h := range of {
			a.members.add(h, Write, false)
		}
		return a.roots(nil)
	}
	next := s.Named(treeShape, "main")
	if to, back := roots(x, next), roots(next, x); len(to) != 2 || !slices.Equal(to, back) {
		t.Errorf("latches are taken in the order %v, and %v", to, back)
	}
}
