package order

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// An attempt that wants actors of several stores enters by TOP, which is in store 0: rules 2 and 5 of the protocol at virtual nodes that are on
// different hosts. TOP gives the parts of each store numbers, and each store takes its parts in that order, each in one step: so any
// two attempts are in one order wherever both come. What an attempt holds in another store an attempt there holds for it, its part.

// Above orders the attempts that want actors of several stores.
type Above interface {
	// StoreOf returns the store that has an actor.
	StoreOf(id event.ActorID) event.StoreID
	// Order has TOP order an attempt, whose footprint in other stores is in parts, ordered by store. Then Take is called with token, in the order of all
	// that this store takes, and Taken for each part when its store has taken it, unless the attempt has been withdrawn meanwhile. Order does not wait. It fails if the store has left the others.
	// away: some of the stores are not reached. Then the attempt is broken as soon as all are, and is not ordered.
	Order(a *Attempt, token uint32, parts []Part) (away bool, err error)
	// Withdrawn says that the attempt is over, and has not happened: its parts are to be released. It does not wait.
	Withdrawn(a *Attempt, token uint32)
	// Label names an actor of another store to the program, as Handle.Label does.
	Label(id event.ActorID) string
}

// Part is the footprint of an attempt in one store.
type Part struct {
	Store  event.StoreID
	Wanted []Wanted
}

// Wanted is one actor of a footprint; Tree says that anything below it is in the footprint, too.
type Wanted struct {
	Actor event.ActorID
	Mode  Mode
	Tree  bool
}

// Join makes the host one of several, before any attempt is made.
func (s *Host) Join(above Above) {
	assert.That(s.attempts.Load() == 0, "order: a host joins others after attempts")
	s.ordering, s.hints = above, &hints{of: make(map[event.ActorID][]hint)}
}

// across is what an attempt over several stores has beside that of one store.
type across struct {
	mu     sync.Mutex // held while the part is taken
	token  uint32     // of the attempt that waits for its turn; 0: none does
	asked  uint32     // the attempt that was ordered last; of the event's own goroutine
	broken bool       // another store has lost its part: guarded by the mutex of the attempt, as is claim
	claim  member     // that the part did not cover, if that is why
	above  any        // see SetAbove
}

// SetAbove notes what Above knows of the attempt, which is ordered or goes out; nil: nothing. Above has it guarded, here and in OfAbove.
func (a *Attempt) SetAbove(x any) { a.across.above = x }

// OfAbove returns that.
func (a *Attempt) OfAbove() any {
	if a.across == nil {
		return nil
	}
	return a.across.above
}

// Token names the attempt in this process, until it is over. Attempts of a pooled object have different ones.
func (a *Attempt) Token() uint32 { return a.home.ID().Attempt }

// enterAbove enters by TOP, and reports whether the attempt has all its locks. If it fails the attempt waits for nothing.
func (a *Attempt) enterAbove() (in bool, err error) {
	if a.across == nil {
		a.across = &across{}
	}
	x, token := a.across, a.Token()
	x.asked = token
	x.mu.Lock()
	x.token = token
	x.mu.Unlock()
	parts := a.parts()
	a.mu.Lock()
	x.broken, x.claim = false, member{}
	a.pending += 1 + len(parts) // its turn, and theirs
	a.mu.Unlock()
	away, err := a.Host.ordering.Order(a, token, parts)
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		x.asked, a.pending = 0, 0
		return false, err
	}
	if away { // perhaps for hours: no queue has the attempt, and what it has gathered the next one gathers again
		a.End()
		defer a.Begin()
	}
	return a.await(), nil
}

// parts returns the footprint in other stores, and an empty part for each store in which nothing is known to be wanted, but is thought to be.
func (a *Attempt) parts() (list []Part) {
	of := func(id event.StoreID) *Part {
		k := slices.IndexFunc(list, func(p Part) bool { return p.Store == id })
		if k < 0 {
			k = len(list)
			list = append(list, Part{Store: id})
		}
		return &list[k]
	}
	for i := range a.members.away {
		m := &a.members.away[i]
		p := of(a.Host.ordering.StoreOf(m.h.ID))
		p.Wanted = append(p.Wanted, Wanted{m.h.ID, m.mode, m.tree})
	}
	for _, id := range slices.Concat(a.hinted, a.places) {
		of(id)
	}
	slices.SortFunc(list, func(a, b Part) int { return cmp.Compare(a.Store, b.Store) })
	return list
}

