package commit

import (
	"cmp"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Name is [NAME]: an attempt of an event. The number is one that its home gives to no other attempt, in this start or in another: an event that a
// row begins, as a sub-event, has the same id after a crash.
type Name struct {
	Event  event.EventID
	Number uint64
}

// String prints the name as event.number.
func (n Name) String() string { return fmt.Sprintf("%v.%d", n.Event, n.Number) }

// Compare orders names.
func (n Name) Compare(o Name) int {
	return cmp.Or(n.Event.Compare(o.Event), cmp.Compare(n.Number, o.Number))
}

// Kind says what one store tells another.
type Kind uint8

// The messages. Comments name the fields that are set besides Kind and Name. The kinds are numbered for ever: they are on the wire.
const (
	// Prepare: the home asks a participant to vote. Fields: Writes: the attempt commits what it has written there, or what it has read there stays held until
	// the decision, through crashes; else what it has written is undone, if there is any.
	Prepare Kind = iota + 1
	// Vote: a participant votes. Fields: Yes.
	Vote
	// Decision: the home says what was decided. Fields: Yes: it has committed; At: when, then.
	Decision
	// Done: a participant has carried out that the attempt has committed, durably.
	Done
	// Ask: a participant asks what was decided.
	Ask
	// Dropped: a participant has dropped what an attempt had there.
	Dropped
	kinds
)

var kindNames = [kinds]string{"?", "prepare", "vote", "decision", "done", "ask", "dropped"}

// String returns the name of the message in transcripts.
func (k Kind) String() string { return kindNames[k] }

// Message is what the machine of one store tells that of another.
type Message struct {
	Kind   Kind
	Yes    bool
	Writes bool
	At     int64 // in nanoseconds since 1970
	Name   Name
}

// Act says what the driver has to do.
type Act uint8

// The acts. Comments name the fields that are set besides Act and Name.
const (
	// Send the message to a store. Fields: To, Message.
	Send Act = iota + 1
	// SendConfirmed is Send, when it is known that this store's node has led since, and if the session is still that of now: the message rests on what is not
	// here, and a former leader lacks what its successors have. Fields: To, Message.
	SendConfirmed

	// Write is of a participant: append what the attempt has written here, as a row that says what is prepared, with the actors whose locks
	// it has. Then call Participant.Prepared when the row is durable.
	Write
	// Confirm is of a participant where the attempt has only read, and of a home where it has not written: call Prepared, or Home.Decided, when all that
	// the attempt has seen here is durable, and it is known that this store's node has led since. What it has written here is undone, and its row
	// deleted, durably, if it has one, unless Keep says that it has voted before, and that all stays. Fields: Keep.
	Confirm
	// Apply is of a participant: append the writes of the row in place of it, release the locks, and call Applied when that is durable. Fields: At: when
	// the attempt has committed.
	Apply
	// Drop is of a participant: the attempt has not committed. Undo it, append that there is no row if there is one, release the locks.
	Drop
	// Release is of a participant where the attempt has only read: release the locks.
	Release

	// Decide is of a home: append what the attempt has written here, with a row of the decision if Keep says so, release the locks of this
	// store, and call Home.Decided when that is durable. Fields: Keep, Stores: the stores that the row has to name.
	Decide
	// Answer is of a home: the attempt has happened, durably; what waits for it is told.
	Answer
	// Forget is of a home: delete the row of the decision. That need not be durable before anything else.
	Forget
	// Withdraw is of a home: the attempt has lost something. Undo it, release its locks, and let the next attempt begin.
	Withdraw
)

var actNames = [...]string{"?", "send", "send confirmed", "write", "confirm", "apply", "drop", "release", "decide", "answer", "forget", "withdraw"}

// String returns the act in one word.
func (a Act) String() string { return actNames[a] }

// Effect is one output of a step.
type Effect struct {
	Act     Act
	Keep    bool
	At      int64 // in nanoseconds since 1970
	To      event.StoreID
	Name    Name
	Message Message
	Stores  []event.StoreID
}

func send(out []Effect, to event.StoreID, m Message) []Effect {
	return append(out, Effect{Act: Send, To: to, Name: m.Name, Message: m})
}

func sendConfirmed(out []Effect, to event.StoreID, m Message) []Effect {
	return append(out, Effect{Act: SendConfirmed, To: to, Name: m.Name, Message: m})
}
