package value

import "strconv"

// Only objects of classes that may contain themselves nest deeper than their types: a loop makes a list of millions of them. What goes
// through such a value by recursion would exhaust the Go stack, which ends the process and not the event.

const (
	// walkMax is how many such objects recursion goes through at a time.
	walkMax = 10_000
	// textNestingMax is how many of them may lie in each other in a value that has a text. To make it takes time by the square of that.
	textNestingMax = 1000
)

// Walk is where a walk through a value by recursion has come to. What lies too deep for the stack is visited later, from the top; so a walk
// ends for every value.
type Walk struct {
	depth int
	later *Later
}

// Later has the visits that a walk makes when it has come back to the top.
type Later struct{ visits []func(*Later) bool }

// Walk begins a walk.
func (l *Later) Walk() Walk { return Walk{later: l} }

// Rest makes the visits until one returns false, and reports whether none did.
func (l *Later) Rest() bool { return l.visits == nil || rest(l.visits) }

// rest has a Later of its own: that of its caller stays on the stack.
func rest(visits []func(*Later) bool) bool {
	l := &Later{visits}
	for len(l.visits) > 0 {
		last := len(l.visits) - 1
		visit := l.visits[last]
		l.visits = l.visits[:last]
		if !visit(l) {
			return false
		}
	}
	return true
}

// Deep reports whether an object is to be visited later.
func (w Walk) Deep() bool { return w.depth == walkMax }

// Down returns where the walk goes on in an object.
func (w Walk) Down() Walk {
	w.depth++
	return w
}

// EqualLater has two objects compared later. Until then they count as equal.
func EqualLater[T any](w Walk, a, b T, equal func(a T, w Walk, b T) bool) bool {
	w.later.visits = append(w.later.visits, func(l *Later) bool { return equal(a, l.Walk(), b) })
	return true
}

// VisitLater has the references in an object shown to visit later.
func VisitLater[T, R any](w Walk, v T, each func(v T, w Walk, visit func(R)), visit func(R)) {
	w.later.visits = append(w.later.visits, func(l *Later) bool {
		each(v, l.Walk(), visit)
		return true
	})
}

// Nesting counts the objects around the one whose text is being made.
type Nesting struct {
	depth   int
	tooDeep bool
}

// Enter begins the text of an object, and Leave ends it. Enter returns false where there is none, as too many objects are around it.
func (n *Nesting) Enter() bool {
	n.tooDeep = n.tooDeep || n.depth == textNestingMax
	n.depth++
	return !n.tooDeep
}

// Leave ends what Enter began, if that has returned true: behind too many objects nothing is counted any more.
func (n *Nesting) Leave() { n.depth-- }

// Whole returns the text that was made, or faults. It does so here, and not in Enter, where the stack hides what has asked for the text.
func (n *Nesting) Whole(text string) string {
	if n.tooDeep {
		FailNesting()
	}
	return text
}

// FailNesting faults: a value nests too deeply for a text.
//
//go:noinline
func FailNesting() { Fail("text of a value that nests deeper than " + strconv.Itoa(textNestingMax)) }
