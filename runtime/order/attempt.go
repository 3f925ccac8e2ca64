package order

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Attempt is what an event wants of the locks, and what it has of them. The locks know it as (attempt, number). A withdrawn
// attempt gives back all that it has, and is made again. The goroutine that performs the event owns it; the fields
// under mu are shared with the goroutines that grant it something.
type Attempt struct {
	Wants
	Host *Host
	ID   event.EventID

	serial   uint32    // of the pooled object
	spare    []*queue  // idle queues; kept by the pooled object
	presence *presence // of a system with a store; kept by the pooled object

	mu   sync.Mutex // guards what follows; a leaf in the latch order
	news sched.Cond // on mu: something was admitted, refused or finished
	home home
	course
	awaits *Keep // between two attempts: of a chain that must leave its actor first
	// refusal is what ended the attempt from outside, Kind 0 if nothing did.
	refusal  effect
	members  footprint // known before any hold
	narrowed footprint // found under the hold on the target

	claims []member  // discovered by earlier attempts
	extra  []member  // carried if the attempt is withdrawn now
	moves  uint64    // in T, when the attempt's footprint was gathered
	passed []*Handle // scratch of pass
	// entries are the enqueues that the event has made itself. A node may occur twice in
	// an attempt, directly and below another, if it is moved in T meanwhile: the home,
	// which knows nodes, would take the one for the other.
	entries []entry
	queued  int // those of entries that are in a queue

	changes
	refused Refused       // of a part: see StartPart
	of      event.StoreID // of a part: the store of its event
	isPart  bool
	across  *across // of an attempt over several stores; kept by the pooled object

	// Of an attempt over several stores.
	wide     bool            // it has parts in other stores
	crowded  bool            // many events on the target have met others of late
	hinted   []event.StoreID // to which the method is thought to go, by what is remembered of the target
	places   []event.StoreID // in which earlier attempts have missed something
	known    int             // so many of members.away come from the target and the arguments
	grown    []member        // what it has taken in this store beyond what it entered with, and, of a part, has not told yet; guarded by mu, as is what follows
	told     []Wanted        // what its parts have taken so, which toldOf finds; guarded by mu
	toldOf   Finder
	turn     uint64  // its place in the order of all attempts over several stores, or its number if it is unordered (grow.go); 0: it has none
	ended    bool    // see Ended
	growing  bool    // a branch is trying to take something
	inQueues int32   // so many branches wait in queues
	followed []*Wait // what branches wait for in follow
	// followers are called when it has released what it has.
	followers []func()

	parkPrev, parkNext *Attempt // in parked, guarded by its shard
	parkCount          int
	Waits              int // how often events of the pooled object have waited for a lock, or a chain; changed under mu
}

// Wants is what an event wants, and what is counted over all its attempts. It is apart so that one store of zeros forgets it.
type Wants struct {
	Target       *Handle
	Effects      *Effects
	Work         fmt.Stringer // in dumps and errors: the method
	Args         Args
	Makes        *Shape         // of the actor that a client's new creates; else nil
	moveTo       *Handle        // of a move in T: the new parent; else nil
	Keeps        *Keep          // of the chain that the event is a step of; else nil
	Cancellation *Cancellation  // of a client's event, or the chain that it has begun; nil if it cannot be cancelled
	Reroutes     *atomic.Uint64 // counts the attempts that are withdrawn before any code has run
	Number       event.Attempt  // of this attempt, from 1 on
	Bounded      bool           // admission may make it wait: issued by a client
	byTop        bool           // if it wants actors of other stores it enters by TOP
	met          bool           // an earlier attempt of the event was withdrawn for what it has met in other stores
}

