package trace

import "fmt"

// Callbacks of an event for clients of another store are in the trace of that store, and how many there are in that of the home of the event. That store gives
// them their places among those of the client while the event has all its locks, and before it commits. So what conflicts, or is before the other in
// real time, has its callbacks in the order of the commits; other events have them in any order.

// caller is a committed event that has called clients of other stores.
type caller struct {
	home          uint64
	clients       []uint64 // of its callbacks, in order
	section, line int
	// Its callbacks have got their places between these two ticks of its home.
	from, to int64
}

// clientSeen takes the place of a client of another store whose callback has come.
const clientSeen = 1<<64 - 1

// calledBack is a callback for a client of another store than the home of its event.
type calledBack struct {
	event         EventID
	home          uint64
	client        uint64
	index         int
	text          string
	section, line int
	behind        place // the last callback of the client before it that an event of its own store has issued
}

// called notes a callback of an event of another store.
func (c *Checker) called(k *Callback) {
	o := &k.Origin
	c.joint.called = append(c.joint.called, calledBack{event: o.Parent, home: o.Home, client: o.Client, index: o.Index, text: k.String(), section: c.at, line: c.Line,
		behind: c.boxes[o.Client]})
}

// callsBehind notes that an event has had a lock behind another one, which conflicts with it. If that calls clients of other stores it has kept its locks in all stores until it has committed.
func (j *joint) callsBehind(event, before EventID, clocks int64) {
	if by, former := j.callers[event], j.callers[before]; by != nil && former != nil {
		by.from = max(by.from, former.to-former.slack(by.section, clocks))
	}
}

// slack is how far ticks of the home of the event may be apart from those of a section.
func (k *caller) slack(section int, clocks int64) int64 {
	if k.section == section {
		return 0
	}
	return clocks
}

// judgeCallbacks decides about callbacks for clients of other stores.
func (j *joint) judgeCallbacks(rep *Report, files []string, clocks int64) {
	type box struct {
		section int
		client  uint64
	}
	type ofEvent struct {
		box
		event EventID
	}
	type latest struct {
		*caller
		event EventID
	}
	indexes := make(map[ofEvent]int)
	boxes := make(map[box]latest) // the event whose callbacks have come, and which began last
	for _, k := range j.called {
		if home := j.stores[k.home]; home == nil || home.earlier {
			continue
		}
		violate := func(rule Rule, events []EventID, format string, args ...any) {
			rep.violate(files, k.section, k.line, rule, "", events, format, args...)
		}
		by := j.callers[k.event]
		switch {
		case by == nil || k.index < 1 || k.index > len(by.clients):
			violate(Cause, []EventID{k.event}, "%s is number %d of event %v, and store %d has not committed that with so many", k.text, k.index, k.event, k.home)
			continue
		case by.home != k.home:
			violate(Cause, []EventID{k.event}, "%s is number %d of event %v of store %d, and says that it is one of store %d", k.text, k.index, k.event, by.home, k.home)
			continue
		case by.clients[k.index-1] != ofAnotherStore:
			violate(Once, []EventID{k.event}, "%s is number %d of event %v, which is for another client, or has come before", k.text, k.index, k.event)
			continue
		}
		by.clients[k.index-1] = clientSeen
		client := box{k.section, k.client}
		if last := indexes[ofEvent{client, k.event}]; last > k.index {
			violate(Client, []EventID{k.event}, "%s is number %d of event %v, but number %d came before it", k.text, k.index, k.event, last)
		}
		indexes[ofEvent{client, k.event}] = k.index
		if k.behind.order >= by.to+by.slack(k.section, clocks) {
			violate(Client, []EventID{k.event}, "%s is number %d of event %v of order %d, but number %d of order %d, of its own store, came before it", k.text, k.index, k.event, by.to, k.behind.index, k.behind.order)
		}
		last := boxes[client]
		if last.caller != nil && last.from >= by.to+by.slack(last.section, clocks) {
			violate(Client, []EventID{k.event, last.event}, "%s is number %d of event %v, which had committed at %d, but callbacks of event %v came before it, which has had its locks since %d",
				k.text, k.index, k.event, by.to, last.event, last.from)
		}
		if last.caller == nil || by.from > last.from {
			boxes[client] = latest{by, k.event}
		}
	}
	j.missing(rep, files)
}

// missing reports callbacks that have not run, though all stores have run once, and to their end. A client that has gone gets none; of what a store has dropped, as the session with the
// home has ended, it may not be known whether the event has committed.
func (j *joint) missing(rep *Report, files []string) {
	if j.gone {
		return
	}
	for _, s := range j.stores {
		h := &rep.Sections[s.last]
		if s.earlier || s.starts > 1 || h.How != "closed" || uint64(len(j.stores)) < h.Header.Stores {
			return
		}
	}
	n, first, of := -j.dropped, (*caller)(nil), EventID{}
	for event, by := range j.callers {
		for _, client := range by.clients {
			if client == ofAnotherStore {
				n++
				if first == nil || by.section < first.section || by.section == first.section && by.line < first.line {
					first, of = by, event
				}
			}
		}
	}
	if n > 0 {
		rep.violate(files, first.section, first.line, Lost, "", []EventID{of}, "%s for clients of other stores issued and not run, from event %v on", plural(n, "callback"), of)
	}
}

// violate notes what shows when all stores have been checked.
func (r *Report) violate(files []string, section, line int, rule Rule, actor string, events []EventID, format string, args ...any) {
	r.Sections[section].violate(Violation{Rule: rule, File: files[section], Line: line, Events: events, Actor: actor, Text: fmt.Sprintf(format, args...)})
}
