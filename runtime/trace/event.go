// Package trace has the records of a traced run: what every event read and wrote, in
// which place of the serial order, and when it was issued and answered. Package history gathers them.
//
// The file format is described in docs/trace.md, and spec/trace checks such files. This
// package only writes: what it costs is paid by running programs.
package trace

import (
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Kind says what has given rise to an event or a callback.
type Kind string

// The kinds.
const (
	Client Kind = "client" // a client issued it
	Sub    Kind = "sub"    // an event issued it, and has committed
	Tail   Kind = "tail"   // the event before it has ended with a tail call, and has committed
	Go     Kind = "go"     // an event issued a call of a Go function, has committed, and the call has ended
	Timer  Kind = "timer"  // the firing of a timer, an event on the actor that has set it
	// Of an event whose home is another store:
	Vote Kind = "vote" // what it has read here, and would change, when this store votes for its attempt
	Part Kind = "part" // what it has changed here, when its commit is carried out
)

// Access is an actor as an event found it or left it.
type Access struct {
	Actor event.ActorID
	// Label is class and key, and tells apart the actors that have had one name, one
	// after the other: what stands for the actor in a file.
	Label string
	// Version counts the events that have written the actor.
	Version uint64
	// State is a hash of the actor's fields, 0 if they were not looked at.
	State uint64
	// Deleted is set in writes: the event has deleted the actor, this version is the last.
	Deleted bool
}

// Origin is where an event or a callback comes from.
type Origin struct {
	Kind   Kind
	Client event.ClientID // of a client's event: its issuer; of a callback: the client called
	Parent event.EventID  // of others, and of a callback that an event has issued: the event
	Issuer string         // and the actor in that event that has issued it, by label
	// Index counts the sub-events of the parent, or its callbacks, from 1 on; for the
	// firings of a timer it is the tick.
	Index int
	Timer uint64 // of a firing: the generation of the timer, which no other has
	// Elsewhere: of a callback, the event is one of another store, which is Home.
	Elsewhere bool
	Home      event.StoreID
	// Issued: the client went on at once. Start is then drawn with the event's place in the line to its target.
	Issued bool
}

// Source is the origin of an event that was issued before it starts.
type Source struct {
	Origin
	Start int64 // the tick at which a client issued it; 0: that at which it starts
}

// Fired returns the source of the firing of a timer, by tick and generation, which s has set; nil for nil.
func (s *Source) Fired(tick, timer uint64) *Source {
	if s == nil {
		return nil
	}
	f := *s
	f.Index, f.Timer = int(tick), timer
	return &f
}

// TimerOp is what an event does with a timer when it commits: it sets one, which replaces the one of that name, or it
// cancels one.
type TimerOp struct {
	Issuer     string // by label; names are the issuer's
	Name       string // "" if it has none
	Generation uint64 // of the timer that is set; 0: the timer of that name is cancelled
	Every      bool   // it ticks until it is cancelled
}

// Event is what a Recorder is given of an event that has ended. Start, Order and End
// are drawn from one counter: when the event was issued, when it committed (or was
// undone) with its locks still held, and when its answer left. Order is therefore the
// serial order, and extends real time.
type Event struct {
	ID      event.EventID
	Attempt event.Attempt
	Origin  Origin
	Target  event.ActorID
	Label   string // of the target
	Method  string
	Args    any   // as they were passed, with the result: not part of the file
	Err     error // nil for a commit

	Start int64
	Order int64
	End   int64 // set when the answer leaves, after Ended was called

	Position store.Position // of a commit in its journal; 0 if that counts none
	// Batch says that the event leaves something in the store of a durable system. Such an
	// event has Ended before its batch is appended, so that the record of it is never
	// missing; what a crash has lost shows in the header of the next run.
	Batch  bool
	Reads  []Access // every actor touched, in the version found
	Writes []Access // in the versions that the event has made

	Subs      int              // sub-events that were issued by the commit, a tail call among them
	Callbacks []event.ClientID // that the callbacks are for which were issued by the commit
	Timers    []TimerOp        // in program order
	Keeps     bool             // a tail call keeps the target for the next step

	Across Across

	// Line belongs to the Recorder.
	Line []byte
}

// Across is what the record of an event over several stores has in each of them.
type Across struct {
	Try      uint64          // the attempt, among all of its home; 0: the event is one of this store alone
	At       int64           // of a home: the tick at which the attempt had reached all its actors, which is its place among the events of all stores
	Parts    []event.StoreID // of a home: the stores that carry out its commit
	Home     event.StoreID   // of a Vote and a Part
	Restored bool            // of a Part: an earlier start has run its code, and has the Vote
}

// Callback is a callback that is about to run in its client.
type Callback struct {
	Origin Origin
	Method string
	Start  int64 // drawn from the counter of the events
}

// Recorder is told what happens in a traced system. It must not call into the system.
type Recorder interface {
	// Prepare is called when an event has ended and its Order and what it issues are still
	// missing, by any number of goroutines at once: what takes time belongs here.
	Prepare(*Event)
	// Ended is called next, for one event at a time, in serial order, while the event
	// still holds its locks.
	Ended(*Event)
	// Answered is called when the answer of an event is about to leave; End is set. It may come later for an
	// event that is not awaited, as what the event has seen has to be durable. An event whose goroutine was
	// taken from it is never answered. Any goroutine.
	Answered(*Event)
	// Called is called before a callback runs, in an order that fits Ended.
	Called(*Callback)
	// Dropped is called when a callback does not run, as the session with the home of its event has ended. That may have committed, or not. Any goroutine.
	Dropped()
	// Gone is called when a client has gone: its callbacks are dropped from then on.
	Gone(event.ClientID)
}

// Grouping is a Recorder that writes to a file. It writes the record of an event with a Batch at once, unless
// Group has told it that Flush will be called in time.
type Grouping interface {
	Recorder
	// Flush writes what was recorded.
	Flush()
	// Group says, for the rest of the section, that Flush will be called before a batch that was appended after
	// Ended may survive the process.
	Group()
}

// Clocked is a Recorder of a system on a node of a cluster, where other nodes have the systems before it and behind it. Ticks
// are times then, so that those of all nodes can be compared.
type Clocked interface {
	Recorder
	// Now returns the time. It does not ascend from call to call: the ticks that are made of it do.
	Now() int64
}

// Transient is a Recorder that keeps nothing of an event once Answered has returned.
type Transient interface {
	Recorder
	Transient()
}

// Func is a Recorder that collects events.
type Func func(*Event)

// Prepare implements Recorder.
func (Func) Prepare(*Event) {}

// Ended calls f.
func (f Func) Ended(e *Event) { f(e) }

// Answered implements Recorder.
func (Func) Answered(*Event) {}

// Called implements Recorder.
func (Func) Called(*Callback) {}

// Dropped implements Recorder.
func (Func) Dropped() {}

// Gone implements Recorder.
func (Func) Gone(event.ClientID) {}
