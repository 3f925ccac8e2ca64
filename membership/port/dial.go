package port

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/runtime/event"
)

// RefusedError is a reason for which the other side does not take a connection.
type RefusedError struct{ Address, Reason string }

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the node at %s refuses the connection: %s", e.Address, e.Reason)
}

// Dial connects to a member for a protocol. expect is which one is to be there, 0 is any. The error is a *RefusedError if the other side has
// given a reason. Any goroutine may call it.
func (p *Port) Dial(ctx context.Context, address string, proto Protocol, expect event.NodeID) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.HandshakeMax)
	defer cancel()
	t, err := dial(ctx, address, p.dialling(proto))
	if err != nil {
		if refused := (*RefusedError)(nil); errors.As(err, &refused) && p.cfg.Refused != nil {
			p.cfg.Refused(refused.Address, refused.Reason)
		}
		return nil, err
	}
	c := &Conn{Conn: t, proto: proto, port: p}
	c.peer, c.key, _ = p.cfg.Identity.Check(t.ConnectionState().PeerCertificates[0]) // ofCluster has looked at the error
	if err = p.add(c); err == nil {
		switch {
		case expect != 0 && c.peer != expect:
			err = fmt.Errorf("at %s is node %d, and not node %d", address, c.peer, expect)
		default:
			if err = p.cfg.Verify(c.peer, c.key); err != nil {
				err = fmt.Errorf("at %s: %w", address, err)
			}
		}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// DialJoin connects to a member for a node that has a token and nothing else. The error wraps a *StrangerError if another cluster answers. Any goroutine
// may call it.
func DialJoin(ctx context.Context, address string, t identity.Token) (*tls.Conn, error) {
	c, err := dial(ctx, address, joining(t.Cluster, t.Authority))
	if plain := (tls.RecordHeaderError{}); errors.As(err, &plain) {
		err = fmt.Errorf("connecting to %s: %w", address, &StrangerError{errors.New("it does not speak TLS; is the address the one for clients? A node has another one for nodes (--cluster-listen)")})
	}
	return c, err
}

// dial connects, and waits for the answer of the other side.
func dial(ctx context.Context, address string, cfg *tls.Config) (*tls.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := tls.Client(raw, cfg)
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	reason, err := "", c.HandshakeContext(ctx)
	if err == nil {
		reason, err = awaitAnswer(c)
	}
	stopped := stop()
	switch {
	case err != nil:
		err = fmt.Errorf("connecting to %s: %w", address, errors.Join(err, ctx.Err()))
	case reason != "":
		err = &RefusedError{address, reason}
	case !stopped: // the deadline is set, or will be
		err = fmt.Errorf("connecting to %s: %w", address, context.Cause(ctx))
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return c, nil
}
