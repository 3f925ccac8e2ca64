package driver

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
)

// Every way in which the actors of two lists may differ is told.
func TestDifferencesOfStatesAreTold(t *testing.T) {
	state := func(serial uint64, class, state string) exec.ActorState {
		return exec.ActorState{ID: event.ActorID{Serial: serial}, Class: class, State: []byte(state)}
	}
	before := []exec.ActorState{state(1, "p.A", "x"), state(2, "p.B", "y")}
	if err := different(before, before); err != nil {
		t.Error(err)
	}
	for want, after := range map[string][]exec.ActorState{
		"in state 78, and is a p.A in state 7a": {state(1, "p.A", "z"), state(2, "p.B", "y")},
		"was a p.B in state 79, and is a p.A":   {state(1, "p.A", "x"), state(2, "p.A", "y")},
		"was followed by":                       {state(1, "p.A", "x"), state(3, "p.B", "y")},
		"there were 2 actors, and are 1":        {state(1, "p.A", "x")},
		"there were 2 actors, and are 3":        {state(1, "p.A", "x"), state(2, "p.B", "y"), state(3, "p.B", "")},
		"there were 2 actors, and are 0":        nil,
	} {
		if err := different(before, after); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
