// Package raftnode replicates the placement on the nodes of a cluster, by github.com/hashicorp/raft, and has its leader perform
// the plan.
//
// A [Node] keeps the log and the snapshots of the placement's state, or is on the way to. One, three or five nodes vote; all others have
// the state, too, so each node reads it without asking. Commands go to the leader, from any node.
//
//	State     what is known here: it may be older than what others know
//	Current   what was known everywhere when the call began
//	Propose   a command: taken, refused, or of unknown outcome
//
// Members says for the port which nodes have a part in the cluster.
package raftnode
