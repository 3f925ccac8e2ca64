package spec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

// state is ⟨A, N, Ω, Q, B, Θ, G, K, n⟩ of semantics.md; Ω is a function of A and is not kept.
//
// What a state refers to is never changed: a step works on a clone, whose maps are its
// own, and replaces records and lists as a whole. So a state that was kept stays as it was.
type state struct {
	actors map[eventID]*actor    // A
	names  map[actorName]eventID // N: which actor has the name now
	lost   map[actorName]int     // how often an actor of that name was deleted

	issued  []*issue           // Q: events that clients have issued and that have not run
	lanes   []*lane            // Q: sub-events, by issuer and target; none is empty
	kept    []*kept            // Q: the next steps of chains that keep their actors
	mailbox []*callback        // B
	timers  []*timer           // Θ, by due time, then in the order in which they were set
	fired   []*timer           // firings that have not run
	effects []*effectCall      // G: calls of Go functions whose next try is due
	busy    map[eventID]int    // by timer: firings, and what they issued, that have not ended
	results map[eventID]result // of events with a pending value that have ended
	called  map[eventID]bool   // off: the events that were cancelled
	threads []*thread          // K
	objects map[eventID]*object
	clock   instant // n

	made             map[*typecheck.Class]int // unnamed actors so far
	serials          map[siblings]uint64      // of the actors created last
	generation       uint64                   // of the timer set last
	callbackCounters counters                 // of what callbacks have done
	callbacks        int                      // that have begun
	before           map[issueLine]*cause     // of the event that was issued last in a line

	output   *line
	letters  []Letter
	failures []*Failure // of callbacks
	events   int        // that have ended
}

type actorName struct {
	class *typecheck.Class
	name  string
}

// siblings are the unnamed actors of a class that are born in a partition. Their order as keys is that of their creation.
type siblings struct {
	class *typecheck.Class
	birth uint64
}

// actor is the changing part of an actor.
type actor struct {
	who     *identity
	fields  []value
	born    bool // the constructor has run
	deleted bool
	digest  digest // of the rest; zero if it was not asked for
}

// object is an object of a client class.
type object struct {
	class  *typecheck.Class
	fields []value
}

// issue is an event of a client that has not run: a method, a new or a delete.
type issue struct {
	id     eventID
	kind   issueKind
	target *identity        // of a call and a delete
	class  *typecheck.Class // of a new
	method *typecheck.Func
	args   []value
	birth  uint64
	// awaited: the issuer waits for it on the spot, and its call path belongs to a failure.
	awaited bool
	path    []Place
	// sent: it cannot be awaited.
	sent  bool
	cause *cause
}

// issueLine names the events of a session to one target ([ISSUE-ORDER]).
type issueLine struct {
	session uint64
	target  eventID
}

type issueKind uint8

const (
	callEvent issueKind = iota
	newEvent
	deleteEvent
)

// lane is the sub-events of one issuer to one target, in their order ([SUBEVENT]).
type lane struct {
	issuer, target *identity
	queue          []*subEvent
}

type subEvent struct {
	id     eventID
	method *typecheck.Func
	args   []value
	timer  eventID // that has fired it; zero for none
	cause  *cause
	chain  *chain // that it is a step of, but not the first; else nil
}

// callback is a call of a client object that has not run.
type callback struct {
	object clientRef
	method *typecheck.Func
	args   []value
	timer  eventID
	cause  *cause
}

// timer is one `after` or `every` that is set.
type timer struct {
	issuer     *identity
	name       string
	target     *identity // nil for a callback
	object     *clientRef
	method     *typecheck.Func
	args       []value
	due        instant
	every      span
	id         eventID
	generation uint64 // its place in the order in which timers were set
	tick       int
	again      *effectCall // that is tried when the timer is due: the timer belongs to no actor
	off        bool        // of a firing: its timer was cancelled or replaced, or its issuer deleted
	cause      *cause
}

// result is the outcome of an event.
type result struct {
	value   value
	failure *Failure
	awaited bool // it was awaited: no dead letter
	method  *typecheck.Func
	target  *identity
	cause   *cause
}

// line is a line of output and those before it.
type line struct {
	before *line
	text   string
	sum    digest
}

