package order

import "github.com/aeon-lang/aeon/dominator"

// CallFootprint is the footprint of a call, as wide as it is known before the call. It
// decides whether the call may run beside another one.
type CallFootprint struct {
	Target  *Handle
	self    Mode
	effects *Effects // nil: the target alone
	args    []member
}

// CallOf returns the footprint of a call of target with effects e.
func CallOf(target *Handle, e *Effects, args Args) CallFootprint {
	p := CallFootprint{Target: target, self: e.Self, effects: e}
	if e.ArgRefs != nil {
		f := footprint{fresh: true} // what this event has created is shared by its branches alone
		e.ArgRefs(args, &f.Footprint)
		p.args = f.members
	}
	return p
}

// AccessOf returns the footprint of an access of target alone.
func AccessOf(target *Handle, mode Mode) CallFootprint {
	return CallFootprint{Target: target, self: mode}
}

// MayTouch reports whether the call may touch h.
func (p *CallFootprint) MayTouch(h *Handle) bool { return p.mode(h) != NoAccess }

func (p *CallFootprint) open() bool {
	if p.effects == nil {
		return false
	}
	if p.effects.Below != None {
		return true
	}
	for i := range p.args {
		if p.args[i].tree {
			return true
		}
	}
	return false
}

// mode returns the strongest mode in which the call may touch h.
func (p *CallFootprint) mode(h *Handle) Mode {
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
		m = max(m, p.effects.modeOf(h.Shape))
	}
	return m
}

func clash(a, b Mode) bool { return a == Write && b != NoAccess || b == Write && a != NoAccess }

// Conflicts reports whether p and q may touch one actor, one of them writing. It errs
// on the side of yes.
func (s *Host) Conflicts(p, q *CallFootprint, settledGraph bool) bool {
	if settledGraph && s.apart(p, q) {
		return false
	}
	if clash(p.mode(q.Target), q.self) || clash(q.mode(p.Target), p.self) {
		return true
	}
	for i := range q.args {
		if clash(p.mode(q.args[i].h), q.args[i].mode) {
			return true
		}
	}
	for i := range p.args {
		if clash(q.mode(p.args[i].h), p.args[i].mode) {
			return true
		}
	}
	if p.open() && q.open() {
		for _, t := range p.effects.Touches {
			if clash(t.Mode, q.effects.modeOf(t.Shape)) {
				return true
			}
		}
	}
	return false
}

// apart reports whether T proves that the two calls have no actor in common: all
// that they reach lies in disjoint subtrees. Uncommitted edges are not in T, so it is
// asked only by events that have none.
func (s *Host) apart(p, q *CallFootprint) bool {
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
	var buf [4]*dominator.Node
	list := buf[:0]
	add := func(h *Handle, tree bool) {
		switch {
		case h.Is(Fresh):
			list = append(list, nil)
		case tree:
			list = append(list, s.Graph.Top(&h.Node))
		default:
			list = append(list, &h.Node)
		}
	}
	add(p.Target, p.effects != nil && p.effects.Below != None)
	for i := range p.args {
		add(p.args[i].h, p.args[i].tree)
	}
	return list
}
