package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// holder runs the system of one store on this node, in the terms in which the node leads it.
type holder struct {
	node   event.NodeID
	group  replica.Group
	open   open
	clock  *sched.Hybrid
	driver *driver.Driver // set before run: it tells of roles as soon as it is there
	fail   func(error)    // ends the process
	log    *slog.Logger

	mu      sync.Mutex
	role    replica.Role
	control http.Handler  // of the system of this node; nil: it is on another
	place   front.Place   // where the system runs; none while that is not known
	over    chan struct{} // of place; nil: there was none yet
	changed chan struct{} // closed when role or place changes
	ended   bool

	failures int    // how often this node could not open the store, since a node has opened it last
	failedIn uint64 // the term of the last of these
	failedAt time.Time
	cannot   error // of the last time that this node tried to open the store; nil: it could, or has not tried

	timings Timings
	system  *system // nil: it is on another node
	sampled sample  // of system
	load    Load    // between the last two samples
}

// Timings are how long the parts of the last fail-over to this node took.
type Timings struct {
	Lead    time.Duration // from the election to an engine: until the state had what former leaders have committed
	Recover time.Duration // from the engine to a system that serves
}

func newHolder(node event.NodeID, g replica.Group, open open, clock *sched.Hybrid, fail func(error), log *slog.Logger) *holder {
	return &holder{node: node, group: g, open: open, clock: clock, fail: fail, log: log, changed: make(chan struct{}), role: replica.Role{Group: g}}
}

// turn takes a role, if it is news: other nodes tell of theirs again and again, and requests that are under way to a leader end when it changes. It does
// not wait.
//
// Invariant: the term of the role does not fall.
func (h *holder) turn(r replica.Role) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Term < h.role.Term || r == h.role {
		return
	}
	h.role = r
	var at front.Place
	if r.Leader != 0 && r.Leader != h.node {
		at = front.Place{Node: r.Leader, Term: r.Term}
	}
	h.move(at)
}

// move notes where the system runs now, and wakes what waits for a change. Caller holds mu.
func (h *holder) move(at front.Place) {
	if h.over != nil {
		close(h.over)
	}
	h.over = make(chan struct{})
	at.Over = h.over
	h.place = at
	h.wake()
}

// wake wakes what waits for a change. Caller holds mu.
func (h *holder) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// run opens the system whenever this node leads, and ends it when another does, until end.
func (h *holder) run() {
	for {
		h.mu.Lock()
		role, changed, ended := h.role, h.changed, h.ended
		h.mu.Unlock()
		switch {
		case ended:
			return
		case role.Leader != h.node:
			<-changed
			continue
		}
		reason := h.lead(role.Term)
		h.pause(role.Term)
		alone := h.alone() // not under mu: the driver takes that while it tells of a role
		h.mu.Lock()
		if h.role.Term == role.Term && !h.ended { // the term is used up
			if alone {
				h.fail(fmt.Errorf("store %d has failed on this node, and no other one can lead it; start the node again: %w", h.group, reason))
			}
			h.driver.Resign(h.group, role.Term)
			h.role.Leader = 0
			h.move(front.Place{})
		}
		h.mu.Unlock()
	}
}

// alone reports whether this node leads the group and is the only one that votes: it can hand nothing over, and a term has one engine.
func (h *holder) alone() bool {
	list, _ := h.driver.Progress(h.group)
	list = slices.DeleteFunc(list, func(p replica.Progress) bool { return !p.Votes })
	return len(list) == 1 && list[0].Node == h.node
}

// How long a node that could not open a store twice in succession keeps it before another one tries. The time doubles with each further failure.
const (
	pauseMin = time.Second
	pauseMax = 30 * time.Second
)

// pause waits before this node gives away a store that no node has opened since it failed here the last time. Without that a store which none can open
// would go from node to node as fast as these elect leaders and recover.
func (h *holder) pause(term uint64) {
	var over <-chan time.Time
	for {
		h.mu.Lock()
		n, changed := h.failures, h.changed
		stays := h.role.Term == term && h.role.Leader == h.node && !h.ended && h.failedIn == term && n > 1
		h.mu.Unlock()
		if !stays {
			return
		}
		if over == nil {
			over = time.After(min(pauseMin<<min(n-2, 10), pauseMax))
		}
		select {
		case <-over:
			return
		case <-changed:
		}
	}
}

// failed notes that this node could not open the store in a term.
func (h *holder) failed(term uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
	h.failedIn, h.failedAt = term, time.Now()
}

// failedFor is how long a node counts as one that cannot open a store, since it could not the last time.
const failedFor = time.Minute

// hasFailed reports whether this node could not open the store lately.
func (h *holder) hasFailed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.failedAt.IsZero() && time.Since(h.failedAt) < failedFor
}

// tried notes how it went when this node tried to open the store.
func (h *holder) tried(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cannot = err
}

// whyNot says in one line why this node could not open the store when it led it last; "": it could, or has not led it. Unlike hasFailed it lasts: the node may not
// try again until it is the last one that could lead the store.
func (h *holder) whyNot() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cannot == nil {
		return ""
	}
	why, more, _ := strings.Cut(h.cannot.Error(), "\n")
	if more != "" {
		why += " (its log has more)"
	}
	return why
}

// served notes that a node has opened the store in a term. So it can be opened, and if this node cannot, another one is to have it at once.
func (h *holder) served(term uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if term > h.failedIn {
		h.failures = 0
	}
}

// errUsedUp is why a node that leads a store in a term cannot use it, if nothing else has failed.
var errUsedUp = errors.New("the engine of the term has ended")

