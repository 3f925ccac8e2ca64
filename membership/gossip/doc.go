// Package gossip finds out where the nodes of a cluster are, which of them are heard of, and what load they have, by
// github.com/hashicorp/memberlist (the SWIM protocol, and Lifeguard's suspicion).
//
// It is never an authority: all that have the cluster's key, former members too, can say that a node is here, or is dead. The placement says
// which nodes are members, and a connection proves which node answers. Gossip says where to try first, and where rather not.
//
// A node's name in it is its number and its incarnation, the time at which it was started. So a node that was started again is not held
// for the one that was declared dead, and what was said about that one does not concern it.
package gossip
