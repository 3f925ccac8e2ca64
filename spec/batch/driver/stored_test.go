package driver

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/state"
)

// Every way in which the actors of two lists may differ is told.
func TestDifferencesOfStatesAreTold(t *testing.T) {
	actor := func(serial uint64, class, content string) state.ActorState {
		return state.ActorState{ID: event.ActorID{Serial: serial}, Class: class, State: []byte(content)}
	}
	before := []state.ActorState{actor(1, "p.A", "x"), actor(2, "p.B", "y")}
	if err := different(before, before); err != nil {
		t.Error(err)
	}
	for want, after := range map[string][]state.ActorState{
		"in state 78, and is a p.A in state 7a": {actor(1, "p.A", "z"), actor(2, "p.B", "y")},
		"was a p.B in state 79, and is a p.A":   {actor(1, "p.A", "x"), actor(2, "p.A", "y")},
		"was followed by":                       {actor(1, "p.A", "x"), actor(3, "p.B", "y")},
		"there were 2 actors, and are 1":        {actor(1, "p.A", "x")},
		"there were 2 actors, and are 3":        {actor(1, "p.A", "x"), actor(2, "p.B", "y"), actor(3, "p.B", "")},
		"there were 2 actors, and are 0":        nil,
	} {
		if err := different(before, after); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