// Letter is a dead letter: the failure of an event that is not awaited ([DEAD-LETTER]).
type Letter struct {
	Class   string
	Target  string // Class, or Class("name")
	Method  string
	Failure *Failure
}

// newLetter returns the letter of a call of an actor, nil if there was none.
func newLetter(target *identity, method string, f *Failure) Letter {
	l := Letter{Method: method, Failure: f}
	if target != nil {
		l.Class, l.Target = target.class.Name(), target.label()
	}
	return l
}

// String says what was called, as Class.method, and how it has failed.
func (l Letter) String() string {
	return l.Class + "." + l.Method + ": " + l.Failure.Msg
}

// Compare is the order of letters in the text of an outcome, which do not come in any.
func (l Letter) Compare(o Letter) int { return strings.Compare(l.String(), o.String()) }

func newState(start instant) *state {
	return &state{actors: map[eventID]*actor{}, names: map[actorName]eventID{}, lost: map[actorName]int{}, busy: map[eventID]int{},
		results: map[eventID]result{}, called: map[eventID]bool{}, objects: map[eventID]*object{},
		made: map[*typecheck.Class]int{}, serials: map[siblings]uint64{}, before: map[issueLine]*cause{}, clock: start}
}

func (s *state) clone() *state {
	t := *s
	t.actors, t.names, t.lost = maps.Clone(s.actors), maps.Clone(s.names), maps.Clone(s.lost)
	t.made, t.serials, t.called = maps.Clone(s.made), maps.Clone(s.serials), maps.Clone(s.called)
	t.busy, t.results, t.objects = maps.Clone(s.busy), maps.Clone(s.results), maps.Clone(s.objects)
	t.before = maps.Clone(s.before)
	return &t
}

// with returns list with x behind it, in memory of its own.
func with[T any](list []T, x T) []T { return append(slices.Clip(list), x) }

// without returns list without element i, in memory of its own.
func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// replaced returns list with x as element i, in memory of its own.
func replaced[T any](list []T, i int, x T) []T {
	list = slices.Clone(list)
	list[i] = x
	return list
}

// lookup returns the actor that has the name now; its constructor may not have run.
// ([NAMED-CREATE] says when it does.)
func (s *state) lookup(c *typecheck.Class, name string) *identity {
	key := actorName{c, name}
	if id, ok := s.names[key]; ok {
		return s.actors[id].who
	}
	birth, serial := namedSerial(c, name, s.lost[key])
	id := eventID{serial | derived, mix(serial, uint64(s.lost[key])+1)}
	who := &identity{id: id, class: c, name: name, named: true, birth: birth, serial: serial}
	s.actors[id] = &actor{who: who}
	s.names[key] = id
	return who
}

// queue appends a sub-event to its lane.
func (s *state) queue(issuer, target *identity, e *subEvent) {
	i := slices.IndexFunc(s.lanes, func(l *lane) bool { return l.issuer.id == issuer.id && l.target.id == target.id })
	if i < 0 {
		s.lanes = with(s.lanes, &lane{issuer, target, []*subEvent{e}})
		return
	}
	l := s.lanes[i]
	s.lanes = replaced(s.lanes, i, &lane{issuer, target, with(l.queue, e)})
}

// settled reports whether no event, sub-event or callback is left, as [SETTLE] waits for.
func (s *state) settled() bool {
	if len(s.effects)+len(s.lanes)+len(s.kept)+len(s.mailbox)+len(s.fired) > 0 {
		return false
	}
	for _, i := range s.issued {
		if !i.awaited {
			return false
		}
	}
	return !slices.ContainsFunc(s.threads, func(t *thread) bool { return t.callback != nil && !t.ended })
}

// print appends a line to the output.
func (s *state) print(text string) {
	l := &line{before: s.output, text: text}
	l.sum = l.digest()
	s.output = l
}

func (s *state) deadLetter(target *identity, method string, f *Failure) {
	s.letters = with(s.letters, newLetter(target, method, f))
}

func sortedIDs[T any](m map[eventID]T) []eventID {
	return slices.SortedFunc(maps.Keys(m), func(a, b eventID) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.seq, b.seq))
	})
}
