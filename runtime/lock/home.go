package lock

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/short"
)

// Home is the event's side of the protocol, at the event's home: the nodes that the
// current attempt visits and what it found out in earlier ones. It decides what an
// access to an actor needs. It is guarded by a latch of its own (see the package
// comment), as branches of the event and grants from elsewhere meet in it. The zero
// Home must be started before use; Start makes it new again and keeps its memory. A Home
// must not be copied.
type Home[E, N comparable] struct {
	id      ID[E]
	visits  []visit[N]
	inline  [visitsInline]visit[N]
	index   map[N]int32
	asks    []ask[N]
	asked   map[ask[N]]struct{} // of asks, when they are many
	carried []Claim[N]
}

const (
	visitsInline = 4
	visitScanMax = 16 // visits up to which a search is linear
	askScanMax   = 32 // asks up to which a search is linear
)

// visitState is what the home knows of a node.
type visitState uint8

const (
	asked visitState = iota
	settled
	lazily
	wentBy // passed
)

// visit is one node on which the attempt was enqueued.
type visit[N comparable] struct {
	node  N
	ref   Ref
	mode  Mode
	state visitState
}

// ask is a lazy request under way.
type ask[N comparable] struct{ at, want N }

// Claim is an actor that an attempt has discovered to be in the footprint. The next
// attempt adds it; its footprint is that of the program and all claims.
type Claim[N comparable] struct {
	Node N
	Mode Mode
}

// Start begins the first attempt of event e. Attempts go on counting from the former use
// of this Home. So if the driver reuses events, and E with them, a report that comes
// late is still known to be of an attempt that is over.
func (h *Home[E, N]) Start(e E) {
	h.id = ID[E]{Event: e, Attempt: h.id.Attempt + 1}
	clear(h.carried)
	h.carried = h.carried[:0]
	h.restart()
}

func (h *Home[E, N]) restart() {
	if h.visits == nil || len(h.visits) > visitScanMax {
		h.visits = h.inline[:0]
	}
	short.Clear(h.visits)
	if len(h.asks) > askScanMax {
		h.asks = nil
	}
	h.visits, h.asks = h.visits[:0], h.asks[:0]
	h.index, h.asked = nil, nil
}

// ID returns the current attempt. Messages about another one are dropped.
func (h *Home[E, N]) ID() ID[E] { return h.id }

// Claims returns what earlier attempts have discovered. Valid until the next Withdraw or Start.
func (h *Home[E, N]) Claims() []Claim[N] { return h.carried }

// Enter notes an entry that the home makes itself: at the sequencer, or at each child of a virtual node
// it passes in one process (then several). Ref is what Queue.Enter, Try or Enqueue returned, zero if it
// is not known. The driver keeps a list of these entries, and releases them itself: a node that is moved
// below another meanwhile may have two entries of one attempt, of which the home, which knows nodes,
// remembers one.
func (h *Home[E, N]) Enter(x N, ref Ref) {
	v := h.visit(x)
	if ref.Valid() {
		v.ref = ref
	}
}

// Hold notes a grant that the caller of Queue.Try got: settled on children, in mode m
// (None: passed).
func (h *Home[E, N]) Hold(x N, m Mode, ref Ref, children []N) {
	for _, c := range children {
		h.visit(c)
	}
	v := h.visit(x)
	v.mode, v.ref, v.state = m, ref, settled
	if m == None {
		v.state = wentBy
	}
}

// Fresh is RULE-8, [FRESH], for an actor that this attempt has created: it is held for writing
// with all below it, and needs no queue until the event has ended.
func (h *Home[E, N]) Fresh(x N) {
	v := h.visit(x)
	v.mode, v.state = Write, lazily
}

// Deliver notes an Admitted effect of this event, which is report[0], together with the
// Count Enqueue effects that follow it. It notes them under one latch of the home: an
// access in between would find a hold that covers too little. An Enqueue that follows no
// Admitted (of Queue.Acquire) may be delivered alone. Reports of an attempt that is over
// are dropped, and false is returned.
func (h *Home[E, N]) Deliver(report []Effect[E, N]) bool {
	f := &report[0]
	if f.ID != h.id {
		return false
	}
	switch f.Kind {
	case Enqueue:
		h.visit(f.To)
	case Admitted:
		for i := range f.Count {
			k := &report[1+i]
			assert.That(k.Kind == Enqueue && k.ID == f.ID, "lock: a report without its enqueues")
			h.visit(k.To)
		}
		h.granted(f.At, f.Mode, f.Lazy, f.Ref)
	default:
		assert.Unreachable("lock: %v delivered as a visit", f.Kind)
	}
	return true
}

// granted notes a hold on x, or a pass. Ref is zero if x is on another host.
func (h *Home[E, N]) granted(x N, m Mode, lazy bool, ref Ref) {
	v := h.visit(x)
	v.mode = m
	if ref.Valid() {
		v.ref = ref
	}
	switch {
	case lazy:
		v.state = lazily
	case m == None:
		v.state = wentBy
	default:
		v.state = settled
	}
}

