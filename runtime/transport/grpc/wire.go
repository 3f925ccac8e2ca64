package grpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// A frame is what goes over a stream of messages at a time: a byte of flags, and messages, each with its length in front, as a uvarint.

const (
	flagProgress = 1 << 0 // the disk of the sender makes progress

	frameMax   = 1 << 20  // bytes of a frame; a message that is longer has one of its own
	messageMax = 32 << 20 // bytes of a message
)

func appendMessage(frame, m []byte) []byte {
	assert.That(len(m) <= messageMax, "transport: a message has %d bytes", len(m))
	return append(binary.AppendUvarint(frame, uint64(len(m))), m...)
}

// messagesOf calls f for each message in a frame. Messages are parts of the frame.
func messagesOf(frame []byte, f func(m []byte)) (flags byte, err error) {
	if len(frame) == 0 {
		return 0, errors.New("a frame is empty")
	}
	flags, frame = frame[0], frame[1:]
	for len(frame) > 0 {
		n, size := binary.Uvarint(frame)
		if size <= 0 || n > uint64(len(frame)-size) {
			return flags, errors.New("a frame ends early")
		}
		frame = frame[size:]
		f(frame[:n:n])
		frame = frame[n:]
	}
	return flags, nil
}

// codec passes bytes on as they are: it implements encoding.Codec.
type codec struct{}

// Marshal implements encoding.Codec.
func (codec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

// Unmarshal implements encoding.Codec.
func (codec) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), b...) // the buffer is used again
	return nil
}

// Name implements encoding.Codec.
func (codec) Name() string { return "aeon" }

// Conn is a connection whose other end is known: mutual TLS below has proved it.
type Conn interface {
	net.Conn
	Peer() event.NodeID
}

// trusting implements credentials.TransportCredentials for connections that are authenticated already.
type trusting struct{}

// peerInfo tells which node is at the other end.
type peerInfo struct {
	credentials.CommonAuthInfo
	node event.NodeID
}

// AuthType implements credentials.AuthInfo.
func (peerInfo) AuthType() string { return "aeon" }

func handshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	known, ok := c.(Conn)
	if !ok {
		return nil, nil, fmt.Errorf("a connection of the type %T is not authenticated", c)
	}
	return c, peerInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, known.Peer()}, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (trusting) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return handshake(c)
}

// ServerHandshake implements credentials.TransportCredentials.
func (trusting) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return handshake(c)
}

// Info implements credentials.TransportCredentials.
func (trusting) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "aeon"}
}

// Clone implements credentials.TransportCredentials.
func (trusting) Clone() credentials.TransportCredentials { return trusting{} }

// OverrideServerName implements credentials.TransportCredentials.
func (trusting) OverrideServerName(string) error { return nil }
