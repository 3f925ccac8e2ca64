// Package across has the events of one store touch actors of other stores of the cluster. docs/rfc/stores.md has the design.
//
// A [Store] is what one store has for that, in one start. It is the order.Above of its host: it sends the footprint of an attempt to store 0, which orders
// all attempts that want actors of several stores, and it takes its own parts in that order. A [Try] is an attempt of an event
// of the store that touches others; a [Part] is what an attempt of another store's event has here. Both call each other's actors: calls form a star
// around the home, and one thread of control runs in all of it, so a store at which an activation waits for an answer may be called meanwhile. When
// the event's code has ended, the machines of package commit decide it.
//
//	message.go   what stores tell each other
//	wire.go      the form of a message on the wire; wire_call.go has that of calls, replies and questions, wire_failure.go that of failures
//	receive.go   what a store does with a message
//	store.go     the Store: order above the stores, and what the machines of package commit have it do
//	try.go       an attempt at its home
//	part.go      an attempt at another store
//	thread.go    calls out and in
//	session.go   sessions with other stores, and questions outside of events
//	held.go      callbacks for clients of this store, until the event of another one that has called them is decided
//
// Code of events runs in package activation. Package exec has it behind [Local] and [Proxy].
package across