// Visited calls yield for each node the attempt has been enqueued on, passes
// included, as far as the home knows.
func (h *Home[E, N]) Visited(yield func(x N) bool) {
	for i := range h.visits {
		if !yield(h.visits[i].node) {
			return
		}
	}
}

// Holds returns the mode in which x is held now, None if it is not.
func (h *Home[E, N]) Holds(x N) Mode {
	v := h.lookup(x)
	if v == nil || v.state == asked {
		return None
	}
	return v.mode
}

// Runs reports whether Access would answer Run, which it does nearly always, without making a decision.
func (h *Home[E, N]) Runs(y N, m Mode) bool {
	v := h.lookup(y)
	return v != nil && v.runs(m)
}

// runs reports whether an access to the node itself in mode m needs nothing more.
func (v *visit[N]) runs(m Mode) bool {
	return v.state != asked && v.state != wentBy && v.mode != None && v.mode >= m
}

// Access decides what an access to actor y in mode m needs (RULE-3, RULE-6). If the
// answer is Ask, the home notes that it was asked, and will answer Wait.
func (h *Home[E, N]) Access(r Router[N], y N, m Mode) Decision[N] {
	d := h.Decide(r, y, m)
	if d.Act == Ask {
		h.ask(ask[N]{at: d.At, want: y})
	}
	return d
}

// Decide is what Access would answer now; nothing is noted.
func (h *Home[E, N]) Decide(r Router[N], y N, m Mode) Decision[N] {
	u := y
	v := h.lookup(u)
	var none N
	slow, odd := u, false // stale pieces of T may form a loop
	for v == nil {
		u = r.Parent(u)
		if u == none || u == slow {
			return Decision[N]{Act: Withdraw, Reason: Uncovered}
		}
		if odd {
			slow = r.Parent(slow)
		}
		odd = !odd
		v = h.lookup(u)
	}
	d := Decision[N]{At: u, Ref: v.ref}
	switch {
	case u == y && v.runs(m):
		d.Act = Run
	case v.state == asked:
		d.Act = Wait
	case v.state == wentBy, u == y && v.mode == None:
		d.Act, d.Reason = Withdraw, Passed
	case u == y:
		d.Act, d.Reason = Withdraw, Upgrade
	case v.state == settled:
		d.Act, d.Reason = Withdraw, Settled
	case h.hasAsked(ask[N]{at: u, want: y}):
		d.Act = Wait
	default:
		d.Act = Ask
	}
	return d
}

// ask notes a, which was not asked before.
func (h *Home[E, N]) ask(a ask[N]) {
	h.asks = append(h.asks, a)
	n := len(h.asks)
	if h.asked != nil {
		h.asked[a] = struct{}{}
	} else if n > askScanMax {
		h.indexAsks()
	}
}

func (h *Home[E, N]) indexAsks() {
	h.asked = make(map[ask[N]]struct{}, 2*len(h.asks))
	for _, a := range h.asks {
		h.asked[a] = struct{}{}
	}
}

func (h *Home[E, N]) hasAsked(a ask[N]) bool {
	if h.asked != nil {
		_, ok := h.asked[a]
		return ok
	}
	return slices.Contains(h.asks, a)
}

// Withdraw is WITHDRAW at the home: the current attempt is over, and the next begins
// with y, wanted in mode m, among its claims (the zero N: nothing was discovered). The
// caller has released its entries, as withdrawn, and has stopped the event's branches; it
// undoes the attempt at each node in the step that drops the hold.
func (h *Home[E, N]) Withdraw(y N, m Mode) {
	var none N
	if y != none {
		h.claim(y, m)
	}
	h.id.Attempt++
	h.restart()
}

func (h *Home[E, N]) claim(y N, m Mode) {
	// Invariant: a claim is of an access, which has a mode.
	assert.That(m != None, "lock: a claim without a mode")
	for i := range h.carried {
		if c := &h.carried[i]; c.Node == y {
			c.Mode = max(c.Mode, m)
			return
		}
	}
	h.carried = append(h.carried, Claim[N]{Node: y, Mode: m})
}

// lookup returns the visit of x, nil if there is none; valid until the next visit.
func (h *Home[E, N]) lookup(x N) *visit[N] {
	if h.index != nil {
		if i, ok := h.index[x]; ok {
			return &h.visits[i]
		}
		return nil
	}
	for i := range h.visits {
		if h.visits[i].node == x {
			return &h.visits[i]
		}
	}
	return nil
}

// visit returns the visit of x, made if need be.
func (h *Home[E, N]) visit(x N) *visit[N] {
	if v := h.lookup(x); v != nil {
		return v
	}
	h.visits = append(h.visits, visit[N]{node: x})
	n := int32(len(h.visits))
	if h.index != nil {
		h.index[x] = n - 1
	} else if n > visitScanMax {
		h.indexVisits()
	}
	return &h.visits[n-1]
}

func (h *Home[E, N]) indexVisits() {
	h.index = make(map[N]int32, 2*len(h.visits))
	for i := range h.visits {
		h.index[h.visits[i].node] = int32(i)
	}
}
