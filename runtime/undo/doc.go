// Package undo keeps what an event has written, so that the writes can be taken back when it fails, and are known
// when it commits.
//
//	log.go     Log: its entries, and the assignment of a field
//	vector.go  writes to a vector in a field of an actor
//	map.go     writes to a map or a set
//	table.go   writes to a table
//	owned.go   all these where what is written refers to actors that the field owns
//
// Each write function notes how to take the write back, then writes. For a container it notes a record of package
// value or table; these packages say why a container needs few records. A fault leaves the container as it was.
//
// A write to a field that owns actors moves edges of ownership first. These are of runtime/activation.
package undo
