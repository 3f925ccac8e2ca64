// Package order gives events the locks of actors, in an order that all of them agree on: it is the host on which
// runtime/lock runs, with real goroutines.
//
// An Attempt is all that the locks know of an event (attempt.go). It wants actors: its footprint (footprint.go), which the
// Effects of its method and the Shape of its target's class bound (effects.go). It enters at the sequencer of the
// footprint, or passes the virtual nodes (admit.go); by the fast path where no other is in the way (fastpath.go, visible.go), as one
// of many readers of a tree (share.go), or through the queues, which ask the View what an attempt wants and where it
// goes on (view.go). What it did not list it acquires when it touches it (acquire.go). It waits for grants
// (parked.go lists those that wait), for chains that keep an actor (keep.go), and for room in a queue (bounds.go); a
// client may cancel it (cancel.go). Its code changes ownership, which the commit makes known (owner.go). Calls that touch
// nothing in common may run beside each other (calls.go).
//
// A Host has the ownership graph and the sequencing tree (host.go), finds named actors (directory.go), drives the queues (drive.go, handle.go, latch.go), and
// tightens the tree (maintain.go). Where actors have their state in a store it has a Residence, and tells when no attempt
// looks at an actor any more (grace.go). A Handle is an actor in memory; a Ref is what programs have of it (ref.go,
// refjson.go).
//
// Latch order, for a goroutine that holds more than one: a parent in the sequencing
// tree before its children, siblings by ActorID; the mutexes of attempts are leaves.
package order
