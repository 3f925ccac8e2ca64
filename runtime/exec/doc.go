// Package exec runs events on one node: it orders them through runtime/lock,
// runs their methods in their caller's goroutine, and commits them or undoes
// them without a trace.
//
// An event is known to the locks as (event, attempt). Its life: admission and
// bounds (client.go, bounds.go), locks (admit.go, pass.go, lazy.go), the method
// and its calls (call.go, branch.go), the undo log (undo.go), ownership
// (owner.go), commit or abort (commit.go, failure.go), and what follows it:
// sub-events (lane.go), callbacks (callback.go) and timers (timer.go). A system that is scheduled runs one
// goroutine at a time, in an order that a seed chooses (package sched).
//
// Latch order, for whoever holds more than one: a parent in the sequencing
// tree before its children, siblings by ActorID; an event's own mutex and the
// mutexes of lanes, timers and clients are leaves.
package exec
