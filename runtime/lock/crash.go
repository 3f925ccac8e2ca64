package lock

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Lost is CRASH at a node that has survived: the host of peer, a T-child or the T-parent on
// another host, has crashed and lost its queues. The session with it is over: the driver
// delivers no message of that session any more, in either direction, and sends none that
// belongs to it. Numbers begin anew.
//
// Each attempt that has an enqueue between here and peer is reported to its home, which
// withdraws it, unless it is over. What was enqueued on peer is not released there any
// more. What peer has enqueued here peer will not release: the home does so directly, by
// ReleaseID with From = peer, whether the attempt is over or not.
func (q *Queue[E, N]) Lost(peer N, out []Effect[E, N]) []Effect[E, N] {
	assert.That(peer != q.self, "lock: a node is told of its own loss")
	if f := q.far; f != nil {
		delete(f.links, peer)
		f.early = slices.DeleteFunc(f.early, func(e early[E, N]) bool { return e.sent.From == peer })
		f.tombs = slices.DeleteFunc(f.tombs, func(t entryKey[E, N]) bool { return t.from == peer })
	}
	for i := range q.entries {
		e := &q.entries[i]
		if e.state == free {
			continue
		}
		orphan := e.from == peer
		if !e.cut(peer) && !orphan {
			continue
		}
		f := Effect[E, N]{Kind: Severed, At: q.self, To: peer, ID: e.id}
		if orphan {
			f.Ref = q.refOf(int32(i + 1))
		}
		out = append(out, f)
	}
	return out
}

// cut takes the edges to c away, and reports whether there was one.
func (e *entry[E, N]) cut(c N) (found bool) {
	var kept []edge[N]
	for i := range e.edgeCount {
		if d := *e.edge(i); d.child == c {
			found = true
		} else {
			kept = append(kept, d)
		}
	}
	if !found {
		return found
	}
	// Numbers of edges only serve Bind, in the step of the enqueue.
	e.edgeCount, e.more, e.children = 0, e.more[:0], nil
	for _, d := range kept {
		*e.edge(e.addEdge(d.child)) = d
	}
	return true
}
