package spec

import "maps"

// Resource is something that two steps can both touch. It is comparable.
type Resource struct {
	kind resourceKind
	a, b eventID
	name actorName
	text string
}

type resourceKind uint8

const (
	actorResource    resourceKind = iota // an actor: its fields, and whether it is deleted
	nameResource                         // which actor has a name
	laneResource                         // the sub-events of an issuer to a target
	mailboxResource                      // the callbacks
	timerResource                        // a timer of an issuer by its name
	dueResource                          // the order of the timers due at one time
	periodicResource                     // whether timers are periodic
	firingResource                       // the order of firings
	outputResource                       // the output
	effectResource                       // a call of a Go function, which ends in one way
	cancelResource                       // whether an event of a client was cancelled
	serialResource                       // the order of the actors of a class and partition, if they are keys
	everything                           // all of the above
)

type useKind bool

const (
	read  useKind = false
	write useKind = true
)

// Access is what a step has touched. It decides which steps commute. Take two steps that
// may both come next, of which neither writes what the other reads or writes: they lead to
// the same state in either order, since a step is a function of what it reads.
type Access struct {
	uses map[Resource]useKind
	// Barrier: at the end of the step everything was over, and client code that waits
	// for that went on, as [SETTLE] and [ADVANCE] do. No step behind it can come before
	// one that was there.
	Barrier bool
}

func (m *Machine) note(kind useKind, r Resource) {
	if m.acc.Barrier {
		return // nothing can be exchanged with it
	}
	if m.acc.uses == nil {
		m.acc.uses = map[Resource]useKind{}
	}
	m.acc.uses[r] = m.acc.uses[r] || kind
}

// notePrint notes a print, if it matters.
func (m *Machine) notePrint() {
	if m.opts.Observe {
		m.note(write, Resource{kind: outputResource})
	}
}

// harmless turns what an event that was undone has written into what it has read: nothing
// has been written, but what it read decided that it failed.
func (m *Machine) harmless(before map[Resource]useKind) {
	for r := range m.acc.uses {
		m.acc.uses[r] = before[r]
	}
}

func (m *Machine) uses() map[Resource]useKind { return maps.Clone(m.acc.uses) }

// All reports whether the resource stands for all others.
func (r Resource) All() bool { return r.kind == everything }

// Each calls f for everything that the step has touched, in no order.
func (a Access) Each(f func(r Resource, write bool)) {
	for r, kind := range a.uses {
		f(r, bool(kind))
	}
}
