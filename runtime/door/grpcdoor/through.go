package grpcdoor

import (
	"context"
	"sync"
)

// through counts the calls under way that have come through net/http. grpc-go cuts them off when it stops, also when it does so gracefully: it waits for
// those of its own connections alone. The zero value has none.
type through struct {
	mu      sync.Mutex
	calls   int
	closing chan struct{} // closed when no calls are left; nil: further ones are taken
}

// begin begins a request, which is counted if it is a call. It reports false if none is taken any more. Caller calls end for a call.
func (c *through) begin(call bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing != nil {
		return false
	}
	if call {
		c.calls++
	}
	return true
}

func (c *through) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls--; c.calls == 0 && c.closing != nil {
		close(c.closing)
	}
}

// close has no further requests taken, and waits until the calls under way have ended, or ctx ends.
func (c *through) close(ctx context.Context) {
	c.mu.Lock()
	if c.closing == nil {
		if c.closing = make(chan struct{}); c.calls == 0 {
			close(c.closing)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.closing:
	case <-ctx.Done():
	}
}
