package order

import (
	"slices"
	"unsafe"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/short"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// member is one actor of a footprint; tree says that anything below it is in the footprint, too.
type member struct {
	h    *Handle
	mode Mode
	tree bool
}

// Footprint is what generated code sees of a footprint.
type Footprint struct{ _ [0]byte }

// Add says that the method may touch the actor r itself, in mode, and nothing below it. Null is ignored.
func (f *Footprint) Add(r Ref, mode Mode) { list(f, r, mode, false) }

// AddTree says that the method may touch r in mode, and anything reachable from it in the modes of Method.Touches. Null is ignored.
func (f *Footprint) AddTree(r Ref, mode Mode) { list(f, r, mode, true) }

//go:noinline
func list(f *Footprint, r Ref, mode Mode, tree bool) {
	(*footprint)(unsafe.Pointer(f)).add(HandleOf(r), mode, tree)
}

// footprint collects the actors that a method may touch apart from its target.
type footprint struct {
	Footprint // Invariant: first, so that the footprint is found from what generated code has of it

	members []member
	away    []member        // of other stores
	index   map[*Handle]int // of members, when they are many
	max     int             // if not 0, how many members are listed
	over    bool            // there were more than max: the list is not complete
	fresh   bool            // fresh actors are listed, too: no lock needs them
}

const footprintScanMax = 24 // members up to which a search is linear

func (f *footprint) add(h *Handle, mode Mode, tree bool) {
	if h == nil {
		return
	}
	st := h.State.Load()
	if st&Away != 0 {
		if st&Elsewhere != 0 {
			f.away = addAway(f.away, member{h: h, mode: mode, tree: tree})
			return
		}
		if h.Host.Attach(h) != nil {
			return // the process is ending
		}
		st = h.State.Load()
	}
	if st&Deleted != 0 || st&(Fresh|Announced) == Fresh && !f.fresh {
		return
	}
	if st&(Created|Fresh) == 0 {
		mode = Write // its constructor will run
	}
	if m := f.find(h); m != nil {
		m.mode, m.tree = max(m.mode, mode), m.tree || tree
		return
	}
	if f.max > 0 && len(f.members) == f.max {
		f.over = true
		return
	}
	f.members = append(f.members, member{h: h, mode: mode, tree: tree})
	n := len(f.members)
	if f.index != nil {
		f.index[h] = n - 1
	} else if n > footprintScanMax {
		f.index = make(map[*Handle]int, 2*n)
		for i := range f.members {
			f.index[f.members[i].h] = i
		}
	}
}

func (f *footprint) find(h *Handle) *member {
	if f.index != nil {
		if i, ok := f.index[h]; ok {
			return &f.members[i]
		}
		return nil
	}
	for i := range f.members {
		if f.members[i].h == h {
			return &f.members[i]
		}
	}
	return nil
}

// touches reports whether any member is read or written.
func (f *footprint) touches() bool {
	return slices.ContainsFunc(f.members, func(m member) bool { return m.mode != NoAccess })
}

func (f *footprint) reset() {
	short.Clear(f.members)
	f.members, f.index, f.over = f.members[:0], nil, false
	f.away = nil
}

// gather computes the footprint of the coming attempt, as far as it is known
// without reading any actor: the target, unless a client's new creates it, the plain
// arguments, and what earlier attempts have discovered.
func (a *Attempt) gather() {
	a.moves = a.Host.Graph.Moves()
	a.members.reset()
	a.narrowed.reset()
	a.reaching = a.Effects.Below == Any && a.Makes == nil
	if t := a.Target; t != nil && t.Is(Elsewhere) {
		a.members.add(t, max(a.Effects.Self, Read), a.Effects.Below == Any || a.Effects.Below == Exact && a.crowded)
		a.reaching = false // nothing lies below it here
	} else {
		a.members.add(t, a.Effects.Self, a.reaching)
	}
	if a.Effects.ArgRefs != nil {
		a.Effects.ArgRefs(a.Args, &a.members.Footprint)
		if a.Makes != nil && a.Effects.Below == Any {
			// The fields of an actor that a client's new creates lead to what the constructor is given.
			for i := range a.members.members {
				m := &a.members.members[i]
				m.mode, m.tree = max(m.mode, a.Effects.modeOf(m.h.Shape)), true
			}
		}
	}
	a.known = len(a.members.away)
	for _, c := range a.claims {
		a.members.add(c.h, c.mode, c.tree)
	}
	a.wide = a.byTop && len(a.members.away)+len(a.hinted)+len(a.places) > 0 // else it may go out
	for i := range a.members.members {
		a.reaching = a.reaching || a.members.members[i].tree
	}
}

// sequencer returns the nearest common T-ancestor of the gathered footprint
// (protocol rule 1). An Exact footprint enters on its gathered part alone: if
// what Narrow then lists lies elsewhere, the attempt is withdrawn before any code
// has run and enters again with those actors. This locks less than covering
// everything the target may own, and reads no field without a hold on it.
func (a *Attempt) sequencer() *Handle {
	s := a.Host
	if a.moveTo != nil {
		return a.moveFrom()
	}
	if len(a.members.members) == 1 && !a.members.members[0].tree {
		return a.members.members[0].h
	}
	var exactBuf, wholeBuf [8]*dominator.Node
	exact, whole := exactBuf[:0], wholeBuf[:0]
	for i := range a.members.members {
		m := &a.members.members[i]
		if n := s.NodeOf(m.h); m.tree {
			whole = append(whole, n)
		} else {
			exact = append(exact, n)
		}
	}
	if len(exact)+len(whole) == 0 {
		return a.Target
	}
	return s.HandleOf(s.Graph.Sequencer(exact, whole))
}

// wanted returns the member of the footprint that x is, and whether it is one. Caller holds a.mu.
func (a *Attempt) wanted(x *Handle) (m member, ok bool) {
	if p := a.members.find(x); p != nil {
		m, ok = *p, true
	}
	if p := a.narrowed.find(x); p != nil {
		m = member{h: x, mode: max(m.mode, p.mode), tree: m.tree || p.tree}
		ok = true
	}
	return m, ok
}

// want answers View.Footprint: how x is wanted, and whether anything below it.
func (a *Attempt) want(x *Handle, direct bool) (w lock.Want[*Handle]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.moveTo != nil {
		return a.wantMove(x, direct)
	}
	s := a.Host
	if direct {
		if z := a.sequencer(); z != x && !s.above(x, z) {
			w.Enter = z
		}
	}
	m, ok := a.wanted(x)
	switch {
	case x.Is(Virtual | Deleted):
	case ok:
		w.Mode = lockMode(m.mode)
		if m.tree && x.Shape.Owning() || x == a.Target && a.Effects.Below == Exact && !a.isNarrow {
			w.Below = true
			return w
		}
	case a.mayReach(x):
		// Neither listed nor above the target: reached by lazy acquisition.
		w.Mode = lockMode(a.Effects.modeOf(x.Shape))
		if x.Shape.Owning() {
			w.Below = true
			return w
		}
	}
	w.Below = a.anyBelow(x)
	return w
}

func lockMode(m Mode) lock.Mode { return lock.Mode(m) }

// mayReach reports whether x, which is not listed, may be one of the actors that
// an event touches without having listed them: some part of the footprint is
// open, and x is not merely on the way to it.
func (a *Attempt) mayReach(x *Handle) bool {
	if !a.reaching && !a.coarse {
		return false
	}
	return x != a.Target && (a.Target == nil || a.Target.Is(Elsewhere) || !a.Host.above(x, a.Target))
}

// anyBelow reports whether a member lies strictly below x in T. Caller holds a.mu.
func (a *Attempt) anyBelow(x *Handle) bool {
	for _, f := range [...]*footprint{&a.members, &a.narrowed} {
		for i := range f.members {
			if h := f.members[i].h; h != x && a.Host.above(x, h) {
				return true
			}
		}
	}
	return false
}
