package front

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

type addresseeKey struct{}

// addressee is where a request is forwarded to.
type addressee struct {
	node  event.NodeID
	store event.StoreID
}

func addresseeOf(ctx context.Context) addressee {
	to, _ := ctx.Value(addresseeKey{}).(addressee)
	return to
}

// transports carry requests to the fronts of other nodes: those by gRPC over HTTP/2, and others over HTTP/1.1, which has them cost less.
type transports struct{ http, grpc *http.Transport }

// All calls by gRPC to a node share a connection. One that has lost packets, as while the network was cut, is silent for minutes after that, as TCP sends them
// again ever more rarely: each call would wait behind them. So a connection that is silent is asked whether it is there, and another one is made. A node that
// does not answer so long is silent to its sessions, too.
const (
	pingAfter = time.Second
	pingMax   = 2 * time.Second
)

// newTransports returns transports that connect by dial.
func newTransports(dial func(context.Context, event.NodeID) (net.Conn, error)) *transports {
	of := func() *http.Transport {
		return &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dial(ctx, addresseeOf(ctx).node)
			},
			MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
		}
	}
	t := &transports{of(), of()}
	t.grpc.Protocols = new(http.Protocols)
	t.grpc.Protocols.SetUnencryptedHTTP2(true) // the connections of the port are encrypted
	t.grpc.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingMax}
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *transports) RoundTrip(r *http.Request) (*http.Response, error) {
	if isGRPC(r) {
		return t.grpc.RoundTrip(r)
	}
	return t.http.RoundTrip(r)
}

func (t *transports) close() {
	t.http.CloseIdleConnections()
	t.grpc.CloseIdleConnections()
}

func hostOf(n event.NodeID) string { return "node" + strconv.FormatUint(uint64(n), 10) }
