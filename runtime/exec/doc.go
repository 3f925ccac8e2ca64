// Package exec runs events on one node: it has runtime/order give them their locks,
// runs their methods in their caller's goroutine, and commits them or undoes
// them without a trace.
//
// An Event is an Attempt and a run. The Attempt is what runtime/order knows of it: what it wants and has of the locks, and
// its changes of ownership. This package knows what its code does.
//
// The life of an event: its client and the line that it stands in (client.go), admission
// (event.go), the method and its calls (access.go, call.go, branch.go), writes (runtime/undo, and owned.go for fields that own
// actors), commit or abort (commit.go, failure.go), and what follows it: sub-events (lane.go), steps of chains (tail.go), callbacks
// (callback.go), timers (firing.go) and lines (output.go), which wait in runtime/outbox.
//
// In a system with a store, runtime/state has the actors; commits write a batch (preparation.go, decide.go), sessions
// repeat outcomes (session.go), and the next opening goes on with what it finds (recover.go, recover_work.go).
//
// A traced event does the same and tells runtime/history of it (trace.go).
//
// A commit reads: order settles ownership, state and outbox write what changes and what follows into one batch, the batch gets its
// place in the journal, and what follows is queued; then the locks go.
package exec
