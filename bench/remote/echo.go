package remote

import (
	"encoding/binary"
	"errors"
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

func (answers) Up(event.NodeID)   {}
func (answers) Down(event.NodeID) {}

func (a answers) Message(_ event.NodeID, m []byte) {
	a.waiting[binary.LittleEndian.Uint32(m)] <- struct{}{}
}

var errSession = errors.New("the session between the nodes has ended")

// Echo measures round trips of messages of a size by a session of two nodes: dir has their identities, and the other one serves at peer.
func Echo(dir, peer string, clients, size int) (load.System, error) {
	a := answers{make([]chan struct{}, clients)}
	for i := range a.waiting {
		a.waiting[i] = make(chan struct{}, 1)
	}
	l, err := open(filepath.Join(dir, nearDir), peer, func(*line) listener { return a })
	if err != nil {
		return load.System{}, err
	}
	if err := l.await(); err != nil {
		return load.System{}, errors.Join(err, l.close())
	}
	return load.System{
		NewClient: func(i, _ int) load.Client {
			return func(*rand.Rand) error {
				m := make([]byte, size)
				binary.LittleEndian.PutUint32(m, uint32(i))
				if !l.Send(far, m) {
					return errSession
				}
				<-a.waiting[i]
				return nil
			}
		},
		Close: func() { _ = l.close() },
	}, nil
}
