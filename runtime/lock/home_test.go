package lock

import "testing"

// parents is a Router over numbers.
type parents map[int]int

func (p parents) Parent(x int) int { return p[x] }

func report(e, at int, m Mode, lazy bool, kids ...int) []Effect[int, int] {
	r := []Effect[int, int]{{Kind: Admitted, At: at, ID: first(e), Mode: m, Lazy: lazy, Count: int32(len(kids))}}
	for _, k := range kids {
		r = append(r, Effect[int, int]{Kind: Enqueue, At: at, To: k, ID: first(e)})
	}
	return r
}

func TestAccessIsDecidedByTheNearestVisitedAncestor(t *testing.T) {
	// 1 is top; 2 below it was passed to 3 and 4; 3 is held settled on 5; 4 lazily.
	tree := parents{2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 7, 9: 2, 10: 1}
	var h Home[int, int]
	h.Start(1)
	h.Enter(2, Ref{})
	if d := h.Access(tree, 8, Read); d.Act != Wait || d.At != 2 {
		t.Errorf("before the pass is reported: %v at %v", d, d.At)
	}
	h.Deliver(report(1, 2, None, false, 3, 4))
	h.Deliver(report(1, 3, Read, false, 5))
	h.Deliver(report(1, 4, Write, true))
	h.Fresh(11)
	for _, c := range []struct {
		y      int
		m      Mode
		act    Act
		reason Reason
		at     int
	}{
		{3, Read, Run, 0, 3},
		{3, Write, Withdraw, Upgrade, 3},
		{4, Write, Run, 0, 4},
		{5, Read, Wait, 0, 5},           // enqueued, not granted
		{6, Read, Withdraw, Settled, 3}, // frozen on 5
		{8, Read, Ask, 0, 4},            // below the lazy hold
		{8, Read, Wait, 0, 4},           // asked already
		{9, Read, Withdraw, Passed, 2},  // not among those the pass enqueued on
		{2, Read, Withdraw, Passed, 2},  // only passed itself
		{10, Read, Withdraw, Uncovered, 0},
		{11, Write, Run, 0, 11},
	} {
		d := h.Access(tree, c.y, c.m)
		if d.Act != c.act || d.Reason != c.reason || d.At != c.at {
			t.Errorf("access to %d in mode %v: %v (reason %v, at %d), want %v (%v, at %d)",
				c.y, c.m, d.Act, d.Reason, d.At, c.act, c.reason, c.at)
		}
	}
	if m := h.Holds(4); m != Write {
		t.Errorf("Holds(4) = %v", m)
	}
	if m := h.Holds(5); m != None {
		t.Errorf("Holds(5) = %v before it is granted", m)
	}
}

func TestStaleTreeWithALoopIsUncovered(t *testing.T) {
	var h Home[int, int]
	h.Start(1)
	h.Enter(9, Ref{})
	loop := parents{1: 2, 2: 3, 3: 4, 4: 2}
	if d := h.Access(loop, 1, Read); d.Act != Withdraw || d.Reason != Uncovered {
		t.Errorf("got %v", d)
	}
}

func TestWithdrawCarriesTheStrongestClaims(t *testing.T) {
	var h Home[int, int]
	h.Start(7)
	h.Enter(2, Ref{})
	h.Withdraw(5, Read)
	h.Withdraw(6, Read)
	h.Withdraw(5, Write)
	h.Withdraw(0, None)
	if h.ID() != (ID[int]{Event: 7, Attempt: 5}) {
		t.Errorf("ID = %v", h.ID())
	}
	c := h.Claims()
	if len(c) != 2 || c[0] != (Claim[int]{5, Write}) || c[1] != (Claim[int]{6, Read}) {
		t.Errorf("claims are %v", c)
	}
	if h.Deliver(report(7, 2, Read, false)) {
		t.Error("a report of attempt 1 was taken for attempt 5")
	}
	h.Start(7)
	if id := h.ID(); id.Attempt != 6 || len(h.Claims()) != 0 {
		t.Errorf("reused: attempt %d, claims %v", id.Attempt, h.Claims())
	}
}

func TestManyVisitsAreFound(t *testing.T) {
	var h Home[int, int]
	h.Start(1)
	h.Enter(1, Ref{})
	kids := make([]int, 1000)
	for i := range kids {
		kids[i] = 2 + i
	}
	h.Deliver(report(1, 1, None, false, kids...))
	for _, k := range kids {
		h.Deliver(report(1, k, Write, false))
	}
	n := 0
	for x := range h.Visited {
		if d := h.Access(parents{}, x, Write); x != 1 && d.Act != Run {
			t.Fatalf("access to %d: %v", x, d)
		}
		n++
	}
	if n != 1001 {
		t.Errorf("%d visits", n)
	}
}
