package across

import (
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
)

// Network carries messages between stores, in sessions as package commit has them.
type Network interface {
	// Send puts m under way to a store, in a session that the network has begun by Store.Up; or to the sender itself, in session 0. It does not
	// wait. What is lost is lost with the session, of which both stores are told by Store.Lost. m is used again when Send has returned, but what m refers to is not changed. One goroutine at a time calls Send for one sender, which does not
	// hold its mutex.
	Send(to event.StoreID, session uint64, m *Message)
}

// Kind says what one store tells another.
type Kind uint8

// The messages. Comments name the fields that are set besides Kind. The kinds are numbered for ever: they are on the wire.
const (
	// Order: a home has store 0 order an attempt. Fields: Name, Home, Method, Chain, Parts, without that of the home, Place. If that is set the attempt was
	// ordered before, and needs further parts.
	Order Kind = iota + 1
	// Turn: store 0 gives a home its place in the order. Fields: Name, Number, Place.
	Turn
	// Take: store 0 gives a store its part of an attempt. Fields: Name, Home, Method, Chain, Number, Place, Wanted.
	Take
	// Taken: a store has taken its part. Fields: Name, Tick.
	Taken
	// Called: the attempt calls a method of an actor of the addressee; or of any store, if a part calls its home. Fields: Name, Number, that of the thread, Call.
	Called
	// Returned: the innermost call of the other store that the thread has not answered yet has ended. Fields: Name, Number, Reply.
	Returned
	// Commit is between the machines of package commit. Fields: Commit, Also, Claim, Tick.
	Commit
	// Ask is a question outside of events. Fields: Number, which names it, Question: Lines, Number and Event, or Kept, or Class and Name, or Actor, or End.
	Ask
	// Answer answers it. Fields: Number, Question: Class, Actor, Label, First.
	Answer
	// Let says what becomes of callbacks that the addressee holds. Fields: Number, Yes: they run. With refused in the number: they are of the addressee,
	// and the sender cannot hold them.
	Let
	// Missed: store 0 has lost the session with a store, and with it perhaps parts that this has not taken yet, or has none with it. Fields: Home, the store.
	Missed
	// Visited: an attempt without a place in the order, of which no call in the store of the addressee was answered yet, calls a method of an actor there: it begins
	// the part, unless that has begun. Fields: Name, Number, Home, Method, Chain, Call.
	Visited
	// Cancelled: a client of the sender has cancelled a chain, whose end the sender does not know. Fields: Chain.
	Cancelled
)

// Message is what one store tells another, as plain data. A field that is added is given a place in wire.go.
type Message struct {
	Kind     Kind
	Yes      bool
	Name     commit.Name
	Home     event.StoreID
	Method   string // of the event, as Local names it
	Number   uint64
	Place    uint64      // of an attempt among all, in any start of store 0
	Chain    event.Chain // of an Order, a Take or a Visited: that the event is a step of, or would begin; of a Cancelled
	Parts    []order.Part
	Wanted   []order.Wanted
	Call     *Call
	Reply    *Reply
	Commit   commit.Message
	Also     []commit.Name // that are done, too, of a Done
	Claim    order.Wanted  // a part was dropped that did not cover this actor
	Tick     int64         // of the sender, 0 unless it is traced
	Question *Question
}

// Call is a call of a method of an actor.
type Call struct {
	Target event.ActorID // or a whole partition, for an actor that is to be made there
	Method string
	Args   []byte // package codec
	Run    Run
	// Strict: the callee reports at once if what has been written could not be stored, and not by a vote that has the event withdrawn.
	Strict bool
	// Votes, if not 0: when the callee has begun so many calls of the attempt, of which this one is the last that was sent, and none of them runs, it votes with the answer of
	// that which has ended last. The attempt is thought to take no lock after that, and to ask for nothing more there.
	Votes uint64
	// Holds: then there is a row, too, if the attempt has only read there (commit, [HOLD]): the event is thought to tell something.
	Holds bool
	// Last: then the store is over with the attempt if that has only read there (commit, [LAST]).
	Last bool
	// Order is where in program order the call stands among those that the addressee gets for the event, nil if they come in that order. It is compared as a
	// list of numbers.
	Order []uint64
	// Lines are what the caller has issued since its own call began, of what its home issues.
	Lines []Line
	Grown []order.Wanted // as of a Reply
	Span  *span.Place    // of the call; nil: the event is not recorded
}

