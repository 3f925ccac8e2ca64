package door

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Wait is an event that waits for another one. Events are as traces and the log write them, actors as users name them.
type Wait struct {
	Event     string `json:"event"`
	Method    string `json:"method"`
	Target    string `json:"target,omitempty"` // "": the event creates it
	At        string `json:"at,omitempty"`     // where it waits; "": for a region, above all actors of its own
	Wants     string `json:"wants,omitempty"`  // read, write, or pass: to what is below; "": see Holds
	For       string `json:"for,omitempty"`    // the other event; "": readers that have no name there
	ForMethod string `json:"forMethod,omitempty"`
	ForTarget string `json:"forTarget,omitempty"`
	Why       string `json:"why"`
	// Home and ForHome are the stores of the events, of those that have only parts in this one.
	Home    *event.StoreID `json:"home,omitempty"`
	ForHome *event.StoreID `json:"forHome,omitempty"`
	// An event over several stores has one line more in each of its stores: with what it holds there, and the stores for which it waits. Why is "" if it
	// waits for none.
	Holds     []string        `json:"holds,omitempty"`
	ForStores []event.StoreID `json:"forStores,omitempty"`
}

// holdsMax bounds how many actors are listed that an event holds in a store.
const holdsMax = 100

// Waits returns which events wait for which. It holds up nothing.
func (d *Door) Waits() (list []Wait) {
	var at []*order.Handle
	if a := d.sys.Across(); a != nil {
		for _, x := range a.Look() {
			w := Wait{Event: x.Event.String(), Method: x.Work, Target: address(x.Target), Home: &x.Home, ForStores: x.For, Why: x.Why}
			for _, v := range x.At {
				at = append(at, v.At)
				if text := address(v.At); v.Holds && v.Mode != "pass" && text != "" {
					w.Holds = append(w.Holds, v.Mode+" "+text)
				}
			}
			if more := len(w.Holds) - holdsMax; more > 0 {
				w.Holds = append(w.Holds[:holdsMax], fmt.Sprintf("%d more", more))
			}
			list = append(list, w)
		}
	}
	for _, w := range d.sys.WaitGraph(at) {
		x := Wait{Event: w.Event.String(), Method: w.Work, Target: address(w.Target), At: address(w.At), Wants: w.Wants, ForMethod: w.ForWork, ForTarget: address(w.ForTarget), Why: w.Why, Home: w.Of, ForHome: w.ForOf}
		if w.For != (event.EventID{}) {
			x.For = w.For.String()
		}
		list = append(list, x)
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
