// Package row has the forms of the rows that a system keeps in a store: the contents of their keys and payloads.
// docs/rfc/durability.md lists them.
//
//	header.go    an actor: its layout, name and place in the sequencing tree
//	edge.go      an owner of an actor, besides its parent in the tree
//	name.go      which actor has a name
//	subevent.go  a sub-event, or the next step of a chain, that has not ended
//	timer.go     a timer that is set
//	deadletter.go  a dead letter
//	session.go   a durable session, and the outcome of each of its requests
//	indoubt.go   what several stores have to end: what is prepared and decided, and the chains of requests that go elsewhere
//	trace.go     the version of an actor that is traced, and how far the trace has come
//
// Each file has both the writer and the reader of a form. Two kinds of rows are not here: package image has the rows of
// fields, and package store has the schema and the rows of the node itself.
//
// A Writer puts rows into a batch (writer.go), a Reader reads payloads (reader.go), Each and Section go through the rows
// of a view (scan.go), and Edits are changes of the rows of a view that are not applied to the store (edits.go).
package row
