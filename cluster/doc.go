// Package cluster runs a program as a node of a cluster.
//
//	run.go      a process that is a node: from its flags to its exit code
//	clients.go  what it needs to serve clients, read before it forms or joins a cluster
//	members.go  how a new node becomes a member, and where members are
//	open.go     starts the parts of a node, from the disk up to the placement
//	node.go     the parts of a node, and how they are connected
//	stores.go   the stores that placement has this node keep
//	holder.go   the system of a store, in the terms in which this node leads it
//	load.go     what such a system has to do
//	system.go   a system, and the door to it
//	grpc.go     what a node needs to take calls by gRPC
//	calls.go    what nodes ask each other
//	control.go  what an operator asks a node
//	metrics.go  what a node counts
package cluster
