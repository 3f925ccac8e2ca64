package order

import (
	"slices"

	"github.com/aeon-lang/aeon/dominator"
)

// CallFootprint is the footprint of a call, as wide as it is known before the call. It decides whether the call may run beside another one.
type CallFootprint struct {
	Target  *Handle
	shape   *Shape // of the target; nil: unknown
	self    Mode
	effects *Effects // nil: the target alone
	args    []member // of any store
}

// CallOf returns the footprint of a call of target, an actor of class c, with effects e. c is nil if the caller does not know.
func CallOf(target *Handle, c *Shape, e *Effects, args Args) CallFootprint {
	p := CallFootprint{Target: target, shape: c, self: e.Self, effects: e}
	if c == nil {
		p.shape = target.Shape
	}
	if e.ArgRefs != nil {
		f := footprint{fresh: true} // what this event has created is shared by its branches alone
		e.ArgRefs(args, &f.Footprint)
		p.args = append(f.members, f.away...)
	}
	return p
}

// AccessOf returns the footprint of an access of target alone.
func AccessOf(target *Handle, mode Mode) CallFootprint {
	return CallFootprint{Target: target, shape: target.Shape, self: mode}
}

// MayTouch reports whether the call may touch h.
func (p *CallFootprint) MayTouch(h *Handle) bool { return p.mode(h, h.Shape) != NoAccess }

func (p *CallFootprint) open() bool {
	return p.effects != nil && (p.effects.Below != None || slices.ContainsFunc(p.args, func(m member) bool { return m.tree }))
}

// mode returns the strongest mode in which the call may touch h, of class c; nil: it is unknown.
func (p *CallFootprint) mode(h *Handle, c *Shape) Mode {
	var m Mode
	if p.Target == h {
		m = p.self
	}
	for i := range p.args {
		if p.args[i].h == h {
			m = max(m, p.args[i].mode)
		}
	}
	if p.open() {
		m = max(m, p.below(c))
	}
	return m
}

// below returns the strongest mode in which the call, which is open, may touch actors of class c that it does not list.
func (p *CallFootprint) below(c *Shape) Mode {
	if c == nil || len(p.effects.Touches) == 0 { // it may be any class
		return p.effects.BelowMode
	}
	return p.effects.modeOf(c)
}

func clash(a, b Mode) bool { return a == Write && b != NoAccess || b == Write && a != NoAccess }

// Conflicts reports whether p and q may touch one actor, one of them writing, wherever they go. It errs on the side of yes.
func (p *CallFootprint) Conflicts(q *CallFootprint) bool {
	if clash(p.mode(q.Target, q.shape), q.self) || clash(q.mode(p.Target, p.shape), p.self) {
		return true
	}
	for i := range q.args {
		if clash(p.mode(q.args[i].h, q.args[i].h.Shape), q.args[i].mode) {
			return true
		}
	}
	for i := range p.args {
		if clash(q.mode(p.args[i].h, p.args[i].h.Shape), p.args[i].mode) {
			return true
		}
	}
	if p.open() && q.open() {
		if len(p.effects.Touches) == 0 {
			return clash(p.effects.BelowMode, q.effects.BelowMode)
		}
		for _, t := range p.effects.Touches {
			if clash(t.Mode, q.below(t.Shape)) {
				return true
			}
		}
	}
	return false
}

// Apart reports whether two calls have no actor in common as long as neither leaves the stores of its target and its arguments: these differ, or T proves it. T
// does not have uncommitted edges, so it proves nothing of an event that has any, whose graph is not settled.
func (s *Host) Apart(p, q *CallFootprint, settledGraph bool) bool {
	if s.ordering == nil || s.meet(p, q) {
		return settledGraph && s.disjoint(p, q)
	}
	return true
}

// meet reports whether the two calls begin with actors of one store.
func (s *Host) meet(p, q *CallFootprint) bool {
	var bufs [2][4]member
	for _, x := range p.actors(bufs[0][:0]) {
		for _, y := range q.actors(bufs[1][:0]) {
			if s.ordering.StoreOf(x.h.ID) == s.ordering.StoreOf(y.h.ID) {
				return true
			}
		}
	}
	return false
}

// actors appends the target and the arguments.
func (p *CallFootprint) actors(list []member) []member {
	return append(append(list, member{h: p.Target, tree: p.effects != nil && p.effects.Below != None}), p.args...)
}

// disjoint reports whether T proves that the two calls have no actor in common: all that they reach lies in disjoint subtrees.
func (s *Host) disjoint(p, q *CallFootprint) bool {
	for _, x := range p.span(s) {
		for _, y := range q.span(s) {
			if x == nil || y == nil || s.Graph.IsAncestor(x, y) || s.Graph.IsAncestor(y, x) {
				return false
			}
		}
	}
	return true
}

// span returns T-subtree roots that cover the call; nil among them for unknown.
func (p *CallFootprint) span(s *Host) []*dominator.Node {
	var actors [4]member
	list := make([]*dominator.Node, 0, 4)
	for _, m := range p.actors(actors[:0]) {
		switch {
		case m.h.Is(Fresh | Elsewhere):
			list = append(list, nil)
		case m.tree:
			list = append(list, s.Graph.Top(&m.h.Node))
		default:
			list = append(list, &m.h.Node)
		}
	}
	return list
}
