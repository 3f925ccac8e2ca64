// Package raftnode has the nodes of a cluster agree on its placement: package placement's state machine on hashicorp/raft.
//
//	node.go     proposes commands, here or at the leader, and shows what was agreed on
//	machine.go  what raft applies
//	lead.go     what the leader does: it makes members take part, and has the plan carried out
//	log.go      the log, as rows of an engine, with a deadline
//
// Servers of raft have the decimal ids of nodes as ids and as addresses: the stream layer knows where a node is.
package raftnode
