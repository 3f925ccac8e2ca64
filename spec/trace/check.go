package trace

import (
	"fmt"
	"math"
)

// maxOrder is behind every event.
const maxOrder = math.MaxInt64

// Rule names what a violation breaks.
type Rule string

// The rules. Serial order is the order of the records.
const (
	Order    Rule = "ORDER"     // records stand in serial order
	Read     Rule = "READ"      // a read sees the version written last
	State    Rule = "STATE"     // the fields are as they were left by the last write
	Write    Rule = "WRITE"     // a write makes the next version, and none follows a deletion
	Undone   Rule = "UNDONE"    // an event that was undone has written and issued nothing
	RealTime Rule = "REAL-TIME" // no event comes before one that was answered before it was issued
	Once     Rule = "ONCE"      // an event ends once, and what an event has issued comes once
	Cause    Rule = "CAUSE"     // what an event issues follows its commit
	Lane     Rule = "LANE"      // sub-events of one issuer to one target keep their order
	Issue    Rule = "ISSUE"     // events that a client issues to one target keep their order
	Keep     Rule = "KEEP"      // no other event touches an actor between two steps of a chain that keeps it
	Client   Rule = "CLIENT"    // the callbacks of one client keep their order
	Timer    Rule = "TIMER"     // a timer ticks while it is set, one tick after the other
	Lost     Rule = "LOST"      // a trace that has been closed is complete
	Durable  Rule = "DURABLE"   // no answer has seen what a crash has lost
)

// Violation is one thing that a trace shows and a strictly serialisable system cannot do.
type Violation struct {
	Rule   Rule
	File   string // "" if there is one file
	Line   int
	Events []EventID // the one at fault first
	Actor  string    // that it is about, if it is about one
	Text   string    // what was found and what was expected
}

// String is the violation in a line.
func (v *Violation) String() string {
	at := ""
	if v.File != "" {
		at = v.File + ", "
	}
	return fmt.Sprintf("%sline %d: %s: %s", at, v.Line, v.Rule, v.Text)
}

// violationsMax is how many violations of a section are kept. One mistake often leads to
// many.
const violationsMax = 20

// Counts says what a section holds.
type Counts struct {
	Events, Commits, Aborts          int
	Subs, Timers, Callbacks, Answers int
	Actors, Reads, Writes            int
	Lost                             int // events that a crash has undone, unanswered
	Parts                            int // records of what events of other stores have done: votes, and commits that were carried out
}

// Section is the verdict on the trace of one system.
type Section struct {
	Header   Header
	Counts   Counts
	How      string // as in End; "" if the process was killed, and the tail may be missing
	Violated int    // how many violations there are
	First    []Violation
}

// actor is what the checker knows of an actor.
type actor struct {
	version uint64
	state   uint64
	deleted bool
	by      brief // the event that has written this version
}

// brief is what reports say of an event that has gone by.
type brief struct {
	id     EventID
	order  int64
	method string
	target string
}

func (b brief) String() string {
	if b.method == "" {
		return "no event"
	}
	return fmt.Sprintf("event %v (%s on %s, order %d)", b.id, b.method, b.target, b.order)
}

// place is a position among what committed events have issued: by the order of the
// event, then its own.
type place struct {
	order int64
	index int
}

func (p place) before(q place) bool {
	return p.order < q.order || p.order == q.order && p.index < q.index
}

// interval is an event that has not been answered yet.
type interval struct {
	event  EventID
	start  int64
	client bool // a client has issued it
	// latest is the event that was issued last of those up to here.
	latest      EventID
	latestStart int64
	latestOf    string // the system that latest ran on, if that is another one
	entry       int    // its number among those of all stores
}

type lane struct{ issuer, target string }

// issueLine names the events of a session, which is the origin of their ids, to one target.
type issueLine struct {
	session uint64
	target  string
}

