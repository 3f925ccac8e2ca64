package event

import "time"

// What waits for its turn, or for a client, is told in plain data: it is stored, and crosses from one node to another.

// Request names a request that may come again: of a durable session, in which it has a number, or by itself.
type Request struct {
	Session     string      // or the key of a request by itself
	Seq         uint64      // from 1 on; 0: a request by itself
	Target      ActorID     // with which its outcome is stored
	Fingerprint Fingerprint // of a request by itself
}

// HasKey reports whether it is a request by itself.
func (r *Request) HasKey() bool { return r.Seq == 0 }

// Chain is a chain of tail calls, as the stores know it that its steps are in.
type Chain struct {
	First EventID
	Store StoreID // that waits for the end
	Waits Waiter
}

// Waiter says what waits for the end of a chain in a store. That store is told of the end until it has taken it. They are numbered for ever.
type Waiter byte

// The waiters.
const (
	NoWaiter     Waiter = iota
	ClientWaits         // for as long as its store has this leader
	RequestWaits        // one that may come again: its store has a row of that, which the outcome replaces
)

// SubEvent is an event that another event has issued, or the next step of a chain. Its id is Parent.Child(Index).
type SubEvent struct {
	Signature uint32 // number of that of its method, in the schema of the store
	Parent    EventID
	Index     int      // among those that the parent has issued, from 1
	Timer     uint64   // generation of the periodic timer that has fired it; else 0
	Step      bool     // it is a step of a chain, and not the first
	Chain     Chain    // that it is a step of; of its waiter is stored whether another store has one
	Request   *Request // that the chain is for; nil if it is for none of this store
	Args      []byte
}

// Timer is a call that is due later, once or again and again.
type Timer struct {
	Parent EventID // that has set it
	Issuer ActorID
	Name   string // "" if it has none
	Target ActorID
	Every  time.Duration // 0 for a one-shot timer
	Args   []byte
}

// OutcomeKind is how a request has ended.
type OutcomeKind byte

// The kinds of outcomes. They are numbered for ever.
const (
	Result      OutcomeKind = iota
	Abort                   // by the program: abort, require, assert
	Fault                   // of the program, found by the runtime
	AbortBehind             // of a step behind the first of a chain: what the steps before it did stays
	FaultBehind             // as AbortBehind
)

// BehindFirst returns the kind of outcome of a chain whose last step, which is not its first, has ended so.
func (k OutcomeKind) BehindFirst() OutcomeKind {
	switch k {
	case Abort:
		return AbortBehind
	case Fault:
		return FaultBehind
	}
	return k
}

// Outcome is how a request has ended.
type Outcome struct {
	Kind      OutcomeKind
	Signature uint32 // of the last step, if it is a result
	Data      []byte // the result, encoded, or the message
}

// LetterKind is what a dead letter was before.
type LetterKind byte

// The kinds of dead letters.
const (
	SubLetter   LetterKind = iota // a sub-event
	TimerLetter                   // a sub-event that a timer has fired
	StepLetter                    // a step of a chain
	GoLetter                      // a call of a Go function
)

var letterKinds = [...]string{"sub-event", "timer", "step", "go"}

// String returns the kind as users read it.
func (k LetterKind) String() string {
	if int(k) < len(letterKinds) {
		return letterKinds[k]
	}
	return "unknown"
}

// DeadLetter is what could not be delivered: nothing else remembers it. It says all by itself, as its actors, and the program
// that knows its method, may be gone when it is read. Actors are Class/name or Class:id with the package before, or an id
// alone, classes have their packages, too.
type DeadLetter struct {
	Seq       uint64 // of the row: later letters have larger ones
	At        int64  // nanoseconds since 1970
	Event     EventID
	Kind      LetterKind
	Partition PartitionID // of the row: that of Target
	Issuer    string      // "" if it is not known
	Target    string
	Class     string // "" of a method of no class
	Method    string
	Signature string
	Params    []string // their names; none of a Go function
	Args      []byte   // nil: they are larger than the limit, or there are none
	ArgsSize  int
	Fault     bool // the runtime has found the failure; else the program has
	Failure   string
	Path      []string // places of the program, innermost first
	Dropped   uint64   // how many letters the store had dropped by then, as there were too many
}
