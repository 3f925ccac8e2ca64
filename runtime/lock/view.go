package lock

// View is what the host of a node knows, supplied by the driver: footprints, the
// sequencing tree around its own nodes, and how far to expand. Views of different
// hosts may differ and be stale; safety does not depend on it (WITHDRAW).
//
// The queue calls it with x's latch held; it must not latch anything itself. Its
// answers may differ from call to call, as ownership changes.
type View[E, N comparable] interface {
	// Footprint evaluates the event's footprint at x from what the host knows now,
	// committed edges only, without reading mutable fields of actors. It is called
	// anew at each try to admit.
	Footprint(x N, id ID[E]) Want[N]

	// Expand lists the T-children of x that are T-ancestors-or-self of a member of
	// the footprint, appended to children. It is called once, in the step that
	// admits the entry, and only if Footprint said Below.
	//
	// NARROW: if held is Read or Write, the event now holds x in that mode, and
	// Expand may narrow a path through x's mutable fields to their present values.
	// If held is None, x is only passed: it must cover all that the field may own.
	Expand(x N, id ID[E], held Mode, children []N) Expansion[N]

	// Parent returns the T-parent of x, authoritative at x's host. RULE-10: enqueues
	// from any other node are refused. While a move of x holds x the answer is the zero N,
	// undecided: enqueues from anywhere wait, until Queue.Moved sorts them out.
	Parent(x N) N

	// Toward returns the T-child of x that is a T-ancestor-or-self of y; false if the
	// host does not know y to be strictly below x.
	Toward(x, y N) (N, bool)

	// Remote reports whether T-child c of x lives on another host than x. Enqueues
	// on it are then numbered, and travel as messages.
	Remote(x, c N) bool
}

// Want is the answer of View.Footprint.
type Want[N comparable] struct {
	// Enter is looked at for direct entries only: the sequencer of the footprint, if
	// it is not x. The zero N says that x covers the footprint (RULE-1).
	Enter N
	// Mode wanted on x itself; None if x is not in the footprint. Always None at
	// virtual nodes.
	Mode Mode
	// Below says that the event may want something strictly below x.
	Below bool
}

// Expansion is the answer of View.Expand.
type Expansion[N comparable] struct {
	// Children are the T-children to enqueue on now. The hold covers exactly these.
	Children []N
	// Lazy: do not expand; the hold stays lazy and covers everything below x
	// (RULE-3, RULE-5). Not allowed at virtual nodes.
	Lazy bool
	// Outside: a path of the footprint leads to Node, wanted in Mode, which is not
	// below x and which the entry does not cover. The attempt is to be withdrawn.
	Outside bool
	Node    N
	Mode    Mode
}

// Router is the part of a View that a Home needs: T as its host knows it, possibly
// stale.
type Router[N comparable] interface {
	// Parent returns the T-parent of x, the zero N above TOP.
	Parent(x N) N
}
