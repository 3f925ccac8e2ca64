// Package history gathers the history of a traced run: of each event the versions of the actors that it has read and written,
// its place in the serial order, and when it was issued and answered. It tells them to a trace.Recorder.
//
//	tracer.go   Tracer: the order of events, callbacks and clients that go
//	record.go   Record: what one event gathers from its start to its answer
//	across.go   events over several stores: the clock that these have in common, votes, and parts
//	actor.go    the label and the version of an actor
//	durable.go  the rows with which the next run goes on, and the ends that wait for the disk
//	inspect.go  what tests look at
//
// Attempts and undo logs tell it what an event has read and written. runtime/exec fills in what the event issues, between
// Enter and Ended.
package history
