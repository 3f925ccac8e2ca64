package lock

import (
	"fmt"
	"testing"
)

// tableView is a view whose footprints are written down, for tests of one queue. Nodes and
// events are numbers; 0 is no node.
type tableView struct {
	want   map[int]Want[int]      // by event
	expand map[int]Expansion[int] // by event
	parent map[int]int
	remote bool
}

func (v tableView) Footprint(_ int, id ID[int]) Want[int] { return v.want[id.Event] }
func (v tableView) Expand(_ int, id ID[int], _ Mode, _ []int) Expansion[int] {
	return v.expand[id.Event]
}
func (v tableView) Parent(x int) int     { return v.parent[x] }
func (v tableView) Remote(_, _ int) bool { return v.remote }
func (v tableView) Toward(x, y int) (int, bool) {
	for y != 0 && v.parent[y] != x {
		y = v.parent[y]
	}
	return y, y != 0
}

func newTestQueue(x int) *Queue[int, int] {
	q := &Queue[int, int]{}
	q.Reset(x)
	return q
}

func first(e int) ID[int] { return ID[int]{Event: e, Attempt: 1} }

func admitted(out []Effect[int, int]) string {
	s := ""
	for _, f := range out {
		if f.Kind == Admitted {
			s += fmt.Sprint(f.ID.Event, " ")
		}
	}
	return s
}

func TestReadersShareAndWritersWaitInOrder(t *testing.T) {
	v := tableView{want: map[int]Want[int]{1: {Mode: Read}, 2: {Mode: Read}, 3: {Mode: Write}, 4: {Mode: Read}}}
	q := newTestQueue(1)
	var refs [5]Ref
	var out []Effect[int, int]
	for e := 1; e <= 4; e++ {
		refs[e], out = q.Enter(v, first(e), out)
	}
	if got := admitted(out); got != "1 2 " {
		t.Fatalf("admitted %q, want the two readers in front", got)
	}
	if h, w := q.Len(); h != 2 || w != 2 {
		t.Errorf("Len = %d, %d; want 2, 2", h, w)
	}
	out = q.Release(v, refs[1], false, out[:0])
	out = q.Release(v, refs[2], false, out)
	if got := admitted(out); got != "3 " {
		t.Fatalf("after the readers %q was admitted, want the writer", got)
	}
	out = q.Release(v, refs[3], false, out[:0])
	if got := admitted(out); got != "4 " {
		t.Fatalf("after the writer %q was admitted, want the reader behind it", got)
	}
	q.Release(v, refs[4], false, out)
	if !q.Idle() {
		t.Error("queue is not idle after all releases")
	}
}

func TestReleaseBeforeItsEnqueueLeavesNothing(t *testing.T) {
	v := tableView{want: map[int]Want[int]{1: {Mode: Write}}, parent: map[int]int{2: 1}}
	q := newTestQueue(2)
	out := q.ReleaseID(v, 1, first(1), false, nil)
	if q.Idle() {
		t.Fatal("the release was forgotten")
	}
	_, out = q.Enqueue(v, Sent[int]{From: 1}, first(1), out)
	if len(out) != 0 || !q.Idle() {
		t.Errorf("the late enqueue had effects %v, idle %v", out, q.Idle())
	}
}

func TestNumbersRestoreTheSendersOrder(t *testing.T) {
	v := tableView{want: map[int]Want[int]{1: {Mode: Write}, 2: {Mode: Write}, 3: {Mode: Write}}, parent: map[int]int{2: 1}}
	q := newTestQueue(2)
	var out []Effect[int, int]
	for _, n := range []int{3, 2, 1} {
		_, out = q.Enqueue(v, Sent[int]{From: 1, Number: uint64(n)}, first(n), out)
	}
	for _, e := range []int{1, 2, 3} {
		out = q.ReleaseID(v, 1, first(e), false, out)
	}
	if got := admitted(out); got != "1 2 3 " {
		t.Errorf("admitted %q", got)
	}
}

