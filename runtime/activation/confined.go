package activation

import (
	"sync"

	"github.com/aeon-lang/aeon/runtime/order"
)

// Calls that run beside each other must have no actor in common. Either the classes that they may touch tell so, wherever the calls go; or they may touch
// the same classes, and begin in different stores or in disjoint subtrees of T. That tells them apart as long as each is confined to where it has begun: T
// does not know which actors of other stores an actor owns. All calls between stores pass the home of the event, so it sees a call that leaves. The attempt
// is withdrawn then, and the next one goes by classes alone.

// confined is what a run knows of that, at its home. The mutex Run.branches guards it.
type confined struct {
	careful bool // calls are told apart by their classes alone, in all attempts of the event
	known   bool // whether they are, as others of its method have left
	trusted bool // some run beside others that are apart only if each stays where it has begun
	left    bool // one has left
	going   bool // a branch is about to have the attempt go to other stores
}

// carefulFor is how many events of a method tell calls apart by their classes after one that was withdrawn for a call that has left.
const carefulFor = 64

// forks reports whether async calls may run beside the code that issues them. They may not in a part, or in what its home does for one: that has called from
// within actors which are not on the stack here, and has not handed over what it has written, which is to be undone behind what comes later. Nor may they once one of
// them has met an actor that was to be constructed.
func (cx *Activation) forks() bool {
	w := cx.Run.Wide()
	return !cx.Run.inTurn && (w == nil || w.Part == nil && !w.Strict && cx.out().serves == 0)
}

// constructsBeside reports whether code may run beside cx that touches an actor which cx is about to construct. The first call of a named actor writes to it,
// whatever its method is, and the footprints by which async calls were compared do not say so. The root at the home of the event has waited for all async calls
// that may touch the actor: see hold.
func (cx *Activation) constructsBeside() bool {
	if cx.Run.IsPart() {
		return cx.away.beside
	}
	return cx != &cx.Run.Root
}

// fork notes that the event has branches from now on.
func (cx *Activation) fork() {
	r := cx.Run
	r.Fork()
	if !r.forked { // else other branches are reading it
		r.forked = true
		if r.sys.Across != nil {
			cx.Now() // stores that asked at once would have several answers
		}
	}
}

// alone reports whether cx runs beside no other code of the event. Then what was trusted before does not matter any more.
func (cx *Activation) alone() bool {
	r := cx.Run
	if cx != &r.Root || len(cx.branches) > 0 {
		return false
	}
	if r.sys.Across != nil && (r.confined.trusted || r.confined.left) {
		r.confined.trusted, r.confined.left = false, false
	}
	return true
}

// confine reports whether calls that are apart as long as each stays where it has begun may run beside each other.
func (r *Run) confine() bool {
	if r.sys.Across == nil {
		return true
	}
	r.branches.Lock()
	defer r.branches.Unlock()
	c := &r.confined
	if !c.known {
		c.known = true
		c.careful = c.careful || r.sys.carefully.takes(r.Effects)
	}
	if c.careful || c.left {
		return false
	}
	c.trusted = true
	return true
}

// leaves notes that code which runs in cx has called what is not where its call has begun. It unwinds the attempt if others run beside it that are apart
// only if it does not.
func (cx *Activation) leaves() {
	if cx.alone() {
		return
	}
	r := cx.Run
	r.branches.Lock()
	defer r.branches.Unlock()
	c := &r.confined
	if c.left = true; c.trusted {
		c.careful = true
		r.sys.carefully.add(r.Effects)
		r.Wide().Try.Lost(order.Wanted{})
		panic(order.Withdrawal{})
	}
}

// carefully are the methods whose events tell calls apart by their classes, and how many events still do so.
type carefully struct {
	mu   sync.Mutex
	left map[*order.Effects]int
}

func (c *carefully) add(m *order.Effects) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil {
		c.left = make(map[*order.Effects]int)
	}
	c.left[m] = carefulFor
}

// takes reports whether the next event of a method is one of them.
func (c *carefully) takes(m *order.Effects) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.left[m]
	if n == 0 {
		return false
	}
	if c.left[m] = n - 1; n == 1 {
		delete(c.left, m)
	}
	return true
}

// creates notes that the run has created h.
func (r *Run) creates(h *order.Handle) {
	if r.sys.Across == nil {
		r.Creates(h)
		return
	}
	r.branches.Lock()
	defer r.branches.Unlock()
	r.Creates(h)
	if r.Wide() != nil {
		r.announce(h)
	}
}
