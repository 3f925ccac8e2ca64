package grpc

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// counts are those of a link.
type counts struct {
	sessions, sent, received, dropped, frames, bytesSent, bytesReceived atomic.Uint64
	calls, callsServed, bulks, bulksServed                              atomic.Uint64
}

// Metrics is what a node has counted of another one since the transport was begun.
type Metrics struct {
	Node                     event.NodeID
	Up                       bool
	Sessions                 uint64 // that have begun
	Sent, Received           uint64 // messages
	Dropped                  uint64 // messages for which there was no place; those sent without a session are not counted
	Frames                   uint64 // in which messages were sent
	BytesSent, BytesReceived uint64 // of messages
	Waiting                  int    // bytes that wait to be sent
	Calls, CallsServed       uint64
	Bulks, BulksServed       uint64
	RoundTrip                time.Duration // of heartbeats, smoothed; 0: it is not known
}

// Metrics returns what was counted, in the order of the nodes.
func (t *Transport) Metrics() []Metrics {
	var list []Metrics
	for _, l := range t.all() {
		c := &l.counts
		m := Metrics{
			Node: l.node, Sessions: c.sessions.Load(), Sent: c.sent.Load(), Received: c.received.Load(), Dropped: c.dropped.Load(), Frames: c.frames.Load(),
			BytesSent: c.bytesSent.Load(), BytesReceived: c.bytesReceived.Load(), Calls: c.calls.Load(), CallsServed: c.callsServed.Load(),
			Bulks: c.bulks.Load(), BulksServed: c.bulksServed.Load(), RoundTrip: time.Duration(l.trip.Load()),
		}
		if s := l.present.Load(); s != nil {
			m.Up, m.Waiting = true, s.queue.waiting()
		}
		list = append(list, m)
	}
	return list
}

// all returns the links in the order of their nodes.
func (t *Transport) all() []*link {
	return slices.SortedFunc(maps.Values(t.known()), func(a, b *link) int { return cmp.Compare(a.node, b.node) })
}
