package trace

import (
	"fmt"
	"time"
)

// A durable system writes a section for each run, one after the other. The checker goes
// through them as through one: what a run reads first is what the run before has
// committed. How much of that has survived is known to the next run, and stands in its
// header. An event that comes after that, and has left something in the store, is lost.
// It must not have been answered, and neither must an event that has seen it.
//
// The nodes of a cluster do the same with a store, in files of their own. A leader that was paused or cut off goes on recording
// when the next one has begun, so the starts overlap in time. What it has committed stands before all of the next start. So does what it has only read,
// if that was answered: then it must have been issued before any answer of the next start. The clocks tell.

// follows reports whether h is the header of the run that came next after that of last. A run
// between the two that is not there has left nothing in the store: the record of an event, and so the
// header, is written before its batch. It was killed while it opened.
//
// If nothing that was traced is in the store h does not say that it continues, as after a run that was not traced. There was none if the run is
// the very next one: then nothing of last has survived.
func (h *Header) follows(last *Header) bool {
	return last != nil && h.Store != "" && h.Store == last.Store && (h.Continues && h.Run > last.Run || h.Run == last.Run+1)
}

// loser says what has undone the last events of a section.
func (h *Header) loser() string {
	if h.Node != 0 {
		return "the next leader has not found"
	}
	return "a crash has lost"
}

// resume begins the section of the next run of the same store. Its clients are new, those
// of the run before have gone with it.
func (c *Checker) resume(h Header, clocks time.Duration) {
	c.section = Section{Header: h}
	c.latest = interval{}
	if h.Node != 0 {
		c.order = 0 // what a deposed leader has recorded last may be later than the beginning of the next
		c.latest = interval{event: c.told.event, start: c.told.start - int64(clocks), latestOf: fmt.Sprintf(", in start %d of the store on node %d,", c.toldBy.run, c.toldBy.node)}
	}
	c.open, c.boxes = make(map[int64]interval), make(map[uint64]place)
	c.pending[ofCallbacks], c.owed, c.gone = 0, make(map[uint64]int), make(map[uint64]bool)
	c.survived, c.lost = maxOrder, nil
	for _, i := range c.events {
		if i.issues != nil {
			i.issues.count[ofCallbacks] = 0 // they have gone with their clients
		}
	}
}

// losing reports whether e is missing for later events: because the next run has not found
// it, or because e has only seen what that run has not found.
func (c *Checker) losing(e *Event) bool {
	if e.Order <= c.survived {
		return false
	}
	gone := e.Batch
	for i := range e.Reads {
		gone = gone || e.Reads[i].Version > c.actor(e.Reads[i].Actor).version
	}
	if !gone {
		return false
	}
	if c.lost == nil {
		c.lost = make(map[int64]EventID)
	}
	if c.vanished == nil {
		c.vanished = make(map[EventID]string)
	}
	c.lost[e.Order] = e.ID
	c.vanished[e.ID] = e.String()
	c.section.Counts.Lost++
	return true
}

// lostParent reports whether a callback comes from an event that is lost: it is a violation.
func (c *Checker) lostParent(k *Callback) bool {
	of, lost := c.vanished[k.Origin.Parent]
	if lost && c.events[k.Origin.Parent] == nil {
		c.violate(Durable, "", []EventID{k.Origin.Parent}, "%v has run, but %s %s, which issued it", k, c.section.Header.loser(), of)
		return true
	}
	return false
}

// MissingError says that a part of a trace is not there which the store has.
type MissingError struct {
	Store  string
	Run    uint64 // goes on behind what is missing
	Before uint64 // the last start that is there before
	Order  int64  // of the last event that is missing
	At     string // where the trace of Run begins
	End    string // the file of Before
}

// Error says what is missing, and what can be done.
func (e *MissingError) Error() string {
	of := ""
	if e.End != "" {
		of = " (" + e.End + ")"
	}
	return fmt.Sprintf("%s: start %d of store %s goes on behind the event of order %d, which is not there: the trace of a start between %d and %d is missing, or that of start %d%s has lost its end\n\tadd it, or check the trace from start %d on by itself",
		e.At, e.Run, e.Store, e.Order, e.Before, e.Run, e.Before, of, e.Run)
}
