package port

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within is how long a test waits for what should come at once.
const within = 10 * time.Second

func formed(t *testing.T) *identity.Identity {
	t.Helper()
	i, err := identity.Form(filepath.Join(t.TempDir(), "data"), "n1")
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func admitted(t *testing.T, by *identity.Identity, node event.NodeID) *identity.Identity {
	t.Helper()
	c, err := identity.Prepare(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := by.Admit(node, fmt.Sprintf("n%d", node), c.Public())
	if err != nil {
		t.Fatal(err)
	}
	i, err := c.Complete(a)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// roll is who has a part in a cluster.
type roll struct {
	mu      sync.Mutex
	removed map[event.NodeID]bool
	keys    map[event.NodeID]placement.Fingerprint
}

func (r *roll) verify(n event.NodeID, key placement.Fingerprint) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.removed[n]:
		return fmt.Errorf("node %d was removed", n)
	case r.keys[n] != (placement.Fingerprint{}) && r.keys[n] != key:
		return fmt.Errorf("node %d has another key", n)
	}
	return nil
}

func (r *roll) remove(n event.NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed[n] = true
}

func newRoll(of ...*identity.Identity) *roll {
	r := &roll{removed: make(map[event.NodeID]bool), keys: make(map[event.NodeID]placement.Fingerprint)}
	for _, i := range of {
		r.keys[i.Node] = i.Key()
	}
	return r
}

func listen(t *testing.T, i *identity.Identity, r *roll, change ...func(*Config)) *Port {
	t.Helper()
	cfg := Config{Address: "127.0.0.1:0", Identity: i, Verify: r.verify}
	for _, f := range change {
		f(&cfg)
	}
	p, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// echo answers each connection with the node that it is of and what comes, until the listener is closed.
func echo(t *testing.T, p *Port, protos ...Protocol) {
	t.Helper()
	var wg sync.WaitGroup
	for _, proto := range protos {
		l := p.Listener(proto)
		wg.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				wg.Go(func() {
					defer func() { _ = c.Close() }()
					_, _ = fmt.Fprintf(c, "%s %d\n", proto, c.(interface{ Peer() event.NodeID }).Peer())
					_, _ = io.Copy(c, c)
				})
			}
		})
		t.Cleanup(func() { _ = l.Close() })
	}
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { _ = p.Close() })
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

func says(t *testing.T, c net.Conn, want string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(within))
	b := make([]byte, len(want))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Errorf("it says %q, and not %q, error %v", b, want, err)
	}
}

func ends(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(within))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Error("the connection is not closed")
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func refused(t *testing.T, what string, c net.Conn, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: is connected", what)
		_ = c.Close()
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: the error %q has no %q", what, err, p)
		}
	}
}

// Each protocol has its listener, and both sides know which node the other one is.
func TestProtocols(t *testing.T) {
	first := formed(t)
	second := admitted(t, first, 2)
	r := newRoll(first, second)
	a, b := listen(t, first, r), listen(t, second, r)
	echo(t, a, Transport, Placement, Gossip)
	for _, proto := range []Protocol{Transport, Placement, Gossip} {
		c, err := b.Dial(deadline(t), a.Addr().String(), proto, 1)
		if err != nil {
			t.Fatal(err)
		}
		if c.Peer() != 1 {
			t.Error("the other side is node", c.Peer())
		}
		says(t, c, string(proto)+" 2\n")
		big := bytes.Repeat([]byte("x"), 100_000)
		go func() { _, _ = c.Write(big) }()
		says(t, c, string(big))
		_ = c.Close()
	}
	c, err := a.Dial(deadline(t), a.Addr().String(), Gossip, 1) // a node may ask itself
	if err != nil {
		t.Fatal(err)
	}
	says(t, c, "aeon-gossip 1\n")
	_ = c.Close()
	none, err := b.Dial(deadline(t), a.Addr().String(), Proposals, 1)
	refused(t, "a protocol without a listener", none, err, "node 1 does not take aeon-proposals now")
	none, err = b.Dial(deadline(t), a.Addr().String(), Transport, 3)
	refused(t, "another node than expected", none, err, "is node 1, and not node 3")
	again := a.Listener(Proposals)
	_ = again.Close()
	none, err = b.Dial(deadline(t), a.Addr().String(), Proposals, 1)
	refused(t, "a listener that was closed", none, err, "does not take")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	none, err = b.Dial(ended, a.Addr().String(), Transport, 1)
	refused(t, "a context that has ended", none, err, "canceled")
}

