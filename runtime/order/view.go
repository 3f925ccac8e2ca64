package order

import (
	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// fanOutMax is the number of T-children up to which a hold or pass enqueues on them at its
// grant. Beyond it a real node stays lazy (coarse mode, protocol rule 5). A
// virtual node cannot be lazy: it passes to the listed members only and leaves the
// rest to withdrawal.
const fanOutMax = 64

// view is the host's view of the one node: footprints, routing and expansion.
// Invariant: it takes no latch, only the mutex of the event it is asked about.
type view struct{ host *Host }

// Footprint implements lock.View.
func (v view) Footprint(x *Handle, id lockID) lock.Want[*Handle] {
	return id.Event.want(x, x == id.Event.entry)
}

// Parent implements lock.View and lock.Router.
func (v view) Parent(x *Handle) *Handle { return v.host.ParentOf(x) }

// Toward implements lock.View.
func (v view) Toward(x, y *Handle) (*Handle, bool) {
	c := v.host.childTowards(x, y)
	return c, c != nil
}

// Remote implements lock.View: all actors are on this host.
func (v view) Remote(_, _ *Handle) bool { return false }

// Expand implements lock.View.
func (v view) Expand(x *Handle, id lockID, held lock.Mode, children []*Handle) lock.Expansion[*Handle] {
	ev := id.Event
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if ev.moveTo != nil {
		return lock.Expansion[*Handle]{Lazy: true}
	}
	if x == ev.Target && ev.Effects.Below == Exact && !ev.isNarrow && held != lock.None {
		ev.narrow()
		if m := ev.beyond(); m != nil {
			return lock.Expansion[*Handle]{Outside: true, Node: m.h, Mode: lockMode(m.mode)}
		}
		if ev.coarse {
			return lock.Expansion[*Handle]{Lazy: true}
		}
		if m := ev.outside(x); m != nil {
			return lock.Expansion[*Handle]{Outside: true, Node: m.h, Mode: lockMode(m.mode)}
		}
	}
	m, listed := ev.wanted(x)
	if listed && m.tree || !listed && ev.mayReach(x) {
		var shared bool
		if children, shared = ev.share(x, children); !shared {
			return lock.Expansion[*Handle]{Lazy: true}
		}
	}
	for _, f := range [...]*footprint{&ev.members, &ev.narrowed} {
		for i := range f.members {
			m := &f.members[i]
			if c := v.host.childTowards(x, m.h); c != nil {
				children = appendNew(children, c)
			}
			if m.tree && v.host.above(x, m.h) {
				var whole bool
				if children, whole = ev.crossing(x, m.h, children); !whole {
					return lock.Expansion[*Handle]{Lazy: true}
				}
			}
		}
	}
	if len(children) > v.host.fanOut {
		return lock.Expansion[*Handle]{Lazy: true}
	}
	return lock.Expansion[*Handle]{Children: children}
}

// narrow evaluates the Exact footprint of the event's target, on which the event
// has a hold. Caller holds a.mu.
func (a *Attempt) narrow() {
	a.isNarrow = true
	a.narrowed.max = a.Host.fanOut
	if a.Target.Is(Unloaded) && a.Host.residence.Load(a.Target) != nil {
		return // the process is ending
	}
	if a.Target.Object == nil || a.Effects.Narrow == nil {
		return
	}
	func() {
		// A fault in the paths is not the attempt's: the method will meet it, and abort there.
		defer func() { _ = recover() }()
		a.Effects.Narrow(a.Target.Object, a.Args, &a.narrowed.Footprint)
	}()
	for i := range a.narrowed.members {
		a.reaching = a.reaching || a.narrowed.members[i].tree
	}
	if a.narrowed.over {
		// Lazily, each member is acquired in the mode of its class. A list of all members
		// would be searched at each access.
		a.coarse = true
		a.narrowed.reset()
	}
}

// outside returns a member that the narrowed footprint lists, which neither
// lies below x nor is covered by what the event entered with; nil if there is none.
func (a *Attempt) outside(x *Handle) *member {
	for i := range a.narrowed.members {
		m := &a.narrowed.members[i]
		if m.h == x || a.Host.above(x, m.h) && (!m.tree || a.Host.above(x, a.Host.HandleOf(a.Host.Graph.Top(&m.h.Node)))) {
			continue
		}
		if k := a.members.find(m.h); k != nil && k.mode >= m.mode && (k.tree || !m.tree) {
			continue
		}
		if z := a.lazyAt; z != nil && a.Host.above(z, m.h) {
			continue
		}
		return m
	}
	return nil
}

// crossing appends the T-children of x through which tree member m may reach
// actors outside the T-child of x that m itself lies in. It reports false if they
// are too many to look at, so that it has not listed all.
func (a *Attempt) crossing(x, m *Handle, children []*Handle) (_ []*Handle, whole bool) {
	s := a.Host
	stack := append(make([]*Handle, 0, 16), m)
	seen := map[*Handle]bool{m: true}
	var owned []*dominator.Node
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		c := s.childTowards(x, n)
		if c == nil {
			continue // x itself, or outside: an access there is withdrawn
		}
		children = appendNew(children, c)
		if s.above(c, s.HandleOf(s.Graph.Top(&n.Node))) {
			continue // all that n reaches lies below c
		}
		owned = s.Graph.Owned(owned[:0], &n.Node)
		for _, o := range owned {
			if h := s.present(o); !seen[h] {
				seen[h] = true
				stack = append(stack, h)
			}
		}
		if len(seen) > a.lookMax() || len(children) > s.fanOut {
			return children, false
		}
	}
	return children, true
}

func appendNew(list []*Handle, h *Handle) []*Handle {
	for _, o := range list {
		if o == h {
			return list
		}
	}
	return append(list, h)
}
