package join

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// format is that of the messages.
const format = 1

// request is what a node sends that wants to join, as a line of JSON. So is the reply.
type request struct {
	Format  int       `json:"format"`
	Token   string    `json:"token"`
	Program string    `json:"program"`
	Name    string    `json:"name"`
	Address string    `json:"address"`
	Key     []byte    `json:"key"`   // Ed25519
	Proof   []byte    `json:"proof"` // signature of a value that only the two sides of this connection know
	Time    time.Time `json:"time"`
}

// reply is the answer of a member.
type reply struct {
	Refusal   string                            `json:"refusal,omitempty"` // and asking again does not help
	Retry     string                            `json:"retry,omitempty"`   // another member, or this one later, may answer otherwise
	Admission *identity.Admission               `json:"admission,omitempty"`
	Members   map[event.NodeID]placement.Member `json:"members,omitempty"`
}

const (
	requestMax = 64 << 10 // bytes
	replyMax   = 16 << 20
)

// proofLabel keeps the value that is signed apart from all others of the connection (RFC 9266 does so, too).
const proofLabel = "EXPORTER-aeon-join"

func challenge(c *tls.Conn) ([]byte, error) {
	s := c.ConnectionState()
	b, err := s.ExportKeyingMaterial(proofLabel, nil, 32)
	return append([]byte("aeon join "), b...), err
}

func proves(c *tls.Conn, key, proof []byte) bool {
	b, err := challenge(c)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, b, proof)
}

// during closes a connection when a context ends, or the function is called that it returns.
func during(ctx context.Context, c net.Conn) func() {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	return func() {
		if stop() {
			_ = c.Close()
		}
	}
}

func receive(r io.Reader, max int64, to any) error {
	return json.NewDecoder(io.LimitReader(r, max)).Decode(to)
}

func send(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