// Take takes the part that the attempt has in its own store, and notes its place among all attempts over several stores. It is called when its turn has come, and does nothing if the attempt is over.
func (a *Attempt) Take(token uint32, place uint64) {
	x := a.across
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.token != token {
		return
	}
	x.token = 0
	a.mu.Lock()
	a.turn = place
	a.mu.Unlock()
	a.pass()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.came()
}

// Taken notes that another store has taken its part. It does nothing if the attempt is over.
func (a *Attempt) Taken(token uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Token() == token {
		a.came()
	}
}

// came notes that one of the things has come for which the attempt waits. Caller holds mu.
func (a *Attempt) came() {
	if a.pending--; a.pending == 0 || a.parallel {
		a.news.Broadcast()
	}
}

// IsWide reports whether the attempt has parts in other stores.
func (a *Attempt) IsWide() bool { return a.wide }

// hasPart reports whether the attempt has a part in another store.
func (a *Attempt) hasPart(s event.StoreID) bool {
	return slices.Contains(a.hinted, s) || slices.Contains(a.places, s) ||
		slices.ContainsFunc(a.members.away, func(m member) bool { return a.Host.ordering.StoreOf(m.h.ID) == s })
}

// LeaveAbove ends what the attempt has in other stores, and its waiting for a turn: it has not happened.
func (a *Attempt) LeaveAbove() {
	x, token := a.across, a.Token()
	if x == nil || x.asked != token {
		return
	}
	x.mu.Lock()
	x.token = 0
	x.mu.Unlock()
	a.Host.ordering.Withdrawn(a, token)
}

// isBroken reports whether another store has lost its part. The event's own goroutine asks, when nothing is granted any more.
func (x *across) isBroken() bool { return x != nil && x.broken }

// Break ends an attempt of which another store has lost its part: wherever its code waits, it is withdrawn. The part may have been lost as it did not
// cover h; nil: it was not. Break does nothing if the attempt is over.
func (a *Attempt) Break(token uint32, h *Handle, mode Mode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Token() != token {
		return
	}
	a.across.broken, a.across.claim = true, member{h: h, mode: mode}
	a.giveUp()
}

// takeBroken returns what Break has said was not covered.
func (a *Attempt) takeBroken() (m member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.across.isBroken() {
		m = a.across.claim
		a.across.broken, a.across.claim = false, member{}
	}
	return m
}

// Refused returns whether a queue has refused the attempt, a part, and what that has not covered, the null id if there is no such actor.
func (a *Attempt) Refused() (claim Wanted, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := &a.refusal; r.Kind == lock.Refused && r.Mode != lock.None && r.To != nil {
		claim = Wanted{Actor: r.To.ID, Mode: Mode(r.Mode)}
	}
	return claim, a.refusal.Kind != 0
}

// Notify calls change under the mutex of the attempt, and wakes what waits by AwaitNews. It does nothing if the attempt is over.
func (a *Attempt) Notify(token uint32, change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Token() == token {
		change()
		a.news.Broadcast()
	}
}

// AwaitNews waits until ready, which is called under the mutex of the attempt, returns true. It returns false if the attempt was broken, abandoned or cancelled
// before.
func (a *Attempt) AwaitNews(ready func() bool) bool {
	if a.hasNews(ready) {
		return true
	}
	a.Cancellation.waits(a)
	defer a.Cancellation.waited()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Cancelled() { // before it was known that the event waits
		a.giveUp()
	}
	a.Host.parked.add(a)
	defer a.Host.parked.remove(a)
	for !a.stopped {
		if ready() {
			return true
		}
		a.news.Wait()
	}
	return false
}

// hasNews is AwaitNews where there is nothing to wait for, which costs a fraction of it.
func (a *Attempt) hasNews(ready func() bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.stopped && !a.Cancelled() && ready()
}

// Stopped reports whether the attempt is to end without having happened, wherever its code is.
func (a *Attempt) Stopped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// Broken reports whether the attempt was ended by Break.
func (a *Attempt) Broken() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.across.isBroken()
}

// Missing unwinds an attempt that does not cover h: it has no part in the store of h, or that has told it so.
func Missing(h *Handle, mode Mode, tree bool) {
	panic(Withdrawal{claim: member{h: h, mode: mode, tree: tree}})
}

// beyond returns a member in another store that the narrowed footprint lists, and in which the attempt has no part, and cannot get one by a call; nil if
// there is none.
func (a *Attempt) beyond() *member {
	if !a.byTop {
		return nil
	}
	for i := range a.narrowed.away {
		m := &a.narrowed.away[i]
		if !a.hasPart(a.Host.ordering.StoreOf(m.h.ID)) {
			return m
		}
	}
	return nil
}

