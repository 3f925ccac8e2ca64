package exec

import (
	"sync"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Event is one event on its home. Events are pooled; an event is owned by the
// goroutine that performs it, and the fields under mu are shared with whoever
// grants it something.
type Event struct {
	sys    *System
	client *Client // on whose behalf; counters and callbacks
	id     event.EventID
	target *Handle
	method *Method
	args   Args
	class  *Class // of the actor that a client's new creates; else nil
	birth  event.PartitionID
	traced *tracedEvent  // traced systems only
	from   *origin       // traced systems only; nil: a client issues it now
	moveTo *Handle       // of a move in T: the new parent; else nil
	chain  *chain        // that the event is a step of; nil if no tail call has led to it or ended it
	cancel *cancellation // of a client's event that may be cancelled; else nil
	turn   *turn         // of a client's event, in the line to its target; nil if none was outstanding
	next   tailStep      // the step that follows, once the event has committed
	spare  []*queue      // idle queues; kept by the pooled object
	number uint32        // of the pooled object
	idNext uint64        // ids for new actors, kept by the pooled object
	idEnd  uint64

	root Cx // the root branch

	mu   sync.Mutex // guards what follows; a leaf in the latch order
	news sched.Cond // on mu: something was admitted, refused or finished
	home home
	// pending counts the enqueues of this attempt that were not admitted yet.
	pending int
	awaits  *keep // between two attempts: of a chain that must leave its actor first
	// refusal is what ended the attempt from outside, Kind 0 if nothing did.
	refusal  effect
	members  Footprint // known before any hold
	narrowed Footprint // found under the hold on the target
	isNarrow bool      // narrowed was evaluated
	reaching bool      // some member is a tree
	coarse   bool      // an Exact footprint with too many members: treated as a tree
	lazyAt   *Handle   // the first lazy hold
	parallel bool      // branches run: home is read under mu
	// expecting: what was acquired has enqueued further down, where it still waits: home
	// is read under mu. Of the event's own goroutine.
	expecting bool

	claims  []member // discovered by earlier attempts
	moves   uint64   // in T, when the attempt's footprint was gathered
	attempt event.Attempt
	bounded bool           // admission may make it wait: issued by a client
	maxPos  store.Position // largest lastPos seen
	passed  []*Handle      // scratch of pass
	// entries are the enqueues that the event has made itself. A node may occur twice in
	// an attempt, directly and below another, if it is moved in T meanwhile: the home,
	// which knows nodes, would take the one for the other.
	entries []entry
	queued  int     // those of entries that are no guest's
	entry   *Handle // the actor entered at directly; nil if virtual nodes were passed

	parkPrev, parkNext *Event // in parked, guarded by its shard
	parkCount          int

	fresh   []*Handle        // created by this attempt
	deletes []*Handle        // deleted by this attempt
	born    []*Handle        // named actors constructed by this attempt
	now     int64            // time of the event, 0 if not asked for yet
	edges   []edgeDelta      // changes of ownership
	edits   []dominator.Edit // scratch of the commit

	// Systems with a store only.
	prep    *preparation // of its batch; kept by the pooled object
	flight  *flight      // kept by the pooled object
	issuer  *Handle      // of a sub-event: whose outbox it comes from
	outSeq  uint64       // its number there
	request *request     // of a durable session
	printed uint64       // the last line it has in the egress
	credit  bool         // it has taken part of the budget of the store
	extra   []member     // carried if the attempt is withdrawn now
}

func (s *System) newEvent() any {
	ev := &Event{number: s.made.Add(1)}
	if s.durable != nil {
		ev.flight = s.durable.inFlight.add(ev)
	}
	ev.news.Init(&ev.mu, s.scheduler)
	ev.spare = make([]*queue, 0, 4)
	ev.root.ev = ev
	return ev
}

// entry is an enqueue that the event has to release itself.
type entry struct {
	h     *Handle
	ref   lock.Ref
	guest lock.Mode // not None: a hold without an entry in the queue
}

// entered notes an entry at h. Only the event's own goroutine calls it.
func (ev *Event) entered(h *Handle, ref lock.Ref) {
	ev.entries = append(ev.entries, entry{h: h, ref: ref})
	ev.queued++
}

// takeEvent returns a fresh event on target.
func (s *System) takeEvent(cl *Client, id event.EventID, target *Handle, m *Method, args Args) *Event {
	ev := s.events.Get().(*Event)
	ev.sys, ev.client, ev.id = s, cl, id
	ev.target, ev.method, ev.args = target, m, args
	return ev
}

// giveBack returns ev, which holds nothing any more, to the pool.
func (s *System) giveBack(ev *Event) {
	ev.endAttempt()
	if len(ev.claims) > 0 {
		clear(ev.claims)
		ev.claims = ev.claims[:0]
	}
	ev.sys, ev.client, ev.target, ev.method, ev.args, ev.class, ev.moveTo, ev.from = nil, nil, nil, nil, nil, nil, nil, nil
	if ev.chain != nil {
		ev.chain, ev.next = nil, tailStep{}
	}
	ev.attempt, ev.maxPos, ev.bounded, ev.cancel, ev.turn = 0, 0, false, nil, nil
	ev.issuer, ev.outSeq, ev.request, ev.printed = nil, 0, nil, 0
	s.events.Put(ev)
	s.scheduler.Yield()
}

// endAttempt clears what belongs to one attempt.
func (ev *Event) endAttempt() {
	ev.root.reset()
	if len(ev.members.members) > 0 {
		ev.members.reset()
	}
	if ev.isNarrow {
		ev.narrowed.reset()
	}
	if len(ev.fresh)+len(ev.deletes)+len(ev.born) > 0 {
		clear(ev.fresh)
		clear(ev.deletes)
		clear(ev.born)
		ev.fresh, ev.deletes, ev.born = ev.fresh[:0], ev.deletes[:0], ev.born[:0]
	}
	clear(ev.entries)
	ev.entries = ev.entries[:0]
	ev.pending, ev.queued, ev.refusal = 0, 0, effect{}
	ev.isNarrow, ev.reaching, ev.coarse, ev.parallel, ev.expecting = false, false, false, false, false
	ev.extra = ev.extra[:0]
	ev.lazyAt, ev.entry = nil, nil
	ev.now = 0
	if len(ev.edges) > 0 {
		clear(ev.edges)
		ev.edges = ev.edges[:0]
	}
}

// perform runs ev to its end in the calling goroutine and returns its failure.
// It is the life of one event: attempts until one commits or aborts ([RERUN]).
func (ev *Event) perform() error {
	defer endOnBug()
	s := ev.sys
	if s.durable != nil {
		if err := ev.takeCredit(); err != nil {
			ev.over(&ev.client.stats.aborts)
			return err
		}
		ev.begin()
		defer func() {
			ev.end()
			ev.giveCredit()
		}()
	}
	ev.home.Start(ev)
	if s.tracer != nil {
		s.tracer.begin(ev)
	}
	s.scheduler.Yield()
	for {
		ev.attempt++
		err := ev.enter()
		if err == ErrClosed {
			return ev.leftOut()
		}
		if ev.request != nil && !ev.request.claim() {
			ev.release(true)
			ev.over(&ev.client.stats.aborts) // it has ended, and was none
			return errRepeated
		}
		if err != nil {
			ev.undone(err)
			return ev.failed(err)
		}
		if ev.cancelled() {
			return ev.endCancelled()
		}
		switch out := ev.run(); out.kind {
		case ended:
			if ev.cancelled() {
				return ev.endCancelled()
			}
			if err := ev.commit(); err != nil {
				return ev.failed(err)
			}
			ev.over(&ev.client.stats.commits)
			return nil
		case aborted:
			if ev.cancelled() {
				return ev.endCancelled()
			}
			ev.undo()
			if planted.callbackOnAbort {
				ev.plantCallbacks()
			}
			ev.undone(out.err)
			ev.release(true)
			return ev.failed(out.err)
		case withdrawn:
			ev.undo()
			ev.withdraw(out.claim, out.kept != nil)
			ev.client.stats.withdrawals.Add(1)
			if out.kept.await(ev) != nil {
				return ev.leftOut()
			}
		}
	}
}

// leftOut ends an event that needs an actor which is kept until the store is opened again: it has not happened, and
// what it comes from stays, to happen then. It is ErrClosed itself, which nothing else that ends an event is.
func (ev *Event) leftOut() error {
	ev.over(&ev.client.stats.aborts)
	return ErrClosed
}

// attemptsExact is after how many attempts a claim covers what lies below it, too.
const attemptsExact = 8

// lookMax bounds how many actors are looked at to find out where a tree reaches to. It
// grows with the attempts: what is not found is discovered by withdrawals, one at a time.
func (ev *Event) lookMax() int { return 4 * ev.sys.cfg.fanOut << min(3*max(ev.attempt-1, 0), 15) }

// moved reports whether T has changed since the attempt looked at it.
func (ev *Event) moved() bool {
	now := ev.sys.graph.Moves()
	return now != ev.moves || now%2 != 0
}

// claim adds m to what later attempts enter with, and reports whether that is more than before.
func (ev *Event) claim(m member) (more bool) {
	if m.h == nil {
		return false
	}
	m.tree = m.tree || ev.attempt > attemptsExact
	for i := range ev.claims {
		if c := &ev.claims[i]; c.h == m.h {
			more = m.mode > c.mode || m.tree && !c.tree
			c.mode, c.tree = max(c.mode, m.mode), c.tree || m.tree
			return more
		}
	}
	ev.claims = append(ev.claims, m)
	return true
}

// withdraw releases everything the attempt visited, as withdrawn, and prepares
// the next one, which enters with m, too. What was narrowed is carried along, so that the next entry
// covers all of it at once. Until the release others may still grant the attempt
// something, so its footprint is read afterwards.
//
// Invariant: an attempt is withdrawn only if the next one enters with more, or if what it entered with has changed,
// which the caller may know. Otherwise the event would be withdrawn for ever.
func (ev *Event) withdraw(m member, changed bool) {
	changed = changed || ev.refusal.Kind == lock.Bounced || ev.moved() || ev.cancelled()
	more := ev.claim(m)
	ev.release(true)
	if ev.traced != nil {
		ev.traced.forget()
	}
	for i := range ev.narrowed.members {
		more = ev.claim(ev.narrowed.members[i]) || more
	}
	for _, m := range ev.extra {
		more = ev.claim(m) || more
	}
	if ev.coarse {
		// Its members were too many to list, so they would be found one an attempt.
		more = ev.claim(member{h: ev.target, mode: ev.method.Self, tree: true}) || more
	}
	assert.That(more || changed, "exec: event %v, %v, was withdrawn for %v, which it had entered with", ev.id, ev.method, m.h)
	ev.mu.Lock()
	ev.home.Withdraw(nil, 0)
	ev.mu.Unlock()
	ev.endAttempt()
}