// course is how far an attempt has come. It is apart for the same reason. All but Expecting is guarded as home is.
type course struct {
	lazyAt *Handle // the first lazy hold
	entry  *Handle // the actor entered at directly; nil if virtual nodes were passed
	// pending counts the enqueues of this attempt that were not admitted yet.
	pending  int
	granted  int    // how many locks queues have given it; of a part those that came after its entry, and that it has not told yet
	here     uint64 // how many locks it has got in this store; of a part those that came after its entry
	isNarrow bool   // narrowed was evaluated
	reaching bool   // some member is a tree
	coarse   bool   // an Exact footprint with too many members: treated as a tree
	stopped  bool   // the attempt is to end: it was cancelled, broken or abandoned
	parallel bool   // branches run: home is read under mu
	// Expecting: what was acquired has enqueued further down, where it still waits: home is read under mu. Of the event's own goroutine.
	Expecting bool
}

// How an attempt can fail to enter; beside a fullError, and what a residence returns.
var (
	ErrGone      = errors.New("the target was deleted")
	ErrCancelled = errors.New("cancelled")
	ErrKept      = errors.New("a chain that goes on when the store is opened again keeps the actor")
)

// Open is called once, when the object that is pooled is made.
func (a *Attempt) Open(s *Host) {
	a.serial = s.attempts.Add(1)
	if s.grace != nil {
		a.presence = s.grace.add(a)
	}
	a.news.Init(&a.mu, s.scheduler)
	a.spare = make([]*queue, 0, 4)
}

// clear forgets what belongs to one attempt.
func (a *Attempt) clear() {
	if len(a.members.members) > 0 || a.wide {
		a.members.reset()
		a.wide, a.hinted, a.told = false, nil, a.told[:0]
		a.dropGrown()
	}
	if a.isNarrow {
		a.narrowed.reset()
	}
	// Invariant: an attempt that is over holds nothing, and waits for nothing.
	if len(a.entries) > 0 { // no assert.That, whose arguments would be allocated
		assert.Unreachable("order: an attempt of event %v ends with %d entries", a.ID, len(a.entries))
	}
	a.course = course{}
	if a.refusal.Kind != 0 {
		a.refusal = effect{}
	}
	a.extra = a.extra[:0]
	a.changes.clear()
}

// Start makes the attempt, whose fields say what it wants, known to the locks.
func (a *Attempt) Start() {
	if a.Host.ordering == nil {
		a.home.Start(a)
		return
	}
	a.mu.Lock() // late messages to an earlier attempt of the object compare its token
	a.home.Start(a)
	a.mu.Unlock()
}

// Reset forgets the event. The object may be used for another.
func (a *Attempt) Reset() {
	a.clear()
	a.forget()
}

// forget forgets the event.
func (a *Attempt) forget() {
	if len(a.claims) > 0 {
		clear(a.claims)
		a.claims = a.claims[:0]
	}
	a.Host, a.Wants = nil, Wants{}
	a.places = a.places[:0]
}

// entry is an enqueue that the event has to release itself.
type entry struct {
	h    *Handle
	ref  lock.Ref
	fast lock.Mode // not None: a hold by the fast path, without an entry in the queue
}

// entered notes an entry at h. Only the event's own goroutine calls it.
func (a *Attempt) entered(h *Handle, ref lock.Ref) {
	a.entries = append(a.entries, entry{h: h, ref: ref})
	a.queued++
}

// attemptsExact is the number of attempts after which a claim covers what lies below it, too.
const attemptsExact = 8

// lookMax bounds how many actors are looked at to find out where a tree reaches to. It
// grows with the attempts: what is not found is discovered by withdrawals, one at a time.
func (a *Attempt) lookMax() int { return 4 * a.Host.fanOut << min(3*max(a.Number-1, 0), 15) }

// Moved reports whether T has changed since the attempt looked at it: it may not cover any more what it was to cover.
func (a *Attempt) Moved() bool {
	now := a.Host.Graph.Moves()
	return now != a.moves || now%2 != 0
}

