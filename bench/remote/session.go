// Package remote has what is measured over two nodes, in two processes of one machine that are connected as nodes of a cluster are: by the
// transport of package grpc, on connections of package port, which are encrypted.
//
//	session.go   a session between two nodes, and nothing on it
//	echo.go      the limit: messages that go and come back
//	node.go      a node that leads a store of a program
//	calls.go     events with one remote call
//	commit.go    two-phase commit by hand, the limit for
//	transfer.go  durable transfers between two nodes
//	lock.go      two-phase locking, the baseline for events that write several actors
//	tree.go      a binary tree over both nodes, and the same with one request at a time
//	game.go      the game of the dissertation
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/transport/grpc"
)

// The two nodes: the clients are at the first one, in this process, which opens the session.
const (
	near event.NodeID = 1
	far  event.NodeID = 2
)

// The directories of the nodes, below the one of the pair.
const (
	nearDir = "near"
	farDir  = "far"
)

// FarDir returns the directory of the node that is another process, below the one of the pair.
func FarDir(dir string) string { return filepath.Join(dir, farDir) }

// Form makes the identities of both nodes below dir, which is there.
func Form(dir string) error {
	first, err := identity.Form(filepath.Join(dir, nearDir), "")
	if err != nil {
		return err
	}
	c, err := identity.Prepare(FarDir(dir))
	if err != nil {
		return err
	}
	a, err := first.Admit(far, "", c.Public())
	if err != nil {
		return err
	}
	_, err = c.Complete(a)
	return err
}

// line is a node's end of the sessions with the other one.
type line struct {
	*grpc.Transport
	clock *sched.Hybrid
	port  *port.Port
	ready chan struct{} // closed when the transport is there
	up    chan struct{} // has an element when a session has begun
	down  chan struct{} // closed when one has ended
	ended sync.Once

	late   chan message // on its way, as it would be in a network; nil: no message is delayed
	delays sync.WaitGroup
}

// DelayVariable is the variable of the environment that says how long each message of a session is under way, beside the time that it takes.
const DelayVariable = "AEON_BENCH_DELAY"

// message is one that is delayed.
type message struct {
	due  time.Time
	from event.NodeID
	m    []byte
}

// lateMax is how many messages are under way at a time.
const lateMax = 10_000

// delay has each message come after d, in order.
func (l *line) delay(to listener, d time.Duration) listener {
	l.late = make(chan message, lateMax)
	l.delays.Go(func() {
		for x := range l.late {
			time.Sleep(time.Until(x.due))
			to.Message(x.from, x.m)
		}
	})
	return delayed{to, l, d}
}

// delayed is a listener that hears of messages later.
type delayed struct {
	listener
	line *line
	by   time.Duration
}

func (d delayed) Message(from event.NodeID, m []byte) {
	d.line.late <- message{time.Now().Add(d.by), from, m}
}

// listener is what takes what arrives in the sessions of a line.
type listener interface {
	Up(event.NodeID)
	Message(from event.NodeID, m []byte)
	Down(event.NodeID)
}

// handler is a listener as a transport.Handler: nodes here make no calls, and send nothing in bulk.
type handler struct {
	listener
	line *line
}

var errUnused = errors.New("it is not used here")

func (h handler) Up(n event.NodeID) {
	<-h.line.ready
	h.listener.Up(n)
	select {
	case h.line.up <- struct{}{}:
	default:
	}
}

func (h handler) Down(n event.NodeID) {
	h.listener.Down(n)
	h.line.ended.Do(func() { close(h.line.down) })
}

func (handler) Call(context.Context, event.NodeID, []byte) ([]byte, error) { return nil, errUnused }
func (handler) Bulk(event.NodeID, []byte, io.Reader) error                 { return errUnused }

// open opens the end of the node whose identity is in dir. peer is the address of the other node; the one that is connected to knows none.
// listening makes what takes what arrives; it may send.
func open(dir, peer string, listening func(*line) listener) (*line, error) {
	id, err := identity.Load(dir)
	if err != nil {
		return nil, err
	}
	l := &line{clock: sched.NewHybrid(sched.RealClock{}), ready: make(chan struct{}), up: make(chan struct{}, 1), down: make(chan struct{})}
	l.port, err = port.Listen(port.Config{Address: "127.0.0.1:0", Identity: id, Verify: func(event.NodeID, placement.Fingerprint) error { return nil }})
	if err != nil {
		return nil, err
	}
	takes := listening(l)
	if text := os.Getenv(DelayVariable); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		takes = l.delay(takes, d)
	}
	l.Transport = grpc.New(grpc.Config{
		Node: id.Node, Listener: l.port.Listener(port.Transport), Handler: handler{takes, l}, Clock: l.clock,
		Silence: openMax, // a machine that is measured may be slow to answer
		Dial: func(ctx context.Context, to event.NodeID) (net.Conn, error) {
			if peer == "" {
				return nil, errUnused
			}
			return l.port.Dial(ctx, peer, port.Transport, to)
		},
	})
	close(l.ready)
	l.Peers([]event.NodeID{near, far})
	return l, nil
}

// openLine opens the end of the node that connects to the one at peer, and has what arrives taken by to.
func openLine(dir, peer string, to listener) (*line, error) {
	l, err := open(dir, peer, func(*line) listener { return to })
	if err != nil {
		return nil, err
	}
	if err := l.await(); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// openMax is how long two nodes may take until they have a session.
const openMax = 10 * time.Second

// await waits for the first session.
func (l *line) await() error {
	select {
	case <-l.up:
		return nil
	case <-time.After(openMax):
		return fmt.Errorf("the nodes have no session within %v", openMax)
	}
}

// notes says what the sessions have carried for a number of operations.
func (l *line) notes(operations uint64) []string {
	for _, m := range l.Metrics() {
		return []string{fmt.Sprintf("%.2f messages sent and %.2f received per operation, %.0f and %.0f bytes each; %.2f messages a frame",
			per(m.Sent, operations), per(m.Received, operations), per(m.BytesSent, m.Sent), per(m.BytesReceived, m.Received), per(m.Sent, m.Frames))}
	}
	return nil
}

func per(n, of uint64) float64 { return float64(n) / float64(max(of, 1)) }

var errSession = errors.New("the session between the nodes has ended")

// awaited returns what comes by c from the other node.
func awaited[T any](l *line, c <-chan T) (v T, err error) {
	select {
	case v = <-c:
	case <-l.down:
		err = errSession
	}
	return v, err
}

func (l *line) close() error {
	err := errors.Join(l.Transport.Close(), l.port.Close())
	if l.late != nil {
		close(l.late)
		l.delays.Wait()
	}
	return err
}
