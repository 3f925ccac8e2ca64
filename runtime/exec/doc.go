// Package exec has the life of events on one node.
//
// An Event is an activation.Run, which is an order.Attempt. The Attempt has the locks that the event wants and holds, and its changes of
// ownership; the Run has what code does under them. If an attempt turns out to lack a lock, its writes are undone, and the same Event
// enters again with what it has learned.
//
// The life of a client's event:
//
//	client.go       a client issues it. The events of one client to one target stand in a line (sched.Lines), in the order of issue.
//	                The client awaits it in its own goroutine; or a worker runs it, and a Future has its outcome (future.go)
//	event.go        Event: enter, run, and commit, abort or enter again; and the places at which tests crash a system
//	failure.go      how an event fails: it is undone, and what it has issued is dropped
//	commit.go       the commit: order applies the changes of ownership, the batch gets its place in the journal, what the event has issued
//	                goes to the outbox, and then the locks are released
//	preparation.go  the batch, in a system with a store. What may fail, as a value that nests too deeply, is encoded before anything changes
//	decide.go       the rest of the batch, and the answer: it waits until the journal is durable up to all that the event has seen,
//	                also of what it has only read
//	trace.go        what runtime/history is told of the event in a traced system
//
// Locks are released before the batch is durable, so other events may see what a crash can still take back; their answers wait for it, too.
//
// What a committed event has issued waits in runtime/outbox, and workers run it here:
//
//	lane.go         sub-events, each when the one before of the same issuer and target has ended
//	tail.go         chains: an event that ends with a tail call, and the events that follow it, its steps
//	firing.go       timers
//	gocall.go       calls of Go functions that have an effect: they are tried outside of events (outbox.Tries), and then an event follows
//	callback.go     callbacks to client objects
//	dead.go         what has failed for good, and is kept as a dead letter
//	output.go       lines, and dead letters: failures that are not awaited
//
// A crash: an event whose batch is not durable has not happened, and no answer has told of it. If the batch is durable all of
// the event is there: changes, sub-events, steps, timers, the outcome of a session's request. What waits goes on at the next opening, each
// once, as its own batch removes its row (recover.go). Lines and callbacks have no rows: a crash may lose them, and repeats none.
//
// The system around events:
//
//	system.go       Config and System: opening and closing; observe.go: counters and failures; tell.go: what becomes of events, for those that follow, and as spans
//	durable.go      what a system with a store has besides; references in rows; runtime/state has the actors
//	request.go      calls from outside, and requests with keys: one that comes again gets the stored outcome (outbox.Keyed); session.go: those of
//	                durable sessions
//	snapshot.go     snapshots, which runtime/state/archive makes; here run the snapshot blocks of classes
//	look.go         views of the store, and figures, for tools
//
// A system may have one store of several, whose events touch actors of each other. Package across has the attempts and the commit over stores:
//
//	across.go       the system as other stores see it; votes and decisions of its own events; chains that go on in other stores
//	                (outbox.Ends: those of requests that happen once)
//	part.go         what is a part of an event of another store: an Event that its home enters, runs and commits
//	held.go         callbacks to clients of other stores
package exec
