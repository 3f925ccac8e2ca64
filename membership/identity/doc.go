// Package identity has what a node is known by: the files in its data directory, the certificates of the cluster, and the tokens by which
// a node may join.
//
//	DIR/identity/node.json  format, cluster, id and name of the node
//	DIR/identity/node.key   its private key
//	DIR/identity/node.crt   its certificate, with its id and the cluster's in a URI: aeon://CLUSTER/nodes/3
//	DIR/identity/ca.crt     the certificate of the cluster's authority, by which every member checks every other
//	DIR/identity/ca.key     its private key: each member has it, so that each can admit a node
//	DIR/identity/fresh      is there until the node keeps a log: see Identity.Begun. It says whether the node has formed its cluster, and with what that begins
//	DIR/joining/node.key    the private key of a node that has asked to join, and has no answer yet
//
// DIR/identity comes into being by one rename, when all that is in it is synced. So it is whole, or something has damaged it since.
// An identity is made in an empty directory only, and never again: a node whose disk was lost is a new node.
package identity
