package event

import "time"

// What waits for its turn, or for a client, is told in plain data: it is stored, and crosses from one node to another.

// Request names a request that may come again: of a durable session, in which it has a number, or by itself.
type Request struct {
	Session     string  // or the key of a request by itself
	Seq         uint64  // from 1 on; 0: a request by itself
	Target      ActorID // with which its outcome is stored
	Fingerprint uint64  // of a request by itself: hash of its method and arguments
}

// HasKey reports whether it is a request by itself.
func (r *Request) HasKey() bool { return r.Seq == 0 }

// SubEvent is an event that another event has issued, or the next step of a chain. Its id is Parent.Child(Index).
type SubEvent struct {
	Signature uint32 // number of that of its method, in the schema of the store
	Parent    EventID
	Index     int    // among those that the parent has issued, from 1
	Timer     uint64 // generation of the periodic timer that has fired it; else 0
	Step      bool   // it is a step of a chain, and not the first
	First     EventID
	Request   *Request // that the chain is for; nil if it is for none
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

// The kinds of outcomes.
const (
	Result OutcomeKind = iota
	Abort              // by the program: abort, require, assert
	Fault              // of the program, found by the runtime
)

// Outcome is how a request has ended.
type Outcome struct {
	Kind      OutcomeKind
	Signature uint32 // of the last step, if it is a result
	Data      []byte // the result, encoded, or the message
}
