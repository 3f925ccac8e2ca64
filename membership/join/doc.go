// Package join admits nodes to a cluster: [Server] on each member, and [Join] on the node that comes.
//
// The node has a token, and addresses of members. It knows by the token which authority has to answer. It makes its key durable, and sends
// the token, its name, its address, its program, its time, and its public key with a proof that it has the private one. The member proposes
// the join, which uses up the token, and answers with a certificate and with what all members have.
//
// The key names the request: a node that asks again with the key of a member is answered as that member, whether or not its
// token is used up. So an answer that was lost, or a crash before it was written, costs nothing as long as the directory is there.
package join