// lead runs the system in one term. It returns why the store cannot be used in that.
func (h *holder) lead(term uint64) error {
	began := time.Now()
	e, err := h.driver.Lead(h.group, term)
	if err != nil {
		if !errors.Is(err, driver.ErrDeposed) && !errors.Is(err, driver.ErrClosed) {
			h.log.Warn("this node leads a store and cannot use it", "store", h.group, "error", err)
			h.failed(term)
		}
		return err
	}
	led := time.Now()
	ends := func(err error) error {
		if !errors.Is(err, driver.ErrDeposed) && !errors.Is(err, driver.ErrClosed) {
			h.log.Error("the store cannot be opened on this node: another one takes over", "store", h.group, "error", err)
			h.failed(term)
			h.tried(err)
			e.Fail(err)
		}
		return err
	}
	told, err := e.Told()
	if err != nil {
		return ends(err)
	}
	if behind := h.clock.Resume(told); behind > sched.ClockOffMax {
		h.log.Warn("the clock of this node is behind the time of the data: no time passes for actors until it has caught up", "store", h.group, "behind", behind)
	}
	failed := make(chan error, 1)
	s, err := h.open(e, term, func(err error) { failed <- err })
	if err != nil {
		return ends(err)
	}
	h.served(term)
	h.tried(nil)
	h.mu.Lock()
	if h.role.Term == term && h.role.Leader == h.node && !h.ended {
		h.timings = Timings{led.Sub(began), time.Since(led)}
		h.control, h.system, h.sampled, h.load = s.control.Handler(), s, sample{}, Load{}
		h.move(front.Place{Here: s.public.Handler(), Node: h.node, Term: term})
		h.log.Info("this node runs the actors of a store", "store", h.group, "term", term, "caught up after", h.timings.Lead, "opened after", h.timings.Recover)
	}
	h.mu.Unlock()
	reason := h.wait(failed)
	h.mu.Lock()
	h.control, h.system, h.load = nil, nil, Load{}
	if h.place.Here != nil {
		h.move(front.Place{})
	}
	h.mu.Unlock()
	if reason != nil && !errors.Is(reason, driver.ErrDeposed) {
		h.log.Error("the store of this node has failed", "store", h.group, "error", reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), graceMax)
	defer cancel()
	if err := s.close(ctx); err != nil && reason == nil {
		h.log.Warn("the actors of a store have not ended in time", "store", h.group, "error", err)
	}
	e.Fail(driver.ErrDeposed)
	return cmp.Or(reason, errUsedUp)
}

// graceMax is how long events may run on when the node ends, or gives a store away, and how long a node that ends waits for what others perform for it.
const graceMax = 200 * time.Millisecond

// wait returns when the store has failed, with the reason, or the holder is to end.
func (h *holder) wait(failed <-chan error) error {
	for {
		h.mu.Lock()
		ended, changed := h.ended, h.changed
		h.mu.Unlock()
		if ended {
			return nil
		}
		select {
		case err := <-failed:
			return err
		case <-changed:
		}
	}
}

// end has run return. The system is closed when it does. What was forwarded to another node goes on there, and its answer is awaited, until cutOff.
func (h *holder) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.place.Here != nil {
		h.move(front.Place{})
		return
	}
	h.wake()
}

// cutOff ends what was forwarded to another node and is not answered. Call it after end.
func (h *holder) cutOff() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.move(h.place)
}

// again is after what time a request is sent again to where it has failed.
const again = 50 * time.Millisecond

// errEnding is why a request does not wait for a store any longer at a node that ends: that would not end before the request.
var errEnding = errors.New("this node ends, and knows of no node that leads the store")

// locate implements front.Config.Locate.
func (h *holder) locate(ctx context.Context, after front.Place) (front.Place, error) {
	var patience, end <-chan time.Time
	for {
		h.mu.Lock()
		at, changed, ended := h.place, h.changed, h.ended
		h.mu.Unlock()
		known := at.Here != nil || at.Node != 0
		same := at.Node == after.Node && at.Term == after.Term
		if known && (!same || after.Node == 0) {
			return at, nil
		}
		if known && patience == nil {
			patience = time.After(again)
		}
		if ended && end == nil {
			end = time.After(transferMax)
		}
		select {
		case <-changed:
		case <-end:
			return at, errEnding
		case <-patience:
			if known {
				return at, nil
			}
			patience = nil
		case <-ctx.Done():
			return at, ctx.Err()
		}
	}
}

// locateControl is locate for requests of operators.
func (h *holder) locateControl(ctx context.Context, after front.Place) (front.Place, error) {
	at, err := h.locate(ctx, after)
	if at.Here != nil {
		if at.Here = h.controls(); at.Here == nil { // it has just moved
			return h.locateControl(ctx, at)
		}
	}
	return at, err
}

// here returns the handler of the system if that runs on this node, else nil.
func (h *holder) here() http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.place.Here
}

// controls returns what serves an operator of the system of this node, nil if that is on another.
func (h *holder) controls() http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.control
}

// runs returns the system if that runs on this node, else nil.
func (h *holder) runs() *system {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.system
}

// known returns the role and the timings of the last fail-over to this node.
func (h *holder) known() (replica.Role, front.Place, Timings) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.role, h.place, h.timings
}

// transferMax is how long a node that ends waits until another one leads its stores, and then how long requests wait there for a store that none leads.
const transferMax = time.Second

// awaitOther waits until another node leads the store, if this one leads it and is not the only one that could.
func (h *holder) awaitOther(ctx context.Context) {
	if role, _, _ := h.known(); role.Leader != h.node {
		return
	}
	for {
		h.mu.Lock()
		role, changed := h.role, h.changed
		h.mu.Unlock()
		list, _ := h.driver.Progress(h.group)
		if role.Leader != h.node && role.Leader != 0 || len(list) == 1 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
