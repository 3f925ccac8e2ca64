package state

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
)

// An event that deletes an actor may prepare before it is noted that the one before it, which would have deleted the actor, has ended.
func TestDyingByTheNextEvent(t *testing.T) {
	var d Dying
	h := &order.Handle{}
	first := d.Add([]*order.Handle{h})
	second := d.Add([]*order.Handle{h})
	first()
	over := d.Over(h)
	if over == nil {
		t.Fatal("the second event is not over, and nothing waits for it")
	}
	select {
	case <-over:
		t.Fatal("it is over before the second event is")
	default:
	}
	second()
	<-over
	if d.Over(h) != nil {
		t.Error("it is not over")
	}
}
