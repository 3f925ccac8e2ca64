package grpcdoor

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// The names of metadata.
const (
	parentKey        = "traceparent"
	stateKey         = "tracestate"
	authorizationKey = "authorization"
	onceKey          = "idempotency-key"
	positionKey      = "aeon-position" // up to which position of the journal the event has seen the store
)

// request returns what is known of a call before it is read: of which caller it is.
func (s *Server) request(ctx context.Context) (*gate.Request, error) {
	keys := metadata.ValueFromIncomingContext(ctx, onceKey)
	q := &gate.Request{Once: strings.Join(keys, ","), Keyed: len(keys) > 0}
	path, _ := grpc.Method(ctx)
	q.Class, q.Method, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if from, ok := peer.FromContext(ctx); ok {
		q.Remote = from.Addr.String()
	}
	return q, s.gate.Know(q, metadata.ValueFromIncomingContext(ctx, authorizationKey))
}
