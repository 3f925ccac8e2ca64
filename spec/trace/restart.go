package trace

import (
	"bytes"
	"errors"
	"io"
)

// A durable system writes a section for each run, one after the other. The checker goes
// through them as through one: what a run reads first is what the run before has
// committed. How much of that has survived is known to the next run, and stands in its
// header. An event that comes after that, and has left something in the store, is lost.
// It must not have been answered, and neither must an event that has seen it.

// survivors reads through a trace and returns for each section the order up to which the
// section that continues it has found the commits, and whether there is one.
func survivors(in io.Reader) (list []survivor, err error) {
	r := NewReader(in)
	var last *Header
	for {
		line, err := r.line()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		r.Line++
		if !bytes.HasPrefix(line, []byte(`{"trace":`)) {
			continue
		}
		rec, err := r.parse(line)
		if err != nil {
			continue // torn, or damaged: Check says so
		}
		if rec.Header.follows(last) {
			list[len(list)-1] = survivor{order: rec.Header.Recovered, known: true}
		}
		list = append(list, survivor{})
		last = rec.Header
	}
}

type survivor struct {
	order int64
	known bool
}

// follows reports whether h is the header of the run that came next after that of last. A run
// between the two that is not there has left nothing in the store: the record of an event, and so the
// header, is written before its batch. It was killed while it opened.
func (h *Header) follows(last *Header) bool {
	return last != nil && h.Continues && h.Store != "" && h.Store == last.Store && h.Run > last.Run
}

// survive tells the checker up to which order the next run has found the commits.
func (c *Checker) survive(s survivor) {
	if s.known {
		c.survived = s.order
	}
}

// resume begins the section of the next run of the same store. Its clients are new, those
// of the run before have gone with it.
func (c *Checker) resume(h Header) {
	c.section = Section{Header: h}
	c.latest, c.open, c.boxes = interval{}, make(map[int64]interval), make(map[uint64]place)
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
		c.violate(Durable, "", []EventID{k.Origin.Parent}, "%v has run, but a crash has lost %s, which issued it", k, of)
		return true
	}
	return false
}
