package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Tries makes tries of calls that leave the system after a commit. A try is no event, and may take long, so it has a goroutine that is
// not one of the workers.
type Tries[C comparable] struct {
	cfg     TriesConfig[C]
	workers sync.WaitGroup // the goroutines

	begun, failed atomic.Uint64 // tries
	resting       atomic.Int64  // calls that wait for the time of their next try

	mu struct {
		sync.Mutex
		queue   []C
		running map[C]context.CancelFunc
		workers int
		closed  bool // no try begins any more
	}
}

// TriesConfig configures Tries. Its functions take calls of which the try is due, each at most once.
type TriesConfig[C comparable] struct {
	Max      int           // tries under way at a time
	TimeMax  time.Duration // after which the context of a try ends
	CloseMax time.Duration // how long Close waits for tries; half of it before their contexts end

	Try   func(context.Context, C) error // makes a try
	Ended func(C, error)                 // takes a call whose try has ended
	Later func(C) bool                   // whether a call waits until the store is opened again
	Leave func(C)                        // takes a call that is not tried, or whose try has not ended, as the system is closing
}

// Open is called once, before the others.
func (t *Tries[C]) Open(cfg TriesConfig[C]) {
	t.cfg, t.mu.running = cfg, make(map[C]context.CancelFunc)
}

// Add has a call tried as soon as may be.
func (t *Tries[C]) Add(c C) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.closed {
		t.cfg.Leave(c)
		return
	}
	if t.mu.workers < t.cfg.Max {
		t.mu.workers++
		t.workers.Go(t.work)
	}
	t.mu.queue = append(t.mu.queue, c)
}

// Rest says that a call waits for the time of its next try, or, with false, that the time has come.
func (t *Tries[C]) Rest(rests bool) {
	if rests {
		t.resting.Add(1)
	} else {
		t.resting.Add(-1)
	}
}

// WriteMetrics writes what is counted. Any goroutine.
func (t *Tries[C]) WriteMetrics(w *metrics.Writer) {
	t.mu.Lock()
	due, running := len(t.mu.queue), len(t.mu.running)
	t.mu.Unlock()
	w.Counter("aeon_go_tries_total", "Tries of Go functions by `event go`.", t.begun.Load())
	w.Counter("aeon_go_tries_failed_total", "Tries of Go functions by `event go` that have failed.", t.failed.Load())
	w.Gauge("aeon_go_tries_running", "Tries of Go functions by `event go` that are under way.", int64(running))
	w.Gauge("aeon_go_calls_due", "Calls by `event go` that wait until fewer tries are under way.", int64(due))
	w.Gauge("aeon_go_calls_resting", "Calls by `event go` that have failed, and wait for the time of their next try.", t.resting.Load())
}

// work makes tries that are due until there is none left.
func (t *Tries[C]) work() {
	for {
		c, ctx, ok := t.next()
		if !ok {
			return
		}
		t.begun.Add(1)
		err := t.cfg.Try(ctx, c)
		if err != nil {
			t.failed.Add(1)
		}
		t.mu.Lock()
		cancel, mine := t.mu.running[c]
		delete(t.mu.running, c)
		t.mu.Unlock()
		if mine { // else Close has given it up
			cancel()
			t.cfg.Ended(c, err)
		}
	}
}

// next takes the call that is tried next, and makes the context of its try.
func (t *Tries[C]) next() (c C, ctx context.Context, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.mu.queue) > 0 {
		var none C // the queue keeps nothing of what was taken
		c, t.mu.queue[0] = t.mu.queue[0], none
		if t.mu.queue = t.mu.queue[1:]; len(t.mu.queue) == 0 {
			t.mu.queue = nil
		}
		if t.cfg.Later(c) {
			t.cfg.Leave(c)
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), t.cfg.TimeMax)
		t.mu.running[c] = cancel
		return c, ctx, true
	}
	t.mu.workers--
	// Invariant: the goroutines are counted, and no more than so many.
	assert.That(t.mu.workers >= 0 && t.mu.workers < t.cfg.Max, "outbox: %d goroutines make tries", t.mu.workers)
	return c, nil, false
}

// Close lets no goroutine of a closing system wait for a try for ever: the contexts of tries end after a while, and what has not
// ended then is left. stop is called when the system has settled.
func (t *Tries[C]) Close() (stop func()) {
	warn := time.AfterFunc(t.cfg.CloseMax/2, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, cancel := range t.mu.running {
			cancel()
		}
	})
	end := time.AfterFunc(t.cfg.CloseMax, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.mu.closed = true
		for c, cancel := range t.mu.running {
			cancel()
			t.cfg.Leave(c)
		}
		clear(t.mu.running)
		for _, c := range t.mu.queue {
			t.cfg.Leave(c)
		}
		t.mu.queue = nil
	})
	return func() {
		warn.Stop()
		if end.Stop() {
			t.workers.Wait()
		}
	}
}

// Guard calls a function of that name in a goroutine of its own, which a runtime.Goexit of the function ends, and returns its
// error. A panic is one, too.
func Guard(name string, call func() error) error {
	ended := make(chan error, 1)
	go func() {
		err := errors.New("runtime.Goexit in the Go function " + name)
		defer func() {
			switch p := recover().(type) {
			case nil:
			case value.Fault: // an argument that cannot pass
				err = p
			default:
				err = fmt.Errorf("panic in the Go function %s: %v", name, p)
			}
			ended <- err
		}()
		err = call()
	}()
	return <-ended
}

const (
	backOffMin = time.Second // after the first failure; it doubles
	backOffMax = 5 * time.Minute
)

// BackOff is how long a call waits after so many failures, at most.
func BackOff(failures int) time.Duration {
	wait := backOffMin
	for range failures - 1 {
		if wait *= 2; wait >= backOffMax {
			return backOffMax
		}
	}
	return wait
}
