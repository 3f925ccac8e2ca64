// Package watch tells followers what becomes of events while a system runs, and counts it. A system without followers pays a load and a
// comparison for each event. A follower that does not keep up loses what does not fit, which is counted, and delays nothing.
package watch

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
)

// The kinds of lines.
const (
	Issued    = "issued"
	Committed = "committed"
	Undone    = "undone"
	Withdrawn = "withdrawn" // an attempt, before the next one
	Repeated  = "repeated"  // a request with a key that had an outcome already, and got it
	Dropped   = "dropped"
	Followed  = "followed" // a store of a cluster is followed again, after what happened there was not told
)

// Line says what has become of an event.
type Line struct {
	Time    time.Time     `json:"time"`
	Kind    string        `json:"kind"`
	Event   string        `json:"event,omitempty"`
	Actor   bytejson.Text `json:"actor,omitempty"` // Class/name, or Class:id; "" if the event was to create it
	Method  string        `json:"method,omitempty"`
	From    bytejson.Text `json:"from,omitempty"`    // the actor that has issued it; "": a client
	Took    float64       `json:"took,omitempty"`    // seconds, from the first attempt to the end; 0: it had begun before it was followed
	Failure bytejson.Text `json:"failure,omitempty"` // why it was undone, or withdrawn
	Count   uint64        `json:"count,omitempty"`   // of a line Dropped: how many lines the follower has lost there
}

// Filter says which lines a follower gets. The zero value is all.
type Filter struct {
	Actor  string        // Class/name, or Class:id
	Class  string        // without its package
	Failed bool          // only what was undone
	Slow   time.Duration // only what has ended and took so long at least
}

func (f *Filter) wants(l *Line, class string) bool {
	switch {
	case f.Actor != "" && string(l.Actor) != f.Actor, f.Class != "" && class != f.Class, f.Failed && l.Kind != Undone:
		return false
	}
	return f.Slow == 0 || l.Kind != Issued && l.Took >= f.Slow.Seconds()
}

// lines is how many lines wait for a follower.
const lines = 4096

// Hub has the followers of a system. The zero value has none. Any goroutine may use it.
type Hub struct {
	change sync.Mutex // guards always, and the replacement of list
	always bool
	list   atomic.Pointer[[]*Follower] // nil: nothing is told. What it points to never changes
}

// Follower gets lines.
type Follower struct {
	hub     *Hub
	filter  Filter
	lines   chan Line
	dropped atomic.Uint64
}

// Follow begins to follow. The caller calls Close.
func (h *Hub) Follow(f Filter) *Follower {
	h.change.Lock()
	defer h.change.Unlock()
	of := &Follower{hub: h, filter: f, lines: make(chan Line, lines)}
	var list []*Follower
	if old := h.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	h.set(append(list, of))
	return of
}

// Close ends following.
func (f *Follower) Close() {
	f.hub.change.Lock()
	defer f.hub.change.Unlock()
	old := f.hub.list.Load()
	if old == nil {
		return
	}
	f.hub.set(slices.DeleteFunc(slices.Clone(*old), func(other *Follower) bool { return other == f }))
}

// Followed reports whether there is a follower, or what becomes of events is always told.
func (h *Hub) Followed() bool { return h.list.Load() != nil }

// Listened reports whether there is a follower.
func (h *Hub) Listened() bool {
	list := h.list.Load()
	return list != nil && len(*list) > 0
}

// Always makes Followed true from now on: what becomes of events is told to others than followers, too, at the cost of the same load.
func (h *Hub) Always() {
	h.change.Lock()
	defer h.change.Unlock()
	h.always = true
	h.set(nil)
}

// set replaces the followers. Caller holds change.
func (h *Hub) set(list []*Follower) {
	if len(list) == 0 && !h.always {
		h.list.Store(nil)
		return
	}
	h.list.Store(&list)
}

// Tell gives a line to all followers that want it; class is that of its actor, without the package.
func (h *Hub) Tell(l Line, class string) {
	list := h.list.Load()
	if list == nil {
		return
	}
	for _, f := range *list {
		if !f.filter.wants(&l, class) {
			continue
		}
		select {
		case f.lines <- l:
		default:
			f.dropped.Add(1)
		}
	}
}

// Lines has what is told. It is never closed.
func (f *Follower) Lines() <-chan Line { return f.lines }

// Dropped returns how many lines did not fit since it was called last.
func (f *Follower) Dropped() uint64 { return f.dropped.Swap(0) }
