// Package replica keeps the journals of stores on several nodes, so that what was answered survives the loss of a machine. Each
// store is a raft group (Ongaro and Ousterhout, "In search of an understandable consensus algorithm", 2014), and a node is
// a member of many. The algorithm is that of go.etcd.io/raft; this package runs any number of its groups on one log with
// one sync, and makes elections repeatable.
//
// [Core] is a state machine without goroutines, clock, randomness of its own, network and disk. Its inputs are calls: a tick
// has passed, a message has arrived, an append is durable, entries were applied. What it wants done it puts into
// [Effects], which a driver takes after the calls and performs in any order, but for what their comments say. So the same
// code runs in production and under a seed.
//
// A group's life on one node:
//
//	entries   proposed to the leader, which sends them to the members and writes them itself at the same time
//	append    written and synced by the driver, together with those of all other groups of the node
//	commit    when a majority has them durable
//	apply     handed to the state of the group, in order; each entry once in the life of a process
//	cut       removed from the log when the state has synced them itself
package replica
