// Package order gives events the locks of actors, in an order that all of them agree on: it is the host on which
// runtime/lock runs, with real goroutines.
//
// An Attempt is all that the locks know of an event (attempt.go). An event has one Attempt at a time: if it lacks a lock, or T has
// changed, it is withdrawn, what its code has written is undone, and the event enters again with what it has learned, until an
// attempt comes to an end.
//
// The actors that an attempt may touch are its footprint (footprint.go); the Effects of the method and the Shape of the target's class
// tell the compiler's bounds of it (effects.go). The attempt enters at the sequencer of the footprint; virtual nodes are passed
// (admit.go). There are three ways in:
//   - the fast path, by the words of the actors alone, if no other attempt is in the way (fastpath.go, and package latch);
//   - sharing, for one of many readers of a tree (share.go);
//   - the queues of runtime/lock, which ask the View for the footprint and the next node (view.go).
//
// An actor that the footprint did not list is acquired when it is touched (acquire.go). An attempt that wants actors of several stores is ordered above them
// (above.go); it may take further ones (grow.go), and its target remembers in which stores (hint.go). An attempt waits for grants
// (parked.go lists the attempts that wait), for chains that keep an actor (keep.go), and for room in a queue (bounds.go); a
// client may cancel it (cancel.go). Its code changes ownership, and the commit applies the changes (owner.go). Calls that touch
// no common actor may run at the same time (calls.go).
//
// A Host has the ownership graph and the sequencing tree (host.go), finds named actors (directory.go), drives the queues (drive.go, handle.go), and
// tightens the tree (maintain.go). If actors have their state in a store, the Host has a Residence, which attaches and loads an
// actor before an attempt touches it; grace periods tell when no attempt uses an actor any more that was taken out (grace.go). A Handle is an actor in memory; a Ref is what programs have of it (ref.go,
// refjson.go).
//
// Latch order, for a goroutine that holds more than one: a parent in the sequencing
// tree before its children, siblings by ActorID; the mutexes of attempts are leaves.
package order
