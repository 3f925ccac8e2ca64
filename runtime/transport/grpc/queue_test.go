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
