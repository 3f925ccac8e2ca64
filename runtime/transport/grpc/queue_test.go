package grpc

import "testing"

// Of what waits the sender takes a little at a time: a message behind a pile of the other class is among the next.
func TestClassesDoNotWaitForEachOther(t *testing.T) {
	for c := range classes {
		q, other := newQueue(1<<30), classes-1-c
		for range 100 {
			q.put(c, make([]byte, frameMax))
		}
		first := q.take(nil)
		q.put(other, []byte("overtakes"))
		second := q.take(nil)
		if len(first) > turnMax/frameMax || len(second) > 1+turnMax/frameMax {
			t.Errorf("%d messages are taken, and then %d", len(first), len(second))
		}
		found := false
		for _, m := range second {
			found = found || string(m) == "overtakes"
		}
		if !found {
			t.Error("a message waits for all of the other class")
		}
		taken := len(first) + len(second)
		for more := q.take(nil); len(more) > 0; more = q.take(more[:0]) {
			taken += len(more)
		}
		if taken != 101 || q.waiting() != 0 {
			t.Errorf("%d messages were taken, and %d bytes wait", taken, q.waiting())
		}
	}
}

// What was taken is not kept, however the list of what waits was moved.
func TestWhatWasTakenIsNotKept(t *testing.T) {
	q := newQueue(1 << 30)
	w := &q.mu.waits[lossless]
	for range 5000 {
		q.put(lossless, make([]byte, turnMax/4))
		if len(w.list) == cap(w.list) && len(w.list) > 64 {
			break
		}
	}
	for 2*w.from < len(w.list) {
		q.take(nil)
	}
	q.put(lossless, nil)       // moves what waits
	for len(q.take(nil)) > 0 { // all
	}
	for i, m := range w.list[:cap(w.list)] {
		if m != nil {
			t.Fatalf("message %d of %d is kept", i, cap(w.list))
		}
	}
}