func TestLongQueuesAreReleasedByKeyWithoutSearch(t *testing.T) {
	v := tableView{want: map[int]Want[int]{}}
	q := newTestQueue(1)
	const n = 10_000
	var out []Effect[int, int]
	for e := 1; e <= n; e++ {
		v.want[e] = Want[int]{Mode: Write}
		_, out = q.Enter(v, first(e), out[:0])
	}
	for e := n; e >= 1; e-- {
		out = q.ReleaseID(v, 0, first(e), true, out[:0])
	}
	if !q.Idle() {
		t.Error("entries are left")
	}
}

func TestWaitsNamesHoldersAndPredecessors(t *testing.T) {
	v := tableView{
		want:   map[int]Want[int]{1: {Mode: Read, Below: true}, 2: {Mode: Read, Below: true}, 3: {Mode: Read}},
		expand: map[int]Expansion[int]{1: {Lazy: true}},
	}
	q := newTestQueue(1)
	for e := 1; e <= 3; e++ {
		q.Enter(v, first(e), nil)
	}
	got := ""
	q.Waits(func(w WaitEdge[int]) bool {
		got += fmt.Sprintf("%d for %d: %v; ", w.Waiter.Event, w.For.Event, w.Why)
		return true
	})
	if want := "2 for 1: holder is lazy; 3 for 2: behind; "; got != want {
		t.Errorf("Waits: %q, want %q", got, want)
	}
}

func TestAcquireIsDeniedOrDropped(t *testing.T) {
	v := tableView{
		want: map[int]Want[int]{
			1: {Mode: Write, Below: true}, 2: {Mode: Read}, 3: {Mode: Read, Below: true}},
		expand: map[int]Expansion[int]{1: {Lazy: true}, 3: {Children: []int{2}}},
		parent: map[int]int{2: 1, 3: 2},
	}
	q := newTestQueue(1)
	one, _ := q.Enter(v, first(1), nil)
	out := q.Acquire(v, one, first(1), 3, nil)
	if len(out) != 1 || out[0].Kind != Enqueue || out[0].To != 2 || !out[0].Lazy {
		t.Errorf("towards 3: %v", out)
	}
	if out = q.Acquire(v, Ref{}, first(1), 2, nil); len(out) != 0 {
		t.Errorf("a second request below the same child: %v", out)
	}
	out = q.Acquire(v, one, first(1), 9, nil)
	if len(out) != 1 || out[0].Kind != Refused || out[0].Reason != Unrouted || out[0].To != 9 {
		t.Errorf("towards a stranger: %v", out)
	}
	out = q.Release(v, one, false, nil)
	if len(out) != 1 || out[0].Kind != Release || out[0].To != 2 {
		t.Errorf("release: %v", out)
	}
	for _, ref := range []Ref{one, {}} {
		if out = q.Acquire(v, ref, first(1), 3, nil); len(out) != 0 {
			t.Errorf("a request after the release: %v", out)
		}
	}
	three, _ := q.Enter(v, first(3), nil)
	out = q.Acquire(v, three, first(3), 3, nil)
	if len(out) != 1 || out[0].Reason != Settled {
		t.Errorf("below a settled hold: %v", out)
	}
}