// Checker checks the section of one system, record by record. One goroutine uses it.
type Checker struct {
	// File and Line are where the record is that comes next; reports carry them.
	File string
	Line int

	section Section
	order   int64
	latest  interval
	told    interval // of the events of clients that were answered, the one that was issued last
	toldBy  struct{ run, node uint64 }
	actors  map[string]*actor
	events  map[EventID]*issuer
	open    map[int64]interval // by order
	lanes   map[lane]place
	lines   map[issueLine]interval // the event that was issued last, of those that have come
	boxes   map[uint64]place
	kept    map[string]brief // actors, and the step that keeps each
	timers  map[uint64]*timer
	named   map[timerName]*timer
	pending [2]int          // sub-events and callbacks issued and not seen
	owed    map[uint64]int  // callbacks issued and not seen, by client
	gone    map[uint64]bool // clients

	partial  bool               // the runs before are not in the file: what is met first is taken as it is
	earlier  bool               // … or were not traced: what they have issued comes from events that are not known
	stored   int64              // the last order that is in the store
	survived int64              // the last order that the next run has found, if there is one
	lost     map[int64]EventID  // events that the next run has not found, and those that have seen them, by order
	vanished map[EventID]string // why an event that issued something is not there

	joint *joint               // of the stores of a cluster, if there are several
	at    int                  // the section, among all
	would map[attempt][]Access // what parts that have voted will write
}

// NewChecker returns a Checker of a section.
func NewChecker(h Header) *Checker {
	return &Checker{
		section: Section{Header: h},
		actors:  make(map[string]*actor), events: make(map[EventID]*issuer), open: make(map[int64]interval),
		lanes: make(map[lane]place), lines: make(map[issueLine]interval), boxes: make(map[uint64]place), kept: make(map[string]brief), survived: maxOrder,
		timers: make(map[uint64]*timer), named: make(map[timerName]*timer), owed: make(map[uint64]int), gone: make(map[uint64]bool),
	}
}

// certain reports whether the records tell all that the checks of causes need.
func (c *Checker) certain() bool { return c.section.Header.Version >= certain }

func (c *Checker) violate(rule Rule, actor string, events []EventID, format string, args ...any) {
	c.section.violate(Violation{Rule: rule, File: c.File, Line: c.Line, Events: events, Actor: actor, Text: fmt.Sprintf(format, args...)})
}

func (s *Section) violate(v Violation) {
	s.Violated++
	if len(s.First) < violationsMax {
		s.First = append(s.First, v)
	}
}

// Event takes the next event in serial order. It keeps nothing of e.
func (c *Checker) Event(e *Event) {
	if c.losing(e) {
		return
	}
	n := &c.section.Counts
	switch {
	case e.isPart():
		n.Parts++
	case e.Aborted:
		n.Events++
		n.Aborts++
	default:
		n.Events++
		n.Commits++
	}
	if e.Order <= c.order {
		c.violate(Order, "", []EventID{e.ID}, "%v comes after order %d", e, c.order)
	}
	c.order = max(c.order, e.Order)
	if e.Batch {
		c.stored = e.Order
	}
	if e.Origin.Kind != "vote" {
		if again := c.issued(e); !again {
			c.cause(e)
		}
	}
	if c.certain() {
		c.sensible(e)
	}
	if c.joint != nil {
		c.join(e)
	}
	c.keep(e)
	n.Reads += len(e.Reads)
	for i := range e.Reads {
		c.read(e, &e.Reads[i])
	}
	if e.Aborted {
		if len(e.Writes)+e.Subs+e.Callbacks+len(e.Timers) > 0 {
			c.violate(Undone, "", []EventID{e.ID}, "%v has %d writes, %d sub-events, %d callbacks and %d timers, but nothing must be left of it",
				e, len(e.Writes), e.Subs, e.Callbacks, len(e.Timers))
		}
		return
	}
	if e.Origin.Kind == "vote" {
		c.votes(e)
		return
	}
	n.Writes += len(e.Writes)
	if e.Origin.Kind == "part" {
		c.carriesOut(e)
	}
	for i := range e.Writes {
		c.write(e, &e.Writes[i])
	}
	c.times(e)
}

