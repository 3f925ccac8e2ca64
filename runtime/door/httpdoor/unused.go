package httpdoor

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Unused knows the connections of a server on which no request has come: browsers, and Go's own client, open some in advance. A server that is shut
// down waits five seconds for a first request on each. The zero value is ready; Note is to be the server's ConnState.
type Unused struct {
	count atomic.Int64 // of conns: most requests come when it is 0, and need no mutex
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Note implements http.Server.ConnState.
func (u *Unused) Note(c net.Conn, is http.ConnState) {
	if is != http.StateNew && u.count.Load() == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if is == http.StateNew {
		if u.conns == nil {
			u.conns = make(map[net.Conn]bool)
		}
		u.conns[c] = true
	} else {
		delete(u.conns, c)
	}
	u.count.Store(int64(len(u.conns)))
}

// unusedMax is how long a connection may go without its first request while the server is shut down. One that was opened to send a request has
// sent it by then.
const unusedMax = 200 * time.Millisecond

// Shutdown shuts the server down. It waits for the requests under way until ctx ends, and for no others. Then it closes all connections; the
// error is that of ctx.
func (u *Unused) Shutdown(ctx context.Context, s *http.Server) error {
	defer time.AfterFunc(unusedMax, u.close).Stop()
	err := s.Shutdown(ctx)
	if err != nil {
		_ = s.Close() // the error that counts is the first
	}
	return err
}

func (u *Unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		_ = c.Close() // Note is called by another goroutine
	}
}
