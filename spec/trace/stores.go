package trace

import (
	"slices"
	"time"
)

// Each store of a cluster records what events do there, and is checked by itself, in its own order. What is left is whether these orders fit
// together. The home of an event tells its place among the events of all stores, a tick; the place of an event of one store alone is its order. So
// there is an order of all events, and nothing to search for: at each actor, what conflicts has to come in that order. Real time is in it, as the place of
// an event is between its issue and its answer.

// attempt names an attempt of an event over several stores.
type attempt struct {
	event EventID
	try   uint64
}

// joint is what the checker keeps of the events of all stores of a cluster.
type joint struct {
	stores  map[uint64]*oneOf
	entries []entry
	homes   map[EventID]int // in entries
	parts   []int           // in entries
	done    map[done]bool   // parts that were carried out
	names   map[string]int32
	actors  []string
	seen    []touch // store by store, in their orders
	callers map[EventID]*caller
	called  []calledBack
	dropped int  // callbacks of events of other stores whose session has ended
	gone    bool // so has a client
}

// oneOf is a store of which there is a trace.
type oneOf struct {
	earlier bool // its first start is not there
	starts  int  // that are there
	last    int  // section
}

// entry is what is kept of the record of an event.
type entry struct {
	attempt
	at      int64  // of a home, or of an event of one store
	home    uint64 // of a vote or a part
	store   uint64
	section int
	line    int
	part    bool // or a vote
	changes bool // of a vote: it will write
	// happened: it has left something in the store, or was answered. Else it may not have happened, and has told nothing.
	happened, committed bool
	parts               []uint64
}

// touch is an access of an actor.
type touch struct {
	actor int32
	entry int32
	write bool
}

// done names a part that was carried out.
type done struct {
	attempt
	store uint64
}

func newJoint() *joint {
	return &joint{stores: make(map[uint64]*oneOf), homes: make(map[EventID]int), done: make(map[done]bool), names: make(map[string]int32), callers: make(map[EventID]*caller)}
}

// begin notes that a section of a store begins.
func (j *joint) begin(c *Checker, section int) {
	s := j.stores[c.section.Header.Number]
	if s == nil {
		s = &oneOf{earlier: c.earlier}
		j.stores[c.section.Header.Number] = s
	}
	s.starts++
	s.last = section
	c.at = section
}

// next returns the number that the next record gets.
func (j *joint) next() int {
	if j == nil {
		return 0
	}
	return len(j.entries)
}

// answered notes that an event was answered.
func (j *joint) answered(n int) { j.entries[n].happened = true }

// join notes e, which was not lost.
func (c *Checker) join(e *Event) {
	j, n := c.joint, c.joint.next()
	r := entry{attempt: attempt{e.ID, e.Try}, at: e.Order, home: e.Origin.Home, store: c.section.Header.Number, section: c.at, line: c.Line,
		part: e.isPart(), changes: e.Origin.Kind == "vote" && e.Batch && len(e.Writes) > 0, happened: e.Batch, committed: !e.Aborted}
	switch {
	case e.Origin.Kind == "part":
		j.parts = append(j.parts, n)
		j.done[done{r.attempt, r.store}] = true
	case e.Try != 0 && !r.part:
		if e.At != 0 {
			r.at = e.At
		}
		r.parts = slices.Clone(e.Parts)
		j.homes[e.ID] = n
	}
	if slices.Contains(e.Clients, ofAnotherStore) {
		j.callers[e.ID] = &caller{home: r.store, clients: slices.Clone(e.Clients), section: r.section, line: r.line, from: e.Start, to: e.Order}
	}
	j.entries = append(j.entries, r)
	for i := range e.Reads {
		j.touch(e.Reads[i].Actor, n, false)
	}
	if e.Origin.Kind == "vote" {
		return // it writes when it is carried out
	}
	for i := range e.Writes {
		j.touch(e.Writes[i].Actor, n, true)
	}
}

func (j *joint) touch(actor string, entry int, write bool) {
	n, known := j.names[actor]
	if !known {
		n = int32(len(j.actors))
		j.names[actor] = n
		j.actors = append(j.actors, actor)
	}
	j.seen = append(j.seen, touch{n, int32(entry), write})
}

// event returns the record of the home of what r is a part of, or r itself; nil: there is none, or it is of another attempt.
func (j *joint) event(r *entry) *entry {
	if !r.part {
		return r
	}
	if n, known := j.homes[r.event]; known && j.entries[n].try == r.try && j.entries[n].store == r.home {
		return &j.entries[n]
	}
	return nil
}

