// Package store keeps what committed events leave behind: rows, in an Engine that orders
// and holds them, and the journal of the batches that change them.
//
// Append gives a batch its place in the journal; then the event's locks may be released.
// Durable tells whether the journal is safe up to a position; until it is, no answer that has
// seen the position may leave the node. docs/rfc/durability.md has the layout of the keys and
// the reasons.
package store

// Position is a place in the journal. Positions of one store are comparable; the zero
// position is durable from the start.
type Position uint64
