package outbox

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
)

func TestLaneThatIsNeverEmptyDoesNotGrow(t *testing.T) {
	k := LaneKey{Issuer: &order.Handle{}, Target: &order.Handle{}}
	var ls Lanes[int]
	l := ls.Push(k, 0)
	for i := range 100_000 {
		if ls.Push(k, i+1) != nil {
			t.Fatal("a second goroutine is to drain it")
		}
		if got, ok := ls.Next(l); !ok || got != i {
			t.Fatalf("%d comes, %v, instead of %d", got, ok, i)
		}
	}
	if n := cap(l.queue); n > 1000 {
		t.Errorf("a lane of one sub-event keeps room for %d", n)
	}
	_, _ = ls.Next(l)
	if _, ok := ls.Next(l); ok || ls.Push(k, 1) == nil {
		t.Error("the lane is there though it is empty")
	}
}
