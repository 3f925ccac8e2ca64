package grpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// known is a connection whose first bytes have told which node is at the other end.
type known struct {
	net.Conn
	peer event.NodeID
}

func (k known) Peer() event.NodeID { return k.peer }

// telling is a listener whose clients tell which node they are.
type telling struct{ net.Listener }

func (l telling) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	var id [8]byte
	if _, err := io.ReadFull(c, id[:]); err != nil {
		return nil, err
	}
	return known{c, event.NodeID(binary.BigEndian.Uint64(id[:]))}, nil
}

// world is the addresses of nodes.
type world struct {
	mu    sync.Mutex
	where map[event.NodeID]string
}

type node struct {
	t        *Transport
	messages chan string
	downs    chan event.NodeID
	hold     chan struct{} // what takes the message stop waits for it
	bulk     func(header []byte, r io.Reader) error
}

func (n *node) Message(from event.NodeID, m []byte) {
	if string(m) == "stop" {
		<-n.hold
	}
	if len(m) < 1000 {
		n.messages <- fmt.Sprintf("%d:%s", from, m)
	}
}

func (n *node) Call(ctx context.Context, from event.NodeID, request []byte) ([]byte, error) {
	switch string(request) {
	case "refuse":
		return nil, errors.New("no")
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return append([]byte("re:"), request...), nil
}

func (n *node) Bulk(_ event.NodeID, header []byte, r io.Reader) error { return n.bulk(header, r) }

func (n *node) Down(id event.NodeID) { n.downs <- id }

func (w *world) start(t *testing.T, id event.NodeID) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.where[id] = l.Addr().String()
	w.mu.Unlock()
	n := &node{messages: make(chan string, 1000), downs: make(chan event.NodeID, 100), hold: make(chan struct{})}
	n.t = New(Config{Node: id, Listener: telling{l}, Handler: n, Progress: func() bool { return id != 2 }, Log: slog.New(slog.DiscardHandler), Heartbeat: 10 * time.Millisecond, Silence: 300 * time.Millisecond,
		Dial: func(ctx context.Context, to event.NodeID) (net.Conn, error) {
			w.mu.Lock()
			where := w.where[to]
			w.mu.Unlock()
			var d net.Dialer
			c, err := d.DialContext(ctx, "tcp", where)
			if err != nil {
				return nil, err
			}
			_, err = c.Write(binary.BigEndian.AppendUint64(nil, uint64(id)))
			return known{c, to}, err
		}})
	t.Cleanup(func() {
		if err := n.t.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// reach sends until a message arrives.
func reach(t *testing.T, from *node, to event.NodeID, at *node, text string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		from.t.Send(to, []byte(text))
		select {
		case <-at.messages:
			return
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatal("no message has arrived")
		}
	}
}

func TestMessagesArriveInOrderAndOnce(t *testing.T) {
	w := &world{where: make(map[event.NodeID]string)}
	a, b := w.start(t, 1), w.start(t, 2)
	reach(t, a, 2, b, "hello")
	const messages = 20000
	go func() {
		for i := range messages {
			a.t.Send(2, fmt.Appendf(nil, "m%d", i))
		}
	}()
	next := 0
	for next < messages {
		m := <-b.messages
		if m == "1:hello" {
			continue
		}
		if m != fmt.Sprintf("1:m%d", next) {
			t.Fatalf("%q arrives, and m%d is next", m, next)
		}
		next++
	}
	b.t.Connect(1)
	deadline := time.After(10 * time.Second)
	for a.t.Heard(2).Last.IsZero() {
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatal("a node that is connected is not heard")
		}
	}
	if a.t.Heard(2).Progress || !b.t.Heard(1).Progress {
		t.Error("a disk that makes no progress is not told from one that does")
	}
}

// After a restart of the other node messages arrive again; the end of the session was told.
func TestSessionsEnd(t *testing.T) {
	w := &world{where: make(map[event.NodeID]string)}
	a, b := w.start(t, 1), w.start(t, 2)
	reach(t, a, 2, b, "hello")
	if err := b.t.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-a.downs; n != 2 {
		t.Errorf("node %d is down", n)
	}
	b = w.start(t, 2)
	reach(t, a, 2, b, "again")
	a.t.Disconnect(2)
	if n := <-a.downs; n != 2 {
		t.Errorf("node %d is down", n)
	}
}

// A node that accepts connections and does not answer is found, and holds nothing up.
func TestASilentNode(t *testing.T) {
	w := &world{where: make(map[event.NodeID]string)}
	a, b := w.start(t, 1), w.start(t, 3)
	reach(t, a, 3, b, "hello")
	reach(t, b, 1, a, "hello")
	a.t.Send(3, []byte("stop"))
	free := make(chan struct{})
	go func() { // as it is not read, the queue fills and the window closes
		for range 200 {
			a.t.Send(3, make([]byte, 1<<20))
		}
		close(free)
	}()
	select {
	case <-free:
	case <-time.After(5 * time.Second):
		t.Fatal("Send waits for a node that does not read")
	}
	b.t.Disconnect(1) // and it says nothing more
	if n := <-a.downs; n != 3 {
		t.Errorf("node %d is down", n)
	}
	close(b.hold)
}

func TestCalls(t *testing.T) {
	w := &world{where: make(map[event.NodeID]string)}
	a := w.start(t, 1)
	w.start(t, 2)
	if reply, err := a.t.Call(t.Context(), 2, []byte("x")); string(reply) != "re:x" || err != nil {
		t.Errorf("%q, %v", reply, err)
	}
	var refusal *transport.Refusal
	if _, err := a.t.Call(t.Context(), 2, []byte("refuse")); !errors.As(err, &refusal) || refusal.Reason != "no" {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.t.Call(ctx, 2, []byte("hang")); err == nil || errors.As(err, &refusal) {
		t.Error(err)
	}
	if _, err := a.t.Call(t.Context(), 7, nil); err == nil {
		t.Error("a node that is nowhere has answered")
	}
}

func TestBulk(t *testing.T) {
	w := &world{where: make(map[event.NodeID]string)}
	a, b := w.start(t, 1), w.start(t, 2)
	const size = 100 << 20
	block := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	send := func(w io.Writer) error {
		for range size / len(block) {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
		return nil
	}
	b.bulk = func(header []byte, r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		if err == nil && (n != size || string(header) != "head") {
			err = fmt.Errorf("%d bytes with %q", n, header)
		}
		return err
	}
	if err := a.t.Bulk(t.Context(), 2, []byte("head"), send); err != nil {
		t.Fatal(err)
	}
	b.bulk = func([]byte, io.Reader) error { return errors.New("full") }
	if err := a.t.Bulk(t.Context(), 2, nil, send); err == nil || err.Error() != "full" {
		t.Error(err)
	}
	b.bulk = func(_ []byte, r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }
	cause := errors.New("torn")
	if err := a.t.Bulk(t.Context(), 2, nil, func(io.Writer) error { return cause }); err != cause {
		t.Error(err)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(appendMessage(appendMessage([]byte{1}, []byte("a")), nil))
	f.Add([]byte{0, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		again := []byte{0}
		flags, err := messagesOf(b, func(m []byte) { again = appendMessage(again, m) })
		if err == nil {
			again[0] = flags
			other := []byte{flags}
			if _, err := messagesOf(again, func(m []byte) { other = appendMessage(other, m) }); err != nil || !bytes.Equal(again, other) {
				t.Errorf("%q is read as %q and %q (%v)", b, again, other, err)
			}
		}
	})
}