// A lazy hold may be asked for as many children as there are: each is enqueued on once, the
// home asks for each once, and a child that is lost can be asked for again.
func TestALazyHoldIsAskedForManyChildren(t *testing.T) {
	const n = 1000
	v := tableView{
		want:   map[int]Want[int]{1: {Mode: Write, Below: true}},
		expand: map[int]Expansion[int]{1: {Lazy: true}},
		parent: map[int]int{},
	}
	q := newTestQueue(1)
	for attempt := range 2 { // the second finds the memory of the first
		var h Home[int, int]
		h.Start(1)
		one, _ := q.Enter(v, h.ID(), nil)
		h.Enter(1, one)
		h.Deliver(report(1, 1, Write, true))
		for y := 2; y < n+2; y++ {
			v.parent[y] = 1
			if d := h.Access(parents(v.parent), y, Write); d.Act != Ask || d.At != 1 {
				t.Fatalf("first access to %d: %v", y, d)
			}
			out := q.Acquire(v, one, h.ID(), y, nil)
			if len(out) != 1 || out[0].Kind != Enqueue || out[0].To != y || out[0].Edge != int32(y-2) {
				t.Fatalf("first request for %d: %v", y, out)
			}
			for _, old := range []int{2, y/2 + 1, y} {
				if d := h.Access(parents(v.parent), old, Write); d.Act != Wait {
					t.Fatalf("second access to %d behind %d: %v", old, y, d)
				}
				if out := q.Acquire(v, one, h.ID(), old, nil); len(out) != 0 {
					t.Fatalf("second request for %d behind %d: %v", old, y, out)
				}
			}
		}
		q.Lost(7, nil)
		for _, y := range []int{6, 8} {
			if out := q.Acquire(v, one, h.ID(), y, nil); len(out) != 0 {
				t.Fatalf("request for %d behind a loss: %v", y, out)
			}
		}
		if out := q.Acquire(v, one, h.ID(), 7, nil); len(out) != 1 {
			t.Fatalf("request for a child that was lost: %v", out)
		}
		if out := q.Release(v, one, attempt == 0, nil); len(out) != n {
			t.Fatalf("%d releases for %d children", len(out), n)
		}
	}
}

func TestTryTakesTheFastPathOnlyIfNothingBlocksIt(t *testing.T) {
	v := tableView{want: map[int]Want[int]{1: {Mode: Read, Below: true}, 9: {Mode: Write}}, expand: map[int]Expansion[int]{1: {Lazy: true}}}
	q := newTestQueue(1)
	lazy, _ := q.Enter(v, first(1), nil)
	two, ok := q.Try(first(2), 0, Read, nil)
	if !ok {
		t.Fatal("a reader was kept out by a reader")
	}
	if _, ok := q.Try(first(3), 0, Read, []int{5}); ok {
		t.Error("granted with children below a lazy hold")
	}
	if _, ok := q.Try(first(3), 0, Write, nil); ok {
		t.Error("a writer was let in to readers")
	}
	q.Release(v, lazy, false, nil)
	three, ok := q.Try(first(3), 0, Read, []int{5, 6, 7})
	if !ok {
		t.Error("not granted with children, although no holder is lazy")
	}
	q.Enter(v, first(9), nil)
	if _, ok := q.Try(first(4), 0, Read, nil); ok {
		t.Error("a reader overtook a waiting writer")
	}
	out := q.Release(v, two, false, nil)
	out = q.Release(v, three, false, out)
	n := 0
	for _, f := range out {
		if f.Kind == Release {
			n++
		}
	}
	if n != 3 || admitted(out) != "9 " {
		t.Errorf("release of a hold with three edges: %v", out)
	}
}

func TestStaleHandleIsABug(t *testing.T) {
	q := newTestQueue(1)
	ref, _ := q.Try(first(1), 0, Write, nil)
	q.Release(tableView{}, ref, false, nil)
	q.Try(first(2), 0, Write, nil)
	defer func() {
		if recover() == nil {
			t.Error("an entry was released twice without a panic")
		}
	}()
	q.Release(tableView{}, ref, false, nil)
}

func TestRefreshSeesTheNewView(t *testing.T) {
	v := tableView{want: map[int]Want[int]{1: {Mode: Write}, 2: {Mode: Write}}}
	q := newTestQueue(1)
	q.Enter(v, first(1), nil)
	two, _ := q.Enter(v, first(2), nil)
	v.want[2] = Want[int]{Enter: 7}
	out := q.Refresh(v, nil)
	if len(out) != 1 || out[0].Kind != Bounced || out[0].To != 7 {
		t.Fatalf("effects %v, want it to be sent to 7", out)
	}
	if h, w := q.Len(); h != 1 || w != 0 {
		t.Errorf("Len = %d, %d", h, w)
	}
	q.Release(v, two, true, nil)
}
