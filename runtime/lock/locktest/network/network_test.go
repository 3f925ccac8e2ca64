package network

import (
	"fmt"
	"testing"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/lock"
)

var wire = lock.Wire[uint8, uint8]{
	PutEvent: codec.PutUint[uint8], GetEvent: codec.GetUint[uint8],
	PutNode: codec.PutUint[uint8], GetNode: codec.GetUint[uint8],
}

// enqueue sends enqueue number k from host a to host b.
func enqueue(n *Network[uint8, uint8], a, b lock.Host, k uint64) {
	n.Peer(a).Send(b, &lock.Message[uint8, uint8]{Kind: lock.MsgEnqueue, ID: lock.ID[uint8]{Event: 1, Attempt: 1}, From: 4, To: 5, Number: k})
}

// deliverable returns what may be delivered next.
func deliverable(n *Network[uint8, uint8]) (s string) {
	for i := range n.Len() {
		if n.Deliverable(i) {
			l := n.At(i)
			s += fmt.Sprintf("%d->%d #%d ", l.Sender, l.Addressee, l.Number)
		}
	}
	return s
}

func TestStreamsDeliverInOrder(t *testing.T) {
	for inOrder, want := range map[bool]string{false: "0->1 #1 0->1 #2 0->2 #3 ", true: "0->1 #1 0->2 #3 "} {
		n := &Network[uint8, uint8]{InOrder: inOrder}
		n.Reset(wire)
		enqueue(n, 0, 1, 1)
		enqueue(n, 0, 1, 2)
		enqueue(n, 0, 2, 3)
		if got := deliverable(n); got != want {
			t.Errorf("in order %v: %q may be delivered, want %q", inOrder, got, want)
		}
		if l := n.Take(0); l.Number != 1 || n.Len() != 2 {
			t.Errorf("taken %+v, %d are left", l, n.Len())
		}
	}
}

func TestEqualLettersAreOneStep(t *testing.T) {
	n := &Network[uint8, uint8]{}
	n.Reset(wire)
	enqueue(n, 0, 1, 1)
	enqueue(n, 0, 1, 1)
	if got := deliverable(n); got != "0->1 #1 " || n.At(0) != n.At(1) {
		t.Errorf("%q may be delivered", got)
	}
}

// TestCrashesEndSessions follows what is under way between three hosts, of which host 1 crashes.
func TestCrashesEndSessions(t *testing.T) {
	n := &Network[uint8, uint8]{}
	n.Reset(wire)
	enqueue(n, 0, 1, 1) // lost with host 1
	enqueue(n, 1, 0, 2) // arrives, unless host 0 notices before
	enqueue(n, 2, 0, 3)
	n.Crash(1)
	enqueue(n, 0, 1, 4) // into a session that is over
	enqueue(n, 1, 0, 5) // waits for host 0 to notice
	if got, want := deliverable(n), "1->0 #2 2->0 #3 "; got != want {
		t.Errorf("after the crash %q may be delivered, want %q", got, want)
	}
	if n.Noticed(0, 1) || !n.Noticed(1, 1) || !n.Noticed(0, 2) {
		t.Error("host 0 knows of the crash, or host 1 does not know of its own")
	}
	n.Notice(0, 1)
	enqueue(n, 0, 1, 6)
	if got, want := deliverable(n), "2->0 #3 1->0 #5 0->1 #6 "; got != want {
		t.Errorf("in the next session %q may be delivered, want %q", got, want)
	}
	if s := n.At(n.Len() - 1).Session; s != (lock.Session{Addressee: 1}) {
		t.Errorf("the session is %+v", s)
	}
}

func TestCopiesOfANetworkGoTheirOwnWays(t *testing.T) {
	n, c := &Network[uint8, uint8]{}, &Network[uint8, uint8]{}
	n.Reset(wire)
	enqueue(n, 0, 1, 1)
	c.CopyFrom(n)
	if n.Hash() != c.Hash() {
		t.Error("a copy has another hash")
	}
	enqueue(c, 0, 1, 2)
	c.Take(0)
	c.Crash(2)
	if n.Len() != 1 || n.At(0).Number != 1 || !n.Noticed(0, 2) || n.Hash() == c.Hash() {
		t.Error("a change of the copy has reached what it was copied from")
	}
}
