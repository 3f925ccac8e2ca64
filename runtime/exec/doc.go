// Package exec runs events on one node: it has runtime/order give them their locks,
// runs their methods in their caller's goroutine, and commits them or undoes
// them without a trace.
//
// An Event is an Attempt and a run. The Attempt is what runtime/order knows of it: what it wants and has of the locks, and
// its changes of ownership. This package knows what its code does.
//
// The life of an event:
//
//	client.go       its client issues it, in the line to its target; future.go: and awaits it later
//	event.go        Event: attempts, until one leads to an end
//	failure.go      the boundary of its code: what has unwound it, and how events fail
//	cx.go           Cx: what the code of a branch has, and issues
//	call.go         calls, which get access to actors; new and delete
//	branch.go       async calls
//	owned.go        writes to fields that own actors; all others are of runtime/undo
//	commit.go       commit and undo, and what follows a commit
//	preparation.go  with a store, its batch: what may be refused; decide.go: the rest, its place in the journal, the answer
//	trace.go        what it tells runtime/history in a traced system
//
// What follows it waits in runtime/outbox, and runs here:
//
//	lane.go         sub-events
//	tail.go         the steps of chains
//	firing.go       timers
//	callback.go     callbacks; clientref.go: references to client objects in rows and in JSON
//	output.go       lines and dead letters that wait for the disk
//
// The system around events:
//
//	system.go       Config and System: opening and closing; observe.go: counters, and failures that are not awaited
//	method.go       Method and Class: the descriptions that generated code has
//	durable.go      what a system with a store has besides; runtime/state has the actors
//	session.go      durable sessions
//	recover.go      an opening goes on with what is in the store; recover_work.go: with the calls that wait there
//	snapshot.go     snapshots; override.go: what classes change in them
//	failpoint.go    the places at which tests crash a system
//
// A commit reads: order settles ownership, state and outbox write what changes and what follows into one batch, the batch gets its
// place in the journal, and what follows is queued; then the locks go.
package exec
