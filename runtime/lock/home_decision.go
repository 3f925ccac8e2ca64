package lock

import "fmt"

// Act says what an access needs.
type Act uint8

// The acts a Home decides on.
const (
	// Run: the event holds the actor in a sufficient mode; the call runs at once.
	Run Act = iota + 1
	// Wait: something that was asked for has not been admitted yet; decide again
	// after the next Admitted.
	Wait
	// Ask: call Queue.Acquire at At (with Ref, if valid) towards the actor, then wait.
	// The home remembers that it asked.
	Ask
	// Withdraw: the access is not covered. Withdraw the attempt, carrying the actor
	// and its mode.
	Withdraw
)

var actNames = [...]string{"?", "run", "wait", "ask", "withdraw"}

// String returns the act in one word.
func (a Act) String() string { return actNames[a] }

// Decision is the answer of Home.Access.
type Decision[N comparable] struct {
	Act    Act
	Reason Reason // of a Withdraw
	At     N      // the nearest visited T-ancestor-or-self of the actor
	Ref    Ref    // the hold at At, if the home knows it
}

// String formats the decision as transcripts show it.
func (d Decision[N]) String() string {
	switch d.Act {
	case Ask:
		return fmt.Sprintf("ask %v", d.At)
	case Withdraw:
		return fmt.Sprintf("withdraw: %v", d.Reason)
	}
	return d.Act.String()
}
