// Package driver performs what the raft groups of a node want done: it gives package replica its clock, disks and messages, and
// package replica/engine what is committed.
//
//	loop      the one goroutine that calls the core; what others tell it stands in a queue
//	writer    writes the log of the node, one append after another; a hung disk hangs the writer alone
//	member    a group on this node: a goroutine that has the state take what is committed, and sends and takes whole states
//
// All goroutines are tasks of a scheduler, if there is one: then a seed repeats whatever a cluster of several drivers does.
package driver
