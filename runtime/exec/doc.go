// Package exec runs events on one node: it orders them through runtime/lock,
// runs their methods in their caller's goroutine, and commits them or undoes
// them without a trace.
//
// An Event is an Attempt and a run. The Attempt is all that the locks know of it, as (attempt, number); it wants and
// has actors (attempt.go, footprint.go, admit.go, guest.go, share.go, view.go), waits for them (acquire.go, keep.go,
// parked.go, cancel.go, bounds.go), and changes ownership (owner.go). What it is told of code are the Effects of a method
// and the Shape of a class (effects.go, ref.go). A host drives the queues (host.go, handle.go,
// latch.go, drive.go) and tightens the sequencing tree (maintain.go). These files use nothing of the others.
//
// The life of an event: its client and the line that it stands in (client.go, turn.go), admission
// (event.go), the method and its calls (access.go, call.go, branch.go), the undo log (undo.go), commit or
// abort (commit.go, failure.go), and what follows it: sub-events (lane.go), steps of chains (tail.go), callbacks
// (callback.go) and timers (timer.go).
//
// A system with a store brings actors into memory (attach.go, load.go) and drops them (passivate.go, detach.go,
// grace.go), writes the batch of each commit (prepare.go, decide.go, rows.go), keeps sessions (session.go), and goes on
// with what it finds (recover.go).
//
// Latch order, for a goroutine that holds more than one: a parent in the sequencing
// tree before its children, siblings by ActorID; the mutexes of attempts, lanes, timers and clients are leaves.
package exec
