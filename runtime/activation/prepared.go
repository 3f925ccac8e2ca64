package activation

import (
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/smallset"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
)

// CommittedAt returns when the event commits, by the clock of this store, which says now. A part may learn late that its home has committed.
func (r *Run) CommittedAt(now time.Time) time.Time {
	if w := r.Wide(); w != nil && w.Part != nil {
		return now.Add(min(0, time.Unix(0, w.Part.At).Sub(now)))
	}
	return now
}

// Prepared makes p what the row of a part has, but Changes. For args and number see issues.
func (r *Run) Prepared(p *row.Prepared, args []byte, number func(*Method) uint32) {
	p.Reset()
	p.Chain = r.Wide().Part.Chain
	stays := func(h *order.Handle) bool { return !r.Deleting(h) || !h.Is(order.Fresh) } // what is made and deleted was never there
	var held smallset.Set[*order.Handle]
	hold := func(h *order.Handle) {
		if !h.Is(order.Fresh) && held.Add(h) {
			p.Held = append(p.Held, h.ID)
		}
	}
	entries := r.Root.UndoLog().Entries()
	for i := range entries {
		hold(order.HandleOf(entries[i].Self().Ref()))
	}
	for _, h := range r.Fresh {
		if stays(h) {
			p.Fresh = append(p.Fresh, row.Made{ID: h.ID, Layout: h.Layout})
		}
	}
	for _, h := range r.Born {
		hold(h)
		p.Born = append(p.Born, h.ID)
	}
	for _, h := range r.Deletes {
		if stays(h) {
			hold(h)
			p.Deletes = append(p.Deletes, h.ID)
		}
	}
	for _, e := range r.Edges {
		if stays(e.Owner) && stays(e.Child) {
			hold(e.Owner)
			p.Edges = append(p.Edges, row.Edge{Owner: e.Owner.ID, Child: e.Child.ID, Units: e.Units})
		}
	}
	for _, e := range r.Abroad {
		if stays(e.Owner) {
			hold(e.Owner)
			p.Abroad = append(p.Abroad, row.Edge{Owner: e.Owner.ID, Child: e.Child.ID, Units: e.Units})
		}
	}
	p.Issues = issues(nil, r.Root.Ops, args, number, hold)
	for h := range r.Holding() {
		// Invariant: what a part holds is in its store.
		if h.Is(order.Elsewhere) {
			assert.Unreachable("activation: a part holds %v of another store", h.ID)
		}
		if !h.Is(order.Fresh) && held.Add(h) {
			p.Reads = append(p.Reads, h.ID)
		}
	}
}
