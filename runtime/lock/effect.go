package lock

import "fmt"

// EffectKind says what the driver has to do.
type EffectKind uint8

// The effects of a step at a node. Comments name the fields that are set besides
// Kind, At and ID.
const (
	// Enqueue the event on T-child To. If To is local: call Queue.Enqueue there
	// before At's latch is released, and Queue.Bind(Ref, Edge, …) at At. If it is
	// remote: send the Message of it with what View needs of the footprint; any
	// order of delivery will do. Fields: To, Number, Ref (of the entry at At), Edge.
	Enqueue EffectKind = iota + 1
	// Release what was enqueued on To: call Queue.Release there with Ref if it is
	// valid, else Queue.ReleaseID with From = At. Fields: To, Ref, Withdrawn.
	Release
	// Admitted tells the home that At granted a hold (Mode, Lazy), or was passed
	// (Mode None, not Lazy). It is followed in the buffer by Count Enqueue effects:
	// the nodes At has enqueued on. They are one report: Home.Deliver takes them
	// together, a message to another host carries them all. Fields: Mode, Lazy, Count, Ref.
	Admitted
	// Bounced tells the home that At no longer covers the footprint: the home
	// releases the entry at At and enters at To with its next attempt (RULE-1).
	// Fields: To, Ref.
	Bounced
	// Refused tells the home that the attempt must be withdrawn: To is wanted in Mode
	// and not covered; Reason says why. Fields: To, Mode, Reason.
	Refused
	// Severed tells the home that To, between which and At the attempt has an enqueue,
	// has crashed (Queue.Lost): it withdraws the attempt if that is not over. If Ref is valid, it
	// is the entry at At that To has enqueued, and the home releases it. Fields: To, Ref.
	Severed
)

var effectNames = [...]string{"?", "enqueue", "release", "admitted", "bounced", "refused", "severed"}

// String returns the name of the effect in transcripts.
func (k EffectKind) String() string { return effectNames[k] }

// Reason says why an attempt is withdrawn.
type Reason uint8

// The reasons.
const (
	_ Reason = iota
	// Outside: a path of the footprint leads out of what the entry covers.
	Outside
	// Settled: the hold above does not cover it (frozen at its grant).
	Settled
	// Stranger: the enqueue came from a node that is not the T-parent (RULE-10).
	Stranger
	// Unrouted: the host of the lazy hold does not know the node to be below it.
	Unrouted
	// Passed: the nearest visited T-ancestor was only passed, or is the node itself.
	Passed
	// Upgrade: held for reading, wanted for writing.
	Upgrade
	// Uncovered: no T-ancestor was visited at all.
	Uncovered
)

var reasonNames = [...]string{"?", "outside", "settled", "stranger", "unrouted", "passed", "upgrade", "uncovered"}

// String returns the reason in one word.
func (r Reason) String() string { return reasonNames[r] }

// Effect is one output of a step at node At, about attempt ID.
type Effect[E, N comparable] struct {
	Kind      EffectKind
	Mode      Mode
	Lazy      bool
	Withdrawn bool
	Reason    Reason
	Edge      int32
	Count     int32
	Ref       Ref
	At        N
	To        N
	ID        ID[E]
	Number    uint64
}

// String formats the effect as transcripts show it.
func (f Effect[E, N]) String() string {
	s := fmt.Sprintf("%v e%v.%d", f.Kind, f.ID.Event, f.ID.Attempt)
	switch f.Kind {
	case Enqueue:
		s += fmt.Sprintf(" %v -> %v", f.At, f.To)
		if f.Number != 0 {
			s += fmt.Sprintf(" #%d", f.Number)
		}
	case Release:
		s += fmt.Sprintf(" %v -> %v", f.At, f.To)
		if f.Withdrawn {
			s += " withdrawn"
		}
	case Admitted:
		s += fmt.Sprintf(" at %v", f.At)
		switch {
		case f.Lazy:
			s += fmt.Sprintf(" %v lazy", f.Mode)
		case f.Mode == None:
			s += " passed"
		default:
			s += fmt.Sprintf(" %v settled", f.Mode)
		}
	case Bounced:
		s += fmt.Sprintf(" from %v to %v", f.At, f.To)
	case Severed:
		s += fmt.Sprintf(" at %v from %v", f.At, f.To)
	case Refused:
		s += fmt.Sprintf(" at %v: %v %v %v", f.At, f.Reason, f.To, f.Mode)
	}
	return s
}