// Run is what moves with the thread of control of an event.
type Run struct {
	Depth  int    // of calls
	Fuel   int64  // that is left
	Random uint64 // state of the random numbers, 0: not seeded yet
	Now    int64  // time of the event in nanoseconds since 1970, 0: not asked for yet
	// Reached is a tick at which the event had the last of its locks, 0 unless it is traced.
	Reached int64
}

// Reply is how a call has ended.
type Reply struct {
	// Failed, if not nil, has ended the event.
	Failed *event.AbortError
	// Withdrawn: the attempt does not cover an actor. The next one is to enter with Claim.
	Withdrawn bool
	InTurn    bool // then the next one is to make async calls one after the other
	Refused   bool // by a queue: the store that replies drops its part
	Claim     order.Wanted
	Kept      event.ActorID // a chain keeps it: the next attempt is to wait for that
	Result    []byte        // package codec
	Made      event.ActorID // the new actor, if a constructor was called
	Run       Run
	Goes      bool   // a tail call follows the event, from the store that replies
	Wrote     bool   // the attempt has changed something in the store that replies
	Granted   bool   // queues of the store that replies have given the attempt locks since its last reply
	Votes     uint64 // if not 0 the store votes for the attempt, of which it has begun so many calls; what it has changed there is a durable row
	Holds     bool   // then there is a row, whatever the attempt has changed
	Over      bool   // then the store has released its locks, and has no part any more
	Lacks     string // Withdrawn, as the program of the store that replies has no method of this name: see version.go
	Lines     []Line // that the callee has issued, and has not told yet
	// Grown is what the part has taken beyond what it was ordered with, and has not told yet.
	Grown []order.Wanted
}

// CallMax bounds the bytes of what a program has in one call of another store, or in the reply: the arguments or the result, and the lines that go along. A
// node has each such message several times, in pieces and whole, encoded and decoded. The bound is the same on all nodes, so an event that is run again ends in the same way. The error
// that has ended an event is not counted: nothing could be told instead.
const CallMax = 32 << 20

// Size returns how much CallMax bounds.
func (c *Call) Size() int { return len(c.Args) + linesSize(c.Lines) }

// Size returns how much CallMax bounds.
func (r *Reply) Size() int { return len(r.Result) + linesSize(r.Lines) }

func linesSize(list []Line) (n int) {
	for i := range list {
		n += len(list[i].Text) + len(list[i].Args)
	}
	return n
}

// Line is something that happens at the home when the event has committed, in program order: a line of output or of the log, a callback.
type Line struct {
	Log    bool
	Text   string
	Issuer event.ActorID
	Object uint64 // of a callback: the client object
	Method string
	Args   []byte
	Number int // of a callback that is held: among those of its event, from 1 on
}

// Question is about an actor or a client, and then its answer; or it has callbacks held, or the end of a chain taken.
type Question struct {
	// Lines are callbacks for clients of the addressee: they get their places, and wait for a Let with the Number.
	Lines  []Line
	Number uint64 // among all of the store that asks
	Event  event.EventID
	Held   *Held // set where the question arrives
	// Gone: of an answer to Lines, no client of them is there any more, and none comes back.
	Gone bool
	// Lacks: of an answer to Class and Name, the program of the addressee has no such class.
	Lacks bool
	// Kept is an actor that a chain keeps: the answer comes when it has left.
	Kept event.ActorID
	// Object: is it one of a client outside, of the client class Class, of the caller Name? Class is "" in the answer if it is not.
	Object uint64
	// Class and Name: which actor has the name? It is made if there is none. In an answer Class is that of Actor, "" if it is not there.
	Class, Name string
	// Actor has the name; or it is asked how it is called.
	Actor event.ActorID
	Label string        // as order.Handle.Label
	First event.ActorID // of all actors of its name; Actor, if it has none
	// End is of a chain that something in the addressee waits for: the answer comes when that has it, durably if it is a request.
	End *End
}

// End is how a chain has ended that something in another store waits for.
type End struct {
	First  event.EventID // of the chain
	Client bool          // nothing but a client waits, as far as this start of the store knows
	Failed *event.AbortError
	Result []byte // unless it has failed
	// Class, Method and Text are the signature of a result, for which each store has a number of its own.
	Class, Method, Text string
}
