// Package activation runs the code of events under their locks.
//
// An Activation is the context of the code of one branch of an event; Cx is what generated code sees of it. A Run is an order.Attempt
// with its activations: what it runs reaches actors, creates and deletes them, calls them, and issues what is to happen after the commit.
// If code touches an actor that the attempt does not cover the run is unwound, and its writes can be undone. Package exec has the life of
// an event: it enters the attempt, executes the Run, and commits what is there then, undoes it, or enters again. So this package
// knows no commit and no client. What it needs of the system around are the fields of a System.
//
//	run.go          System, and Run: the state of an attempt whose code runs, and how it is taken back
//	cx.go           Activation and Cx: calls in progress, fuel, time and random numbers
//	method.go       Method and Class: the descriptions that generated code has
//	schema.go       what a store knows of classes
//	call.go         calls of actors, which are locked, attached and loaded when they are touched first; new and delete
//	branch.go       async calls: parts of the event. They run in workers if they share no actor with their caller; the end of the run waits for them
//	failure.go      a failure unwinds a branch to here, whose Outcome it is; runtime/event has the types
//	owned.go        edges of ownership, which move with writes to fields that own actors; runtime/undo has the writes
//	op.go           Op: what code has issued, and what happens after the commit: sub-events, timers, callbacks, lines, tail calls, calls of Go functions
//
// An event may touch actors of several stores (package across). Its code then runs in all of them, in one thread of control that
// moves between them:
//
//	wide.go         what a run has then
//	abroad.go       calls of actors of other stores; new actors elsewhere
//	serve.go        calls of other stores here
//	clientcall.go   callbacks of clients of other stores, and timers that call these
//	record.go       what traces and spans have of it
//	issue.go        ops as they are stored, with their arguments
//	reach.go        whether an actor reaches another one by way of other stores: no cycle of ownership may come about
package activation
