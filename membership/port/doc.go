// Package port is the one TCP port for everything between nodes. All connections are TLS 1.3, and the protocol that a connection is
// for is negotiated by ALPN:
//
//	aeon-transport  events, locks, journals: runtime data between stores
//	aeon-placement  raft of the placement
//	aeon-proposals  commands and questions to the leader of the placement
//	aeon-gossip     streams of the gossip; its packets go by UDP to the same number
//	aeon-http       requests of clients that are forwarded
//	aeon-control    requests of operators that are forwarded
//	aeon-join       nodes that have no certificate yet
//
// Both sides prove which node they are: by a certificate of the cluster's authority, and by Config.Verify, which knows what the
// placement says. The accepting side then answers with two bytes, the length of the reason why it refuses the connection, and the
// reason; none if it does not. So the dialling side, whose handshake ends before the other side has looked at its certificate, has the reason as an error of Dial.
package port