// Certificates that prove nothing here are refused at both sides, with the reason.
func TestStrangersAreRefused(t *testing.T) {
	first := formed(t)
	second, twin := admitted(t, first, 2), admitted(t, first, 2)
	other := formed(t)
	r := newRoll(first, second)
	a := listen(t, first, r)
	echo(t, a, Transport)
	strange := listen(t, other, newRoll())
	echo(t, strange, Transport)
	to := a.Addr().String()

	c, err := strange.Dial(deadline(t), to, Transport, 1)
	refused(t, "dialling another cluster", c, err, "this is cluster "+other.Cluster)
	c, err = a.Dial(deadline(t), strange.Addr().String(), Transport, 1)
	refused(t, "a stranger at the address of a node", c, err, "this is cluster "+first.Cluster)

	double := listen(t, twin, newRoll())
	echo(t, double, Transport)
	c, err = double.Dial(deadline(t), to, Transport, 1)
	refused(t, "a valid certificate with another key", c, err, "refuses the connection", "node 2 has another key")
	if told := (*RefusedError)(nil); !errors.As(err, &told) {
		t.Errorf("%T", err)
	}
	c, err = a.Dial(deadline(t), double.Addr().String(), Transport, 2)
	refused(t, "a node with another key", c, err, "node 2 has another key")

	// Without looking at the other side: what the accepting side does.
	for what, cert := range map[string][]tls.Certificate{"no certificate": nil, "a stranger's certificate": {other.Certificate()}} {
		t.Run(what, func(t *testing.T) {
			c, err := tls.Dial("tcp", to, &tls.Config{Certificates: cert, InsecureSkipVerify: true, NextProtos: []string{string(Transport)}})
			if err == nil {
				defer func() { _ = c.Close() }()
				_ = c.SetReadDeadline(time.Now().Add(within))
				_, err = c.Read(make([]byte, 1))
			}
			if err == nil || isTimeout(err) {
				t.Error("it is not refused:", err)
			}
		})
	}
	for what, cfg := range map[string]*tls.Config{
		"TLS 1.2":       {MaxVersion: tls.VersionTLS12, NextProtos: []string{string(Transport)}},
		"no protocol":   {},
		"two protocols": {NextProtos: []string{string(Join), string(Transport)}},
		"h2":            {NextProtos: []string{"h2"}},
	} {
		cfg.InsecureSkipVerify, cfg.Certificates = true, []tls.Certificate{second.Certificate()}
		if c, err := tls.Dial("tcp", to, cfg); err == nil {
			t.Errorf("%s is accepted", what)
			_ = c.Close()
		}
	}
}

// A node that is removed is cut off at once, and does not come back.
func TestRemovedNodes(t *testing.T) {
	first := formed(t)
	second, third := admitted(t, first, 2), admitted(t, first, 3)
	r := newRoll(first, second, third)
	a, b, c := listen(t, first, r), listen(t, second, r), listen(t, third, newRoll())
	echo(t, a, Transport)
	to := a.Addr().String()
	stays, err := b.Dial(deadline(t), to, Transport, 1)
	if err != nil {
		t.Fatal(err)
	}
	goes, err := c.Dial(deadline(t), to, Transport, 1)
	if err != nil {
		t.Fatal(err)
	}
	says(t, stays, "aeon-transport 2\n")
	says(t, goes, "aeon-transport 3\n")
	r.remove(3)
	a.Recheck()
	ends(t, goes)
	if _, err := stays.Write([]byte("still")); err != nil {
		t.Error(err)
	}
	says(t, stays, "still")
	back, err := c.Dial(deadline(t), to, Transport, 1)
	refused(t, "a removed node", back, err, "refuses the connection: node 3 was removed")
}

