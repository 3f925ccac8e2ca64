package spec

import "maps"

// resource is something that two steps can both touch.
type resource struct {
	kind resourceKind
	a, b eventID
	name actorName
	text string
}

type resourceKind uint8

const (
	actorResource    resourceKind = iota // an actor: its fields, and whether it is deleted
	nameResource                         // who has a name
	laneResource                         // the sub-events of an issuer to a target
	mailboxResource                      // the callbacks
	timerResource                        // a timer of an issuer by its name
	dueResource                          // the order of the timers due at one time
	periodicResource                     // whether timers are periodic
	outputResource                       // the output
	everything                           // all of the above
)

type useKind bool

const (
	read  useKind = false
	write useKind = true
)

// Access is what a step has touched. It decides which steps commute: two steps that may
// both come next, of which neither writes what the other reads or writes, lead to the same
// state in either order, since a step is a function of what it reads.
type Access struct {
	uses map[resource]useKind
}

func (m *Machine) note(kind useKind, r resource) {
	if m.acc.uses == nil {
		m.acc.uses = map[resource]useKind{}
	}
	m.acc.uses[r] = m.acc.uses[r] || kind
}

// notePrint notes a print, if it matters.
func (m *Machine) notePrint() {
	if m.opts.Observe {
		m.note(write, resource{kind: outputResource})
	}
}

// harmless turns what an event that was undone has written into what it has read: nothing
// has been written, but what it read decided that it failed.
func (m *Machine) harmless(before map[resource]useKind) {
	for r := range m.acc.uses {
		m.acc.uses[r] = before[r]
	}
}

func (m *Machine) uses() map[resource]useKind { return maps.Clone(m.acc.uses) }

// Commutes reports whether two steps that may both come next can be exchanged.
func (a Access) Commutes(b Access) bool {
	if _, all := a.uses[resource{kind: everything}]; all {
		return false
	}
	if _, all := b.uses[resource{kind: everything}]; all {
		return false
	}
	if len(b.uses) < len(a.uses) {
		a, b = b, a
	}
	for r, x := range a.uses {
		if y, both := b.uses[r]; both && (x == write || y == write) {
			return false
		}
	}
	return true
}
