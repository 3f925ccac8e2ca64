package remote

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/runtime/event"
)

// EchoPart is the node that sends back what comes.
const EchoPart = "echo"

// ServeEcho is its server.Part.
func ServeEcho(dir string) (address string, close func() error, err error) {
	l, err := open(dir, "", func(l *line) listener { return echo{l} })
	if err != nil {
		return "", nil, err
	}
	return l.port.Addr().String(), l.close, nil
}

type echo struct{ *line }

func (echo) Up(event.NodeID)   {}
func (echo) Down(event.NodeID) {}

// Message sends the message back, whose memory it owns for as long as that takes: a copy is what any answer is.
func (e echo) Message(from event.NodeID, m []byte) { e.Send(from, append([]byte(nil), m...)) }

// answers has the messages that come back reach the clients that wait for them.
type answers struct {
	waiting []chan struct{} // by the number of the client, which a message begins with
}

// tells is the kind of a message for whose answer no client waits.
const tells = 0xff

func (answers) Up(event.NodeID)   {}
func (answers) Down(event.NodeID) {}

func (a answers) Message(_ event.NodeID, m []byte) {
	if m[4] != tells {
		a.waiting[binary.LittleEndian.Uint32(m)] <- struct{}{}
	}
}

// MessageLen is about as long as a message of an event with one remote call.
const MessageLen = 60

// newMessage returns one of a client, of a kind, about an actor or a row.
func newMessage(client int, kind byte, key uint64) []byte {
	m := make([]byte, MessageLen)
	binary.LittleEndian.PutUint32(m, uint32(client))
	m[4] = kind
	binary.LittleEndian.PutUint64(m[5:], key)
	return m
}

// openAnswers opens the near end of a session with the node at peer; dir has the identities of both.
func openAnswers(dir, peer string, clients int) (a answers, l *line, err error) {
	a.waiting = make([]chan struct{}, clients)
	for i := range a.waiting {
		a.waiting[i] = make(chan struct{}, 1)
	}
	l, err = openLine(filepath.Join(dir, nearDir), peer, a)
	return a, l, err
}

// Echo measures round trips of messages by a session of two nodes. If it decides, another message follows each, and is sent back while the client goes
// on: an event that writes in the other node has a call and its answer with the vote, which its client waits for, and then the decision and its
// acknowledgement.
func Echo(dir string, peer Peer, clients int, decides bool) (load.System, error) {
	a, l, err := openAnswers(dir, peer.Address(), clients)
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(i, _ int) load.Client {
			return func(*rand.Rand) error {
				if !l.Send(far, newMessage(i, 0, 0)) {
					return errSession
				}
				if _, err := awaited(l, a.waiting[i]); err != nil {
					return err
				}
				if decides && !l.Send(far, newMessage(i, tells, 0)) {
					return errSession
				}
				return nil
			}
		},
		Close: func() { _ = l.close() },
	}, nil
}
