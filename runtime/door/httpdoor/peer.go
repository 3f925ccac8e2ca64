package httpdoor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Peer serves gRPC at the address of a Server. With TLS it gets requests, as an HTTP/2 connection may carry those of both.
// Without TLS it gets connections: there only clients of gRPC speak HTTP/2, and a server of its own is twice as fast as
// net/http, which hands over each frame of an answer from one goroutine to another.
type Peer interface {
	http.Handler
	// Serve serves connections until Close, or an error of the listener. It closes the listener.
	Serve(net.Listener) error
	// Close ends serving. It waits for calls under way until ctx ends.
	Close(ctx context.Context)
}

// beside hands requests of gRPC to a peer, and others to next.
func beside(peer Peer, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			peer.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serveBoth serves what a listener without TLS accepts, until both servers have ended or the listener has. A client has until
// the time of the headers to begin.
func serveBoth(l net.Listener, peer Peer, others *http.Server) error {
	open, end := context.WithCancel(context.Background())
	split := splitter{from: l, patience: others.ReadHeaderTimeout, open: open, close: func() {
		end()
		_ = l.Close() // it may be closed already
	}}
	defer split.close()
	split.other, split.http2 = part{&split, make(chan net.Conn)}, part{&split, make(chan net.Conn)}
	var accepting, ofPeer, ofHTTP error
	var group sync.WaitGroup
	group.Go(func() { accepting = split.run() })
	group.Go(func() { ofPeer = peer.Serve(&split.http2) })
	group.Go(func() { ofHTTP = others.Serve(&split.other) })
	group.Wait() // as each of them closes the listener when it ends
	for _, err := range []error{accepting, ofPeer, ofHTTP} {
		if !errors.Is(err, net.ErrClosed) { // the others have noticed that it is closed
			return err
		}
	}
	return accepting
}
