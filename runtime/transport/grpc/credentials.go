package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/aeon-lang/aeon/runtime/event"
)

// identity passes on what connections know of the nodes at their other ends. They are encrypted below.
type identity struct {
	self   event.NodeID
	expect event.NodeID // 0: any other node
}

const authType = "aeon"

// known is the node at the other end of a connection.
type known struct {
	credentials.CommonAuthInfo
	node event.NodeID
	conn net.Conn
}

// AuthType implements credentials.AuthInfo.
func (known) AuthType() string { return authType }

func (i identity) check(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	with, ok := c.(Conn)
	if !ok {
		return nil, nil, errors.New("the connection does not know its peer")
	}
	switch n := with.Peer(); {
	case n == 0:
		return nil, nil, errors.New("the other end was not authenticated")
	case n == i.self:
		return nil, nil, errors.New("the other end is this node")
	case i.expect != 0 && n != i.expect:
		return nil, nil, fmt.Errorf("the other end is node %d instead of %d", n, i.expect)
	default:
		level := credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}
		return c, known{level, n, c}, nil
	}
}

// ClientHandshake implements credentials.TransportCredentials.
func (i identity) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return i.check(c)
}

// ServerHandshake implements credentials.TransportCredentials.
func (i identity) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return i.check(c)
}

// Info implements credentials.TransportCredentials.
func (identity) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: authType}
}

// Clone implements credentials.TransportCredentials.
func (i identity) Clone() credentials.TransportCredentials { return i }

// OverrideServerName implements credentials.TransportCredentials.
func (identity) OverrideServerName(string) error { return nil }

// knownOf returns the node that has begun what has a context.
func knownOf(ctx context.Context) (known, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if k, ok := p.AuthInfo.(known); ok {
			return k, nil
		}
	}
	return known{}, errors.New("the connection does not know its peer")
}
