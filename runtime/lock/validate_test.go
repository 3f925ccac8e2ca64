package lock

import (
	"strings"
	"testing"
)

// busyQueue returns a queue of node 2, below 1, with two holders that share, one that waits, an entry that was
// bounced, an enqueue before its turn and a tombstone.
func busyQueue(t *testing.T) *Queue[int, int] {
	t.Helper()
	v := tableView{want: map[int]Want[int]{1: {Mode: Read}, 2: {Mode: Read}, 3: {Mode: Write}, 4: {Enter: 9}}, parent: map[int]int{2: 1}}
	q := newTestQueue(2)
	var out []Effect[int, int]
	_, out = q.Enter(v, first(4), out)
	for e := 1; e <= 3; e++ {
		_, out = q.Enter(v, first(e), out)
	}
	_, out = q.Enqueue(v, Sent[int]{From: 1, Number: 5}, first(5), out)
	q.ReleaseID(v, 1, first(6), false, out)
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	return q
}

func TestValidateFindsWhatIsBroken(t *testing.T) {
	for what, c := range map[string]struct {
		breaks func(q *Queue[int, int])
		expect string
	}{
		"tail":           {func(q *Queue[int, int]) { q.tail = 1 }, "is the last"},
		"link":           {func(q *Queue[int, int]) { q.slot(q.head).prev = 1 }, "badly linked"},
		"count of wait":  {func(q *Queue[int, int]) { q.waiting = 0 }, "more entries wait"},
		"lost wake-up":   {func(q *Queue[int, int]) { q.slot(q.head).mode = Read }, "waits for nothing"},
		"edge of wait":   {func(q *Queue[int, int]) { q.slot(q.head).addEdge(7) }, "enqueued already"},
		"two of one":     {func(q *Queue[int, int]) { q.slot(2).id = q.slot(3).id }, "are one enqueue"},
		"index":          {func(q *Queue[int, int]) { q.index = map[entryKey[int, int]]int32{} }, "not indexed"},
		"mode of a pass": {func(q *Queue[int, int]) { q.slot(2).state = passed }, "was passed in mode R"},
		"hold of none":   {func(q *Queue[int, int]) { q.slot(2).mode = None }, "neither has a mode"},
		"edge of spent":  {func(q *Queue[int, int]) { q.slot(1).addEdge(7) }, "was refused"},
		"readers":        {func(q *Queue[int, int]) { q.readers++ }, "counted"},
		"free slots":     {func(q *Queue[int, int]) { q.entries = append(q.entries, entry[int, int]{}) }, "slots"},
		"due":            {func(q *Queue[int, int]) { q.far.link(1).received = 4 }, "is the next"},
		"twice aside":    {func(q *Queue[int, int]) { q.far.early = append(q.far.early, q.far.early[0]) }, "aside twice"},
		"late tombstone": {func(q *Queue[int, int]) { q.far.tombs[0] = entryKey[int, int]{first(1), 0} }, "which is here"},
		"two tombstones": {func(q *Queue[int, int]) { q.far.tombs = append(q.far.tombs, q.far.tombs[0]) }, "released twice"},
	} {
		q := busyQueue(t)
		c.breaks(q)
		if err := q.Validate(); err == nil || !strings.Contains(err.Error(), c.expect) {
			t.Errorf("%s: %v, want one that says %q", what, err, c.expect)
		}
	}
}

func TestValidateFindsABrokenHome(t *testing.T) {
	for what, c := range map[string]struct {
		breaks func(h *Home[int, int])
		expect string
	}{
		"two visits":        {func(h *Home[int, int]) { h.visits = append(h.visits, h.visits[0]) }, "twice"},
		"settled in none":   {func(h *Home[int, int]) { h.lookup(3).mode = None }, "in state"},
		"asked in a mode":   {func(h *Home[int, int]) { h.lookup(5).mode = Read }, "in state"},
		"ask of a stranger": {func(h *Home[int, int]) { h.asks[0].at = 8 }, "not visited"},
		"two claims":        {func(h *Home[int, int]) { h.carried = append(h.carried, h.carried[0]) }, "claimed twice"},
		"claim of nothing":  {func(h *Home[int, int]) { h.carried[0].Mode = None }, "without a mode"},
		"index":             {func(h *Home[int, int]) { h.asked = map[ask[int]]struct{}{} }, "indexed"},
	} {
		var h Home[int, int]
		h.Start(1)
		h.Withdraw(9, Read)
		h.Enter(4, Ref{})
		granted := func(at int, m Mode, lazy bool, kids ...int) {
			r := report(1, at, m, lazy, kids...)
			for i := range r {
				r[i].ID = h.ID()
			}
			h.Deliver(r)
		}
		granted(3, Write, false, 5)
		granted(4, Read, true)
		if d := h.Access(parents{7: 4}, 7, Read); d.Act != Ask {
			t.Fatalf("access: %v", d)
		}
		if err := h.Validate(); err != nil {
			t.Fatal(err)
		}
		c.breaks(&h)
		if err := h.Validate(); err == nil || !strings.Contains(err.Error(), c.expect) {
			t.Errorf("%s: %v, want one that says %q", what, err, c.expect)
		}
	}
}