// judge decides, when all stores have been checked. The clocks of nodes are apart by no more than clocks.
func (j *joint) judge(rep *Report, files []string, clocks time.Duration) {
	violate := func(r *entry, rule Rule, actor string, events []EventID, format string, args ...any) {
		rep.violate(files, r.section, r.line, rule, actor, events, format, args...)
	}
	for _, n := range j.parts {
		r := &j.entries[n]
		if home := j.stores[r.home]; home == nil || home.earlier {
			continue // its trace is not there
		}
		if h := j.event(r); h == nil || !h.committed || !slices.Contains(h.parts, r.store) {
			violate(r, Cause, "", []EventID{r.event}, "store %d has carried out attempt %x of event %v, which store %d has not committed with it", r.store, r.try, r.event, r.home)
		}
	}
	for i := range j.entries {
		r := &j.entries[i]
		if h := j.event(r); r.changes && h != nil && h.committed && !slices.Contains(h.parts, r.store) {
			violate(r, Lost, "", []EventID{r.event}, "store %d has voted for what attempt %x of event %v writes there, and store %d has committed that without it", r.store, r.try, r.event, r.home)
		}
		for _, store := range r.parts {
			s := j.stores[store]
			if s != nil && rep.Sections[s.last].How == "closed" && !j.done[done{r.attempt, store}] {
				violate(r, Lost, "", []EventID{r.event}, "event %v has committed over several stores, and store %d has not carried that out", r.event, store)
			}
		}
	}
	type latest struct{ write, read *entry } // of those with the last places
	state := make([]latest, len(j.actors))
	for _, t := range j.seen {
		r := &j.entries[t.entry]
		e := j.event(r)
		if e == nil || !e.happened {
			continue
		}
		s := &state[t.actor]
		before := func(o *entry, how string) {
			if o == nil || o.event == e.event {
				return
			}
			j.callsBehind(e.event, o.event, int64(clocks))
			slack := int64(0)
			if o.section != r.section {
				slack = int64(clocks)
			}
			if of := j.event(o); e.at+slack <= of.at {
				violate(r, Order, j.actors[t.actor], []EventID{e.event, o.event}, "event %v comes behind event %v at %s, which it has %s, and before it in the order of all stores: at %d, and %d",
					e.event, o.event, j.actors[t.actor], how, e.at, of.at)
			}
		}
		if !t.write {
			before(s.write, "found written")
			if s.read == nil || j.event(s.read).at < e.at {
				s.read = r
			}
			continue
		}
		before(s.write, "found written")
		before(s.read, "written when it was read")
		*s = latest{write: r}
	}
	j.judgeCallbacks(rep, files, int64(clocks))
}

// votes takes what a part will write.
func (c *Checker) votes(e *Event) {
	if !e.Batch {
		return // it has only read, or votes again
	}
	if c.would == nil {
		c.would = make(map[attempt][]Access)
	}
	c.would[attempt{e.ID, e.Try}] = slices.Clone(e.Writes)
}

// carriesOut checks that e, the commit of a part, writes what the part has voted for. If an earlier start has run the code, the vote has the states, and
// the part all that it has held for writing; that start may be in no file.
func (c *Checker) carriesOut(e *Event) {
	name := attempt{e.ID, e.Try}
	would, voted := c.would[name]
	if !voted && len(e.Writes) > 0 && !(e.Restored && c.earlier) {
		c.violate(Write, "", []EventID{e.ID}, "%v writes %s, and its store has not voted for that", e, plural(len(e.Writes), "actor"))
	}
	for i := range e.Writes {
		is := func(a Access) bool { return a.Actor == e.Writes[i].Actor }
		if voted && !e.Restored && !slices.ContainsFunc(would, is) {
			c.violate(Write, e.Writes[i].Actor, []EventID{e.ID}, "%v writes %s, for which its store has not voted", e, e.Writes[i].Actor)
		}
	}
	for _, w := range would {
		i := slices.IndexFunc(e.Writes, func(a Access) bool { return a.Actor == w.Actor && a.Version == w.Version && a.Deleted == w.Deleted })
		switch {
		case i < 0:
			c.violate(Write, w.Actor, []EventID{e.ID}, "%v does not write version %d of %s, for which it has voted", e, w.Version, w.Actor)
		case e.Writes[i].State == 0:
			e.Writes[i].State = w.State
		case w.State != 0 && e.Writes[i].State != w.State:
			c.violate(State, w.Actor, []EventID{e.ID}, "%v leaves %s in state %x, and has voted for %x", e, w.Actor, e.Writes[i].State, w.State)
		}
	}
	delete(c.would, name)
}
