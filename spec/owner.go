package spec

import (
	"fmt"

	"github.com/aeon-lang/aeon/lang/ast"
)

// Ω is a function of the state: there is an edge p -> c for each reference to c in the
// plain fields of p, unless one of them is deleted. [REMOVE-EDGE] needs no code.

// owned calls f for every actor that who owns, once per reference.
func (s *state) owned(who eventID, f func(*identity)) {
	a := s.actors[who]
	if a == nil || a.deleted {
		return
	}
	for i, v := range a.fields {
		if a.who.class.Fields[i].Yield {
			continue
		}
		eachPlainRef(v, func(r actorRef) {
			if c := s.actors[r.who.id]; c != nil && !c.deleted {
				f(r.who)
			}
		})
	}
}

// reach returns who and everything below it.
func (s *state) reach(who *identity) map[eventID]*identity {
	all := map[eventID]*identity{who.id: who}
	list := []*identity{who}
	for len(list) > 0 {
		p := list[len(list)-1]
		list = list[:len(list)-1]
		s.owned(p.id, func(c *identity) {
			if all[c.id] == nil {
				all[c.id] = c
				list = append(list, c)
			}
		})
	}
	return all
}

// hasOwner reports whether some actor owns who.
func (s *state) hasOwner(who eventID) bool {
	found := false
	for p := range s.actors {
		s.owned(p, func(c *identity) { found = found || c.id == who })
	}
	return found
}

// checkAcyclic is theorem 7 of semantics.md, for the edges that the event has added: no actor
// that got one is below what it got.
func (ev *event) checkAcyclic() {
	for id := range ev.owners {
		p := ev.m.st.actors[id]
		ev.m.st.owned(id, func(c *identity) {
			if ev.m.st.reach(c)[id] != nil {
				panic(bug{fmt.Sprintf("ownership: %s owns %s, which owns it", p.who.label(), c.label())})
			}
		})
	}
}

// references counts the plain references in a value.
func references(v value) map[eventID]int {
	n := map[eventID]int{}
	eachPlainRef(v, func(r actorRef) { n[r.who.id]++ })
	return n
}

// changeOwnership is [ADD-EDGE] for a plain field of p that changes from old to v: each
// actor that p newly refers to must not reach p, or p would own itself. What leaves p does
// not matter for that: a path from c to p ends where it first meets p.
func (ev *event) changeOwnership(f *frame, p *identity, old, v value, at ast.Node) {
	if !p.class.SelfRecursive { // between classes the class graph has no cycles ([T-GRAPH])
		return
	}
	before := references(old)
	eachPlainRef(v, func(r actorRef) {
		if before[r.who.id]--; before[r.who.id] >= 0 || r.who.class != p.class {
			return
		}
		c := r.who
		ev.owners[p.id] = true
		if ev.m.st.actors[c.id].deleted {
			return
		}
		below := ev.m.st.reach(c)
		for id := range below {
			ev.m.note(read, Resource{kind: actorResource, a: id})
		}
		if below[p.id] != nil {
			f.fail(at, msgCycle)
		}
		if !ev.needsNoLock(p, c) {
			for _, who := range below {
				ev.touch(who, readAccess)
			}
		}
	})
}

// needsNoLock tells the new edges p -> c that cannot close a cycle whatever other events
// do: one of the two is fresh and unconnected, or p owned c already. So the event need
// not hold what is below c.
func (ev *event) needsNoLock(p, c *identity) bool {
	if (ev.fresh[p.id] || ev.born[p.id]) && !ev.m.st.hasOwner(p.id) {
		return true
	}
	if ev.fresh[c.id] {
		connected := false
		ev.m.st.owned(c.id, func(*identity) { connected = true })
		if !connected {
			return true
		}
	}
	owns := false
	for _, s := range []*state{ev.before, ev.m.st} {
		s.owned(p.id, func(x *identity) { owns = owns || x.id == c.id })
	}
	return owns
}
