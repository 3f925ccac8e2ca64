package door

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
)

// lookEach is how often the calls under way are looked at.
const lookEach = 5 * time.Millisecond

// Guarded is a call that is cancelled when its context ends, or its time is up.
//
// Nearly all calls end within a millisecond. To be told of the end of a context takes an entry in it, and six objects with
// the timer: more time than a call in memory. So a call is only put into a list at first, and gets both if it is still there
// when the list is looked at. The event sees the end of its context by itself before that, wherever it does not wait; what
// waits is cancelled up to two looks later than its context has ended.
type Guarded struct {
	order.Cancellation
	timeMax time.Duration // 0: only the context bounds the call
	in      *guardList
	young   int // which list of in has it
	at      int // its place there; armed: in none
	stop    func() bool
	late    *time.Timer // nil: its time is not bounded
}

// armed is the place of a call that gets told.
const armed = -1

// guards are the calls under way. The zero value has none. Any goroutine may use it.
type guards struct {
	looking atomic.Bool   // a timer looks at the lists
	lists   [16]guardList // each has a mutex of its own, as each call takes one twice
}

// guardList is a part of the calls.
type guardList struct {
	mu    sync.Mutex
	calls [2][]*Guarded // those that no look has seen, at young, and those that one has
	young int
	_     [64]byte // the next one is in another cache line
}

// begin puts a call into a list.
func (g *guards) begin(ctx context.Context, timeMax time.Duration) *Guarded {
	c := &Guarded{timeMax: timeMax, in: &g.lists[rand.IntN(len(g.lists))]}
	c.First, c.Until = true, ctx // a chain that was left in the middle would be done by half, for ever
	c.in.add(c)
	if !g.looking.Load() {
		g.lookLater()
	}
	return c
}

// lookLater has the lists looked at, unless they are already.
func (g *guards) lookLater() {
	if g.looking.CompareAndSwap(false, true) {
		time.AfterFunc(lookEach, g.look)
	}
}

// look arms the calls that the look before has seen, too. While there are others it looks again.
func (g *guards) look() {
	left := false
	for i := range g.lists {
		left = g.lists[i].look() || left
	}
	if left {
		time.AfterFunc(lookEach, g.look)
		return
	}
	g.looking.Store(false)
	for i := range g.lists {
		if g.lists[i].some() { // it has come before looking was false
			g.lookLater()
			return
		}
	}
}

// add puts a call into the list.
func (l *guardList) add(c *Guarded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := &l.calls[l.young]
	c.young, c.at = l.young, len(*of)
	*of = append(*of, c)
}

// look arms the calls that the look before has seen, too, and reports whether there are others.
func (l *guardList) look() (left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.calls[1-l.young]
	for _, c := range old {
		c.arm()
	}
	clear(old)
	l.young = 1 - l.young
	l.calls[l.young] = old[:0]
	return len(l.calls[1-l.young]) > 0
}

// some reports whether there are calls.
func (l *guardList) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls[0])+len(l.calls[1]) > 0
}

// arm has the call cancelled from now on. The time that it was in the list counts. Caller holds mu of its list.
func (c *Guarded) arm() {
	c.at = armed
	c.stop = context.AfterFunc(c.Until, c.Cancel)
	if c.timeMax > 0 {
		c.late = time.AfterFunc(c.timeMax-lookEach, c.Cancel)
	}
}

// End says that the call has ended. It is called once.
func (c *Guarded) End() {
	if !c.in.remove(c) {
		c.stop()
		if c.late != nil {
			c.late.Stop()
		}
	}
}

// remove takes a call out of the list; false if it is armed.
func (l *guardList) remove(c *Guarded) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.at == armed {
		return false
	}
	of := l.calls[c.young]
	last := len(of) - 1
	of[c.at] = of[last]
	of[c.at].at = c.at
	of[last] = nil
	l.calls[c.young] = of[:last]
	return true
}
