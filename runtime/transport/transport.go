// Package transport is how the nodes of a cluster talk to each other: messages, which may be lost; calls, which are answered; and streams of any
// length beside them. Package grpc carries them between processes.
//
// Messages from one node to another go in sessions. Within one they arrive in order and once, but the last ones may be lost; when the connection
// breaks, the session is over. Nothing is sent again here: raft, votes and the outbox do that themselves.
package transport

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Transport carries what one node says. Any goroutine may call it.
type Transport interface {
	// Send queues a message, which the caller does not change any more. It never waits: what the queue has no room for is lost.
	Send(to event.NodeID, message []byte)
	// Call sends a request and returns the reply. The error is what the other node's Handler.Call returned, as text in a *Refusal; else it is unknown
	// whether the request has arrived.
	Call(ctx context.Context, to event.NodeID, request []byte) ([]byte, error)
	// Bulk sends what write writes. It returns nil when the other node's Handler.Bulk has returned nil.
	Bulk(ctx context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error
	// Heard returns what is known of a node's health.
	Heard(n event.NodeID) Health
	// Close ends all sessions.
	Close() error
}

// Handler takes what arrives. Any goroutine calls it.
type Handler interface {
	// Message takes a message of another node. It does not wait, and keeps the message.
	Message(from event.NodeID, message []byte)
	// Call answers a request.
	Call(ctx context.Context, from event.NodeID, request []byte) ([]byte, error)
	// Bulk reads a stream to its end.
	Bulk(from event.NodeID, header []byte, r io.Reader) error
	// Down is called when a session to another node has ended: messages were lost.
	Down(n event.NodeID)
}

// Health is what is known of a node.
type Health struct {
	Last     time.Time // it was heard; the zero time: never
	Progress bool      // its disk makes progress
}

// Refusal is the error of a call that the other node has refused.
type Refusal struct{ Reason string }

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

// ErrClosed means that the transport was closed.
var ErrClosed = errors.New("the transport is closed")