func (c *Checker) actor(name string) *actor {
	a := c.actors[name]
	if a == nil {
		a = &actor{}
		c.actors[name] = a
	}
	return a
}

func (c *Checker) read(e *Event, r *Access) {
	_, known := c.actors[r.Actor]
	a := c.actor(r.Actor)
	switch {
	case !known && c.partial:
		a.version, a.state = r.Version, r.State
	case r.Version != a.version:
		c.violate(Read, r.Actor, []EventID{e.ID, a.by.id}, "%v read version %d of %s, which was at %d, written by %v",
			e, r.Version, r.Actor, a.version, a.by)
	case r.State != 0 && a.state != 0 && r.State != a.state:
		c.violate(State, r.Actor, []EventID{e.ID, a.by.id}, "%v found version %d of %s in state %x, but %v had left it in %x",
			e, r.Version, r.Actor, r.State, a.by, a.state)
	case r.State != 0 && a.state == 0:
		a.state = r.State // it was constructed without a hash, or is not written in this trace
	}
}

func (c *Checker) write(e *Event, w *Access) {
	_, known := c.actors[w.Actor]
	a := c.actor(w.Actor)
	switch {
	case !known && c.partial && e.Restored: // its vote, which has read the actor, is in an earlier start
	case a.deleted:
		c.violate(Write, w.Actor, []EventID{e.ID, a.by.id}, "%v wrote %s, which was deleted by %v", e, w.Actor, a.by)
	case w.Version != a.version+1:
		c.violate(Write, w.Actor, []EventID{e.ID, a.by.id}, "%v wrote version %d of %s, but the one to be written next was %d; the one before was written by %v",
			e, w.Version, w.Actor, a.version+1, a.by)
	}
	*a = actor{version: w.Version, state: w.State, deleted: w.Deleted || a.deleted, by: brief{e.ID, e.Order, e.Method, e.Target}}
}

// Answer notes that the answer of an event has left.
func (c *Checker) Answer(a Answer) {
	c.section.Counts.Answers++
	i, ok := c.open[a.Order]
	if id, lost := c.lost[a.Order]; lost {
		c.violate(Durable, "", []EventID{id}, "event %v (order %d) was answered, but %s it or what it had seen", id, a.Order, c.section.Header.loser())
		return
	}
	if !ok {
		c.violate(Lost, "", nil, "an answer left for order %d, which no event has, or which was answered before", a.Order)
		return
	}
	delete(c.open, a.Order)
	if c.joint != nil {
		c.joint.answered(i.entry)
	}
	if i.client && i.start > c.told.start {
		c.told = i
		c.toldBy.run, c.toldBy.node = c.section.Header.Run, c.section.Header.Node
	}
	if a.End <= i.start || c.certain() && a.End <= a.Order {
		c.violate(RealTime, "", []EventID{i.event}, "event %v (order %d) was issued at %d, and answered at %d", i.event, a.Order, i.start, a.End)
	} else if a.End < i.latestStart {
		c.violate(RealTime, "", []EventID{i.event, i.latest}, "event %v (order %d) was answered at %d, before event %v was issued%s at %d, but comes after it",
			i.event, a.Order, a.End, i.latest, i.latestOf, i.latestStart)
	}
}

// End takes the end of the section, nil if the file or the section ends without one, and
// returns the verdict.
func (c *Checker) End(end *End) Section {
	s := &c.section
	s.Counts.Actors = len(c.actors)
	if end == nil {
		return *s
	}
	s.How = end.How
	if c.joint != nil {
		c.joint.dropped += int(end.Dropped)
	}
	if n := s.Counts.Events + s.Counts.Parts; end.Events != uint64(n+s.Counts.Lost) {
		c.violate(Lost, "", nil, "the section ends with %d events, but %d were found", end.Events, n)
	}
	if end.How != "closed" {
		return *s
	}
	if n := s.Counts.Lost; n > 0 {
		c.violate(Durable, "", nil, "the section was closed, when all was durable, but %s %s", s.Header.loser(), plural(n, "event"))
	}
	c.missing()
	return *s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
