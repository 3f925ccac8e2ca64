// Package transport says how the nodes of a cluster talk to each other: by messages, which are sent and forgotten, by calls, which
// have a reply, and by bulk data of any length.
//
// Between two nodes there is at most one session. It carries both directions, begins at either end with Handler.Up, and ends with
// Handler.Down. All that crosses belongs to one session: what is sent in it arrives in it or never. A node that has crashed and
// starts again begins new sessions. So a protocol that loses nothing while its session lasts (runtime/lock) has nothing to resend
// and nothing to recognize; it begins anew where a session does.
//
// Package mem is a network in one process, for simulation; package grpc is the real one.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Transport carries what a node says to the others. Any goroutine may call its methods.
type Transport interface {
	// Peers says which nodes this one keeps a session with from now on: it is begun, and begun again, until it lasts. It takes the
	// place of what was said before. Of two nodes the one of the lower id begins a session, so that there are never two; the other takes
	// what it is offered, by a node that it has not been told of, too. A node that is left out after it was told is refused.
	Peers(nodes []event.NodeID)

	// Send puts m under way, which it owns from then on, and returns at once. It reports whether m has a place in the present session: there
	// is none without a session, or if too much waits already. Of what has a place a prefix arrives, in the order of the
	// calls, each once; all of it does unless the session ends. m has at most MessageMax bytes.
	Send(to event.NodeID, m []byte) bool

	// SendReliable is Send for a protocol that loses nothing while its session lasts: m has a place in any session, however much waits. What
	// one of the two has sent does not wait for what the other has, and may overtake it.
	SendReliable(to event.NodeID, m []byte) bool

	// Call sends a request beside the messages and returns the reply of the other's handler. It ends with the session. request, which is
	// of at most CallMax bytes, is not changed before it returns, nor afterwards if it returns an error.
	//
	// An error is ErrNotSent, ErrUnknown, or a *Refusal of the other's handler. One of the first two wraps the error of ctx if that has ended.
	Call(ctx context.Context, to event.NodeID, request []byte) ([]byte, error)

	// Bulk sends a header, of at most CallMax bytes, and a stream of any length that write writes, on a connection of its own. It
	// returns nil when the other's handler has read all of it and returned nil. It ends with the session, and its errors are those of
	// Call; one of write is wrapped by ErrUnknown. The Writer fails when the stream has ended, and write then returns.
	Bulk(ctx context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error

	// Heard returns what is known of the health of a node.
	Heard(n event.NodeID) Health

	// Break ends the present session with a node, if there is one, as a broken connection does; the next one begins by itself. It
	// is for a protocol that cannot go on with what has arrived.
	Break(n event.NodeID)

	// Close ends all sessions, and what goes on in them. When it returns the handler is not called any more. A handler never calls it.
	Close() error
}

// Handler is what a node does with what arrives. Up, Message and Down of one node are called in turn, by one goroutine at a time: Up, then
// messages, then Down, then the next Up. They must not block, as the next message waits for them. Calls and Bulks go on beside each
// other and beside messages.
type Handler interface {
	// Up says that a session with n has begun. The handler may send.
	Up(n event.NodeID)
	// Message takes a message of the present session, in the order in which from has sent it. The handler owns m; it shares
	// memory with other messages that arrived with it, so what is kept for long is copied.
	Message(from event.NodeID, m []byte)
	// Down says that the session has ended. What is under way in it is lost, in both directions.
	Down(n event.NodeID)
	// Call answers a request, whose memory it owns. An error reaches the caller as a *Refusal with its text. ctx ends with the caller's,
	// and with the session.
	Call(ctx context.Context, from event.NodeID, request []byte) ([]byte, error)
	// Bulk reads a stream up to io.EOF and returns whether it has taken it. Any other error of r says that the rest will
	// not come: the sender has failed, or the session has ended. An error reaches the sender as a *Refusal with its text.
	Bulk(from event.NodeID, header []byte, r io.Reader) error
}

const (
	// MessageMax bounds the bytes of a message.
	MessageMax = 16 << 20
	// CallMax bounds the bytes of a request, of a reply, and of the header of a bulk.
	CallMax = 16 << 20
)

// CheckMessage asserts that a message is no larger than it may be.
func CheckMessage(m []byte) {
	// Invariant: users cut what is larger into parts. A refusal would be found out with the first large message of a running cluster.
	if len(m) > MessageMax {
		assert.Unreachable("transport: a message of %d bytes, more than %d", len(m), MessageMax)
	}
}

// CheckCall asserts the same of a request, a reply or a header.
func CheckCall(b []byte) {
	if len(b) > CallMax {
		assert.Unreachable("transport: a request, reply or header of %d bytes, more than %d", len(b), CallMax)
	}
}

// Health is what is known of a node.
type Health struct {
	Up bool // there is a session with it
	// At is when it was last heard of; the zero time if it never was.
	At time.Time
	// Progress is whether its disk made progress, as it said then. It says nothing if it was never heard of.
	Progress bool
	// Refused is why there is no session, if that is because the clocks of the two nodes are too far apart; else "".
	Refused string
	// RoundTrip is how long a message and its answer take of late; 0: it is not known.
	RoundTrip time.Duration
}

var (
	// ErrNotSent means that the other's handler was not called, and will not be: the caller may try elsewhere.
	ErrNotSent = errors.New("not sent")
	// ErrUnknown means that the other's handler may have been called, may still run, or may yet be called.
	ErrUnknown = errors.New("sent, and the outcome is unknown")
)

// Refusal is an error that the handler of another node has returned.
type Refusal struct {
	By   event.NodeID
	Text string
}

func (r *Refusal) Error() string { return fmt.Sprintf("refused by node %d: %s", r.By, r.Text) }