// addAway adds a member to a list of those in other stores.
func addAway(list []member, m member) []member {
	if k := findAway(list, m.h); k != nil {
		k.mode, k.tree = max(k.mode, m.mode), k.tree || m.tree
		return list
	}
	return append(list, m)
}

func findAway(list []member, h *Handle) *member {
	for i := range list {
		if list[i].h == h {
			return &list[i]
		}
	}
	return nil
}

// Finder finds the actors of a store by their ids.
type Finder interface {
	Handle(event.ActorID) *Handle
}

// Refused is told, under the mutex of a part, that a queue has refused it.
type Refused interface{ Refused() }

// StartPart makes the attempt the part that an attempt of an event of another store, home, has in this one. It has no target; Effects are those of the event's
// method. Its code runs in several goroutines. turn is its place, or its number if it is unordered. told is told if a queue refuses it.
func (a *Attempt) StartPart(home event.StoreID, turn uint64, wanted []Wanted, of Finder, told Refused) {
	a.Start()
	a.Number, a.parallel, a.refused, a.turn, a.of, a.isPart = 1, true, told, turn, home, true
	a.moves = a.Host.Graph.Moves()
	for _, w := range wanted {
		if !w.Actor.IsWholePartition() {
			a.members.add(of.Handle(w.Actor), w.Mode, w.Tree)
		}
	}
	for i := range a.members.members { // which are attached now: only then is the class of each known
		m := &a.members.members[i]
		m.tree = m.tree && m.h.Shape.Owning()
		a.reaching = a.reaching || m.tree
	}
}

// TakePart is Take for a part. What it is granted before it says that it was taken comes before all that its event does.
func (a *Attempt) TakePart() {
	a.pass()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted, a.here = 0, 0
}

// partOf returns the store of the event of which the attempt is a part; nil: it is none.
func (a *Attempt) partOf() *event.StoreID {
	if !a.isPart {
		return nil
	}
	of := a.of
	return &of
}

// Abandon ends the waiting of a part that is to be dropped, wherever its code waits.
func (a *Attempt) Abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.giveUp()
}

// EndPart releases all that the part holds; withdrawn says that its event may enter again.
func (a *Attempt) EndPart(withdrawn bool) {
	a.Release(withdrawn)
	a.mu.Lock()
	a.home.Withdraw(nil, 0)
	a.isPart = false
	a.mu.Unlock()
	a.refused = nil
	a.dropGrown()
	a.clear()
}

// Announce has events wait that ask for h, which the attempt has just created. Other stores may know h, and hear that its creator has committed,
// before this store does.
func (a *Attempt) Announce(h *Handle) {
	h.Set(Announced)
	a.Host.Graph.NewRoot(&h.Node, &a.Host.Partitions[int(h.ID.Birth)%len(a.Host.Partitions)].Node)
	a.takeFree(h, lock.Write)
}

// takeFree holds h, which no event holds in another way.
func (a *Attempt) takeFree(h *Handle, mode lock.Mode) {
	// Invariant: no event asks for an actor before it is announced, or before what is in doubt has its locks.
	assert.That(h.latch.Join(mode, a.serial, 0), "order: %v is held, and nothing knows it yet", h.ID)
	a.LockShared()
	defer a.UnlockShared()
	a.tookFast(h, mode)
}

// RestorePart is StartPart for what an earlier start of the store has prepared: the attempt holds the actors of written for writing, and those of read for
// reading. No other attempt is made before that.
func (a *Attempt) RestorePart(home event.StoreID, written, read []*Handle) {
	a.StartPart(home, 0, nil, nil, nil)
	for _, h := range written {
		a.takeFree(h, lock.Write)
	}
	for _, h := range read {
		a.takeFree(h, lock.Read)
	}
}

// Holding returns the actors that a part, whose code has ended, holds.
func (a *Attempt) Holding() iter.Seq[*Handle] {
	return func(yield func(*Handle) bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.home.Visits(func(v lock.Visit[*Handle]) bool { return v.Mode == lock.None || v.Node.Is(Virtual) || yield(v.Node) })
	}
}

// DropFresh takes back what the attempt has created, once: it has created nothing then.
func (a *Attempt) DropFresh() {
	for _, h := range a.Fresh {
		h.Set(Deleted) // a reference that was kept leads to nothing
		if h.Is(Announced) && a.Host.Graph.Parent(&h.Node) != nil {
			a.Host.Graph.Delete(&h.Node)
		}
	}
	a.Fresh = slices.Delete(a.Fresh, 0, len(a.Fresh))
}