// A node without a certificate reaches Join alone, if it knows the key of the authority.
func TestJoining(t *testing.T) {
	first, other := formed(t), formed(t)
	a := listen(t, first, newRoll(first))
	echo(t, a, Join, Transport)
	to, token := a.Addr().String(), first.NewToken(time.Now().Add(time.Hour))
	c, err := DialJoin(deadline(t), to, token)
	if err != nil {
		t.Fatal(err)
	}
	says(t, c, "aeon-join 0\n")
	_ = c.Close()
	wrong := other.NewToken(token.Expires)
	wrong.Cluster = first.Cluster
	d, err := DialJoin(deadline(t), to, wrong)
	refused(t, "another authority", d, err, "the authority is another one")
	wrong = token
	wrong.Cluster = other.Cluster
	d, err = DialJoin(deadline(t), to, wrong)
	refused(t, "another cluster", d, err, "of cluster "+first.Cluster)

	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	d, err = DialJoin(short, plain.Addr().String(), token)
	refused(t, "a member that is silent", d, err, "deadline exceeded")
}

// Clients that say nothing, half of a handshake or garbage hold up no member, and are closed.
func TestSilentClients(t *testing.T) {
	first := formed(t)
	second := admitted(t, first, 2)
	r := newRoll(first, second)
	a := listen(t, first, r, func(c *Config) { c.HandshakesMax, c.HandshakeMax = 4, time.Minute })
	b := listen(t, second, r)
	echo(t, a, Transport)
	to := a.Addr().String()
	var silent []net.Conn
	for i := range 12 {
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, c)
		if i%2 == 1 { // the head of a record with a hello, of which the rest never comes
			if _, err := c.Write([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 10 {
		c, err := b.Dial(deadline(t), to, Transport, 1)
		if err != nil {
			t.Fatal(err)
		}
		says(t, c, "aeon-transport 2\n")
		_ = c.Close()
	}
	for _, c := range silent[:8] { // at most four are there
		ends(t, c)
		_ = c.Close()
	}
	garbage, err := net.Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := garbage.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	ends(t, garbage)
	_ = garbage.Close()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range silent[8:] {
		ends(t, c)
		_ = c.Close()
	}
}

// A handshake that does not end is ended after its time.
func TestHandshakesEnd(t *testing.T) {
	first := formed(t)
	a := listen(t, first, newRoll(first), func(c *Config) { c.HandshakeMax = 50 * time.Millisecond })
	echo(t, a, Transport)
	c, err := net.Dial("tcp", a.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ends(t, c)
	_ = c.Close()

	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()
	d, err := a.Dial(deadline(t), mute.Addr().String(), Transport, 2)
	refused(t, "a node that is silent", d, err, mute.Addr().String(), "deadline exceeded")
}

// A listener that accepts nothing fills up, and leaves the others alone.
func TestFullListeners(t *testing.T) {
	first := formed(t)
	a := listen(t, first, newRoll(first))
	full := a.Listener(Placement)
	echo(t, a, Transport)
	var conns []net.Conn
	for range backlog + 1 {
		c, err := a.Dial(deadline(t), a.Addr().String(), Placement, 1)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	ended := make(chan struct{}, len(conns))
	for _, c := range conns {
		go func() {
			_, _ = c.Read(make([]byte, 1))
			ended <- struct{}{}
		}()
	}
	<-ended // the one too many
	c, err := a.Dial(deadline(t), a.Addr().String(), Transport, 1)
	if err != nil {
		t.Fatal(err)
	}
	says(t, c, "aeon-transport 1\n")
	_ = c.Close()
	_ = full.Close()
	for range backlog {
		<-ended
	}
	for _, c := range conns {
		_ = c.Close()
	}
}
