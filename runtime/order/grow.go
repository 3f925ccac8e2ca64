package order

import (
	"runtime"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/latch"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// An attempt over several stores may take what it has not entered with, in any store where its part was taken.
//
// What it takes so counts as an event of its own, which passes the virtual nodes of the store at this moment, with that one actor for a footprint, and ends
// when the attempt does. That event never waits in a queue. In the order of the protocol it comes after the attempt, whose part has passed the virtual nodes
// before; what waits for it has come to its node later, and is after it. An attempt waits in queues for what is before it. So whatever waits, directly or
// not, for what an attempt has taken so is after the attempt, and the attempt does not wait for that. Without a place in the order of the store
// it could; and if it took an actor beside an entry that waits further up it would come between that entry and what is below.
//
// Before it tries again it may wait for attempts over several stores that are before it by the numbers of TOP, as all others that wait do. It may also wait for those
// whose code has ended, which ask for no lock any more, and are being decided. For any other it is withdrawn.
//
// An attempt that has entered in its own store alone may go to other stores by a call, without a place that TOP has given: it is unordered. It has a number
// below all those of TOP, from its home. From then on it waits in no queue, in any store: it takes what is free, waits for what is before it as all others that wait, or is withdrawn, and
// the next attempt enters by TOP. So it waits for unordered attempts with smaller numbers alone, which wait for such alone, and is on no circle. An event that meets no other one costs no
// message to store 0.

// growDepthMax bounds how far below its root an actor is taken so: all nodes between are latched.
const growDepthMax = 64

// grow has the attempt hold h, which nothing that it has covers, and reports whether it does: all nodes of T down to h let it go by
// at once. It has no entry at h. It may have waited for other attempts, behind; then it is to be looked again. Caller holds mu.
func (a *Attempt) grow(h *Handle, mode Mode) (ok, behind bool) {
	if a.growing { // a branch of the event, perhaps with the same actor
		a.news.Wait()
		return false, true
	}
	a.growing = true
	a.mu.Unlock()
	a.Host.scheduler.Yield()
	ok, o, busy := a.take(h, mode)
	for round := 0; busy && round < latch.YieldsMax; round++ {
		runtime.Gosched()
		ok, o, busy = a.take(h, mode)
	}
	a.mu.Lock()
	if a.growing = false; a.parallel {
		a.news.Broadcast()
	}
	if !ok && o.Event != nil {
		a.mu.Unlock()
		behind = a.follow(o, h, mode)
		a.mu.Lock()
	}
	return ok, behind
}

// take is one try of grow; busy: another goroutine has the latch of a node. If it fails only because of attempts that may be waited for, it returns one of them.
func (a *Attempt) take(h *Handle, mode Mode) (ok bool, behind lockID, busy bool) {
	var buf [8]*Handle
	path := buf[:0] // from the root down
	for n := h; !n.Is(Virtual); {
		path = append(path, n)
		if n = a.Host.ParentOf(n); n == nil || len(path) > growDepthMax {
			return false, behind, false
		}
	}
	slices.Reverse(path)
	latched := 0
	defer func() {
		// From below: fast-path holders may have left a node meanwhile, and what waited for them goes on as it is unlatched, to the nodes below.
		for latched--; latched >= 0; latched-- {
			path[latched].unlatch(a.Host)
		}
	}()
	var buffer [len(buf)]*queue
	queues := buffer[:0]
	for i, n := range path {
		// Only the first latch is waited for: T may have changed, and the next node be above this one by now.
		if i == 0 {
			n.latch.Lock()
		} else if !n.latch.TryLock() {
			return false, behind, true
		}
		latched++
		if p := a.Host.ParentOf(n); p == nil || i == 0 && !p.Is(Virtual) || i > 0 && p != path[i-1] || n.Is(Away|Deleted) {
			return false, behind, false // it was moved, or is detached
		}
		queues = append(queues, n.locked())
	}
	m := lockMode(mode)
	ref, behind := lock.Grow(queues, a.Host.ParentOf(h), a.home.ID(), m, a.turn, standing)
	if !ref.Valid() {
		return false, behind, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.home.Hold(h, m, ref, nil)
	a.entered(h, ref)
	a.grown = append(a.grown, member{h: h, mode: mode})
	a.here++
	return true, behind, false
}

// Ended says that the code of the attempt has come to its end in all stores: it asks for no lock any more, and is being decided.
func (a *Attempt) Ended() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// standing is what the attempt of id is to others that grow.
func standing(id lockID) (s lock.Standing) {
	a := id.Event
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.home.ID() == id {
		s = lock.Standing{Place: a.turn, Ended: a.ended}
	}
	return s
}

// Ordered is the bit that the numbers of TOP have, and no others.
const Ordered = 1 << 63

// unordered reports whether the attempt has gone to other stores without a place that TOP has given. Caller holds mu, or is the event's own goroutine.
func (a *Attempt) unordered() bool { return a.turn != 0 && a.turn < Ordered }

// MayGoOut reports whether the attempt may go to other stores without a place there. One that has tried may not: its store has ended meanwhile.
func (a *Attempt) MayGoOut() bool { return !a.byTop && a.turn == 0 }

// GoOut has the attempt, which has entered in its own store alone, go to others without a place there, first of all to store s, as soon as none of its branches
// waits in a queue. It returns false if the attempt was cancelled before. The caller sees to it that it is called once.
func (a *Attempt) GoOut(number uint64, s event.StoreID) bool {
	// Invariant: what is unordered is before all that TOP has numbered.
	if number == 0 || number >= Ordered || a.byTop || a.turn != 0 { // no assert.That, whose arguments would be allocated
		assert.Unreachable("order: event %v goes out with number %d", a.ID, number)
	}
	return a.AwaitNews(func() bool {
		if a.inQueues > 0 {
			return false
		}
		if a.across == nil {
			a.across = &across{}
		}
		a.across.asked, a.across.broken, a.across.claim = a.Token(), false, member{}
		a.wide, a.turn, a.places = true, number, append(a.places, s)
		return true
	})
}

// follow waits until o, which keeps a from holding h, has released what it has. It returns false if a was stopped before.
func (a *Attempt) follow(o lockID, h *Handle, mode Mode) bool {
	over, token := false, a.Token()
	a.Host.scheduler.Yield()
	e := o.Event
	e.mu.Lock()
	if e.turn == 0 || e.home.ID() != o {
		e.mu.Unlock()
		return true
	}
	e.followers = append(e.followers, func() { a.Notify(token, func() { over = true }) })
	w := Wait{Event: a.ID, Work: a.Work.String(), Target: a.Target, At: h, Wants: modeNames[lockMode(mode)], For: e.ID, ForWork: e.Work.String(), ForTarget: e.Target, Of: a.partOf(), ForOf: e.partOf(),
		Why: "it is before it in the order of all stores"}
	e.mu.Unlock()
	a.Notify(token, func() { a.followed = append(a.followed, &w) })
	defer a.Notify(token, func() { a.followed = slices.DeleteFunc(a.followed, func(f *Wait) bool { return f == &w }) })
	return a.AwaitNews(func() bool { return over })
}

// released wakes what follows the attempt, which has released what it has.
func (a *Attempt) released() {
	a.mu.Lock()
	a.turn, a.ended = 0, false
	list := a.followers
	a.followers = nil
	a.mu.Unlock()
	for _, tell := range list {
		tell()
	}
}

// AddPlace notes that the attempt has a part in a store that it has not entered with. The next one, if there is any, has a place in the order there.
func (a *Attempt) AddPlace(s event.StoreID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.places, s) {
		a.places = append(a.places, s)
	}
}

// TakeGrown returns what a part has taken beyond what it has entered with, since the last time.
func (a *Attempt) TakeGrown() (list []Wanted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.grown {
		list = append(list, Wanted{m.h.ID, m.mode, m.tree})
	}
	a.dropGrown()
	return list
}

// dropGrown forgets what the attempt has taken beyond what it has entered with.
func (a *Attempt) dropGrown() {
	clear(a.grown)
	a.grown = a.grown[:0]
}

// TakeGranted returns how many locks queues have given a part since it was taken, and since the last time.
func (a *Attempt) TakeGranted() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, a.granted = a.granted, 0
	return n
}

// gets notes a lock that a queue has given the attempt, or that it has found an actor deleted, which counts as one: see ReadWithoutLock. Caller holds mu.
func (a *Attempt) gets() { a.granted, a.here = a.granted+1, a.here+1 }

// ReadWithoutLock notes that the attempt has read something that has no lock: that an actor is deleted, which is final, or the time. It counts as a lock that the attempt has
// got, as what the attempt has read may depend on others that are to come before it.
func (a *Attempt) ReadWithoutLock() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gets()
}

// LockedHere returns a number that is a larger one when the attempt has got a lock in this store; of a part: since it was taken.
func (a *Attempt) LockedHere() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.here
}

// Granted notes that queues have given locks to a part of the attempt.
func (a *Attempt) Granted() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted++
}

// Locked returns a number that is another one when the attempt has got a lock, as far as its home knows: one that it waited for, or was not entered with.
func (a *Attempt) Locked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.grown) + len(a.told) + a.granted
}

// Grown notes what parts of the attempt have taken: if the attempt is withdrawn, the next one enters with that. of finds these actors then.
func (a *Attempt) Grown(list []Wanted, of Finder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told, a.toldOf = append(a.told, list...), of
}
