package door

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Wait is an event that waits for another one. Events are as traces and the log write them, actors as users name them.
type Wait struct {
	Event     string `json:"event"`
	Method    string `json:"method"`
	Target    string `json:"target,omitempty"` // "": the event creates it
	At        string `json:"at,omitempty"`     // where it waits; "": for a region, above all actors of its own
	Wants     string `json:"wants"`            // read, write, or pass: to what is below
	For       string `json:"for,omitempty"`    // the other event; "": readers that have no name there
	ForMethod string `json:"forMethod,omitempty"`
	ForTarget string `json:"forTarget,omitempty"`
	Why       string `json:"why"`
}

// Waits returns which events wait for which. It holds up nothing.
func (d *Door) Waits() []Wait {
	waits := d.sys.WaitGraph()
	list := make([]Wait, len(waits))
	for i, w := range waits {
		list[i] = Wait{Event: w.Event.String(), Method: w.Work, Target: address(w.Target), At: address(w.At), Wants: w.Wants, ForMethod: w.ForWork, ForTarget: address(w.ForTarget), Why: w.Why}
		if w.For != (event.EventID{}) {
			list[i].For = w.For.String()
		}
	}
	return list
}

// address returns the text by which users name an actor, "" for what is none.
func address(h *order.Handle) string {
	if h == nil || h.Is(order.Virtual) || h.Shape == nil {
		return ""
	}
	return h.Address()
}