// claim adds m to what later attempts enter with, and reports whether that is more than before.
func (a *Attempt) claim(m member) (more bool) {
	if m.h == nil {
		return false
	}
	m.tree = m.tree || a.Number > attemptsExact
	for i := range a.claims {
		if c := &a.claims[i]; c.h == m.h {
			more = m.mode > c.mode || m.tree && !c.tree
			c.mode, c.tree = max(c.mode, m.mode), c.tree || m.tree
			return more
		}
	}
	a.claims = append(a.claims, m)
	return true
}

// attemptsPlaces is the number of the first attempt after which the next one enters with all that was found in other stores. Before that it has a place in the order
// of each of these stores, and enters with the actors that could not be taken there: what it holds from its entry on is in the way of those before it that have yet to
// find out that they need it.
const attemptsPlaces = 2

// need has later attempts enter with m, which the attempt has missed or could not take, or with a place in the store of m.
func (a *Attempt) need(m member) (more bool) {
	if m.h == nil || !m.h.Is(Elsewhere) || a.Number >= attemptsPlaces || a.hasPart(a.Host.ordering.StoreOf(m.h.ID)) {
		return a.claim(m)
	}
	return a.needPlace(m)
}

// needPlace has later attempts enter with a place in the store of m, at least.
func (a *Attempt) needPlace(m member) (more bool) {
	if a.Number >= attemptsPlaces {
		return a.claim(m)
	}
	s := a.Host.ordering.StoreOf(m.h.ID)
	if a.hasPart(s) {
		return false
	}
	a.places = append(a.places, s)
	return true
}

// isBounced reports whether a queue has refused the attempt as T had changed there. Another store may break the attempt meanwhile.
func (a *Attempt) isBounced() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refusal.Kind == lock.Bounced
}

// Retry withdraws the attempt, whose code w has unwound.
func (a *Attempt) Retry(w Withdrawal) { a.withdraw(w, false) }

// withdraw releases everything the attempt visited, as withdrawn, and prepares
// the next one, which enters with m, too. What was narrowed is carried along, so that the next entry
// covers all of it at once. Until the release other goroutines may still grant the attempt
// something, so its footprint is read afterwards.
//
// Invariant: an attempt is withdrawn only if the next one enters with more, or if what it entered with has changed,
// which the caller may know. Otherwise the event would be withdrawn for ever.
func (a *Attempt) withdraw(w Withdrawal, changed bool) {
	a.tellWithdrawn(w)
	m := w.claim
	changed = w.Kept != nil || w.InTurn || w.Lacks != nil || changed || a.isBounced() || a.Moved() || a.Cancelled() || a.Broken() || a.unordered()
	a.met = a.met || a.wide || m.h != nil && m.h.Is(Elsewhere)
	for _, s := range a.hinted { // which may not be remembered any more when the next attempt enters
		a.AddPlace(s)
	}
	a.LeaveAbove()
	more := a.need(m)
	if a.across != nil {
		more = a.claim(a.takeBroken()) || more
	}
	a.Release(true)
	for i := range a.narrowed.members {
		more = a.claim(a.narrowed.members[i]) || more
	}
	if a.met { // else the next attempt may go out, too
		for i := range a.narrowed.away {
			more = a.needPlace(a.narrowed.away[i]) || more
		}
	}
	for _, m := range a.extra {
		more = a.claim(m) || more
	}
	if a.Number >= attemptsPlaces {
		for _, m := range a.grown {
			more = a.claim(m) || more
		}
		for _, w := range a.told {
			more = a.claim(member{h: a.toldOf.Handle(w.Actor), mode: w.Mode, tree: w.Tree}) || more
		}
	}
	if a.coarse {
		// Its members were too many to list, so they would be found one an attempt.
		more = a.claim(member{h: a.Target, mode: a.Effects.Self, tree: true}) || more
	}
	assert.That(more || changed, "exec: event %v, %v, was withdrawn for %v, which it had entered with", a.ID, a.Work, m.h)
	a.mu.Lock()
	a.home.Withdraw(nil, 0)
	a.mu.Unlock()
	a.clear()
}
