// Package exec runs events on one node: it has runtime/order give them their locks,
// runs their methods in their caller's goroutine, and commits them or undoes
// them without a trace.
//
// An Event is an Attempt and a run. The Attempt is what runtime/order knows of it: what it wants and has of the locks, and
// its changes of ownership. This package knows what its code does.
//
// The life of an event: its client and the line that it stands in (client.go, turn.go), admission
// (event.go), the method and its calls (access.go, call.go, branch.go), the undo log (undo.go), commit or
// abort (commit.go, failure.go), and what follows it: sub-events (lane.go), steps of chains (tail.go), callbacks
// (callback.go) and timers (timer.go).
//
// A system with a store brings actors into memory (attach.go, load.go) and drops them (passivate.go, detach.go),
// writes the batch of each commit (prepare.go, decide.go, rows.go), keeps sessions (session.go), and goes on
// with what it finds (recover.go).
//
// The mutexes of lanes, timers and clients are leaves: a goroutine that has one takes no other.
package exec
