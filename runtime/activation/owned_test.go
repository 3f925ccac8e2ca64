package activation

import (
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
)

// several are the references in a container.
type several []order.Ref

func (l several) EachRef(f func(order.Ref)) {
	for _, r := range l {
		f(r)
	}
}

// A container that is assigned as a whole moves the edges to what it has more or less than before: what stays is not searched for a cycle again.
func TestEdgesToWhatStaysAreNotMoved(t *testing.T) {
	s := newRuns(t)
	r, out := s.run(nil, &methodBox, nil)
	if out.Kind != Ended {
		t.Fatalf("the constructor has ended as %+v", out)
	}
	outer := r.Target
	s.settle(r)
	var gone, added *order.Handle
	assign := Method{Class: &classBox, Name: "assign", Effects: order.Effects{Self: order.Write}}
	assign.Run = func(cx *Cx, self any, _ order.Args) {
		var refs [3]order.Ref
		for i := range refs {
			refs[i] = New[*box](cx, &classBox).Self.Ref()
			Constructed(cx)
		}
		gone, added = order.HandleOf(refs[1]), order.HandleOf(refs[2])
		before := several{refs[0], refs[0], refs[1]}
		of, move := &self.(*box).Self, Of(cx).MoveEdges
		move(of, nil, before)
		Of(cx).Run.Edges = nil
		move(of, before, several{refs[0], refs[2], refs[2], refs[0]})
		move(of, refs[2], refs[2])
	}
	r, out = s.run(outer, &assign, nil)
	if out.Kind != Ended {
		t.Fatalf("it has ended as %+v", out)
	}
	want := []order.EdgeDelta{{Owner: outer, Child: gone, Units: -1}, {Owner: outer, Child: added, Units: 1}, {Owner: outer, Child: added, Units: 1}}
	if !slices.Equal(r.Edges, want) {
		t.Errorf("the edges that were moved are %v, and should be %v", r.Edges, want)
	}
	r.Undo()
	r.Release(true)
}
