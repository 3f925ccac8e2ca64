// Package trace reads the traces that programs write with --trace, and decides whether
// what they tell is strictly serialisable.
//
// A trace is a certificate: it names the serial order. So nothing is searched for, and one
// pass decides, in time linear in the length of the file. In that order every event must
// have read what was written last, and every write makes the next version. No event comes
// before one that had been answered when it was issued. What an event has issued follows
// it, each once and in order. The format is described in docs/trace.md; this package has a
// reader of its own and shares nothing with the runtime that writes it.
package trace

import (
	"fmt"
	"strconv"
)

// Version is the newest version of the format that this package reads.
const Version = 4

// certain is the first version whose records tell all that the checks of causes need: which timers an event sets and
// cancels, which timer has fired, and which clients callbacks are for.
const certain = 3

// Header begins a section: the trace of one system.
type Header struct {
	Version int
	Program string
	Test    string // of a test: its name
	Seed    uint64
	States  bool // accesses carry states
	Started string
	// Store is the id of the store of a durable system, Run counts its openings, from 1 on.
	Store string
	Run   uint64
	// Continues says that the run before this one was recorded, too. Recovered is then
	// the order of its last commit that has survived.
	Continues bool
	Recovered int64
	// Node is the node of a cluster on which the system ran, 0 if it ran on none. On nodes ticks are nanoseconds since 1970.
	Node uint64
	// Cluster is the id of a cluster of several stores, Stores how many there are, Number that of the store. Stores is 0 else.
	Cluster        string
	Stores, Number uint64
}

// EventID identifies an event.
type EventID struct{ Origin, Seq uint64 }

// String prints the id as the file has it.
func (id EventID) String() string {
	return strconv.FormatUint(id.Origin, 16) + "-" + strconv.FormatUint(id.Seq, 16)
}

// Access is an actor in one of its versions.
type Access struct {
	Actor   string
	Version uint64
	State   uint64 // hash of its fields, 0 if unknown
	Deleted bool   // written for the last time
}

// Origin is where an event or a callback comes from.
type Origin struct {
	Kind   string // of an event: client, sub, tail, go or timer; of what it does in another store than its home: vote or part
	Client uint64
	Parent EventID
	Index  int
	Issuer string
	Timer  uint64 // of a firing: the generation of the timer
	Issued bool   // by a client that went on at once
	// Elsewhere: the home of the event is another store, Home. Of a vote, a part, and a callback for a client of this store.
	Elsewhere bool
	Home      uint64
}

// TimerOp is what the commit of an event does with a timer.
type TimerOp struct {
	Issuer string
	Name   string
	Set    uint64 // generation of the timer that is set; 0: the one of that name is cancelled
	Every  bool   // it ticks until it is cancelled
}

// Event is the record of one event that has ended.
type Event struct {
	ID       EventID
	Attempt  uint64
	Origin   Origin
	Target   string
	Method   string
	Aborted  bool
	Why      string // of an abort
	Position uint64

	Start, Order int64
	Reads        []Access
	Writes       []Access

	Subs, Callbacks int      // issued by the commit
	Clients         []uint64 // that the callbacks are for; nil before version 3
	Timers          []TimerOp
	Keeps           bool // no other event touches the target until the next step of the chain has ended
	// Batch says that the event has left something in the store: it survives a crash, or
	// it never was.
	Batch bool

	// Of an event over several stores. Try names the attempt, 0: it is one of this store alone.
	Try      uint64
	At       int64    // of a home: the place of the event among those of all stores; 0: it has touched nothing
	Parts    []uint64 // of a home: the stores that carry out its commit
	Restored bool     // of a part: an earlier start has run its code
}

// isPart reports whether e is what an event of another store does here.
func (e *Event) isPart() bool { return e.Origin.Kind == "vote" || e.Origin.Kind == "part" }

// String names the event in reports.
func (e *Event) String() string {
	how := ""
	if e.Aborted {
		how = ", aborted"
	}
	return fmt.Sprintf("event %v (%s on %s, order %d%s)", e.ID, e.Method, e.Target, e.Order, how)
}

// Callback is the record of a callback that is about to run.
type Callback struct {
	Method string
	Origin Origin
	Start  int64
}

// Answer says when the answer of the event with that order left.
type Answer struct{ Order, End int64 }

// End closes a section.
type End struct {
	How    string // closed: all events had ended. interrupted: some may not have
	Events uint64
	// Dropped are the callbacks of events of other stores that have not run, as the session with that store has ended.
	Dropped uint64
}

// Record is one line of a trace: exactly one of its members is set.
type Record struct {
	Header   *Header
	Event    *Event
	Answers  []Answer
	Callback *Callback
	Gone     uint64 // a client that has gone
	End      *End
}
