package span

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Sink takes what is exported.
type Sink interface {
	// Export sends a request of OTLP in JSON, and returns how many of its spans were refused. A tracer calls it from one goroutine at a time; several
	// tracers may share a sink.
	// An error that wraps a *LaterError may go away; after another one the request is given up.
	Export(ctx context.Context, request []byte) (refused int, err error)
}

// LaterError says that a request may be taken later.
type LaterError struct {
	After time.Duration // that the collector has asked for; 0: it has not
	Err   error
}

// Error implements error.
func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LaterError) Unwrap() error { return e.Err }

// Config says what is recorded, and where it goes.
type Config struct {
	Program  string   // its name, the attribute service.name
	Store    string   // the id of the store, from which ids follow; "": there is none, and the ids are those of one run
	Cluster  string   // the id of a cluster of several stores, from which the ids follow that all of these give; "": there is none
	Sample   float64  // the share of the traces that are recorded, from 0 to 1, where no caller outside has decided it
	Resource []string // further attributes, as names and values in turn
	Sink     Sink
	Log      *slog.Logger
}

const (
	spansMax = 8192 // that wait to be exported
	batchMax = 512  // in one request
	batchAge = time.Second
	triesMax = 5
	backOff  = 500 * time.Millisecond // before the second try, and twice as long before each further one
	afterMax = 10 * time.Second       // that a collector may ask to wait for

	// CloseMax is how long Close waits at most.
	CloseMax = 2 * time.Second
)

// Tracer records the spans of a system and exports them. All methods but Close are for any goroutine. A nil Tracer records nothing.
type Tracer struct {
	cfg      Config
	ids      ids
	resource []attribute
	queue    queue

	exported, failed atomic.Uint64

	once   sync.Once
	ending chan struct{} // closed when nothing more comes
	done   chan struct{} // closed when the exporter has ended
	ctx    context.Context
	cancel context.CancelFunc
}

// Open begins to export. The caller calls Close when the system has been closed.
func Open(cfg Config) *Tracer {
	t := &Tracer{cfg: cfg, ending: make(chan struct{}), done: make(chan struct{})}
	if cfg.Store == "" {
		cfg.Store = rand.Text()
	}
	t.ids = newIDs(cmp.Or(cfg.Cluster, cfg.Store))
	t.resource = []attribute{{"service.name", cfg.Program}, {"service.instance.id", cfg.Store}}
	for i := 0; i+1 < len(cfg.Resource); i += 2 {
		t.resource = append(t.resource, attribute{cfg.Resource[i], cfg.Resource[i+1]})
	}
	t.queue.news, t.queue.full = make(chan struct{}, 1), make(chan struct{}, 1)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.run() // ends with Close
	return t
}

// Close exports what waits, for CloseMax at most, and ends. t may be nil.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		t.queue.close()
		close(t.ending)
		cut := time.AfterFunc(CloseMax, t.cancel)
		defer cut.Stop()
		select {
		case <-t.done:
		case <-time.After(CloseMax + CloseMax/4): // the sink does not heed its context
		}
		t.cancel()
	})
}

// WriteMetrics writes what the tracer counts, by names that begin with prefix, as in aeon_spans. t may be nil.
func (t *Tracer) WriteMetrics(w *metrics.Writer, prefix string) {
	if t == nil {
		return
	}
	w.Counter(prefix+"_exported_total", "Spans that the collector, or the file, has taken.", t.exported.Load())
	w.Counter(prefix+"_dropped_total", "Spans that were dropped, as too many waited to be exported.", t.queue.dropped.Load())
	w.Counter(prefix+"_failed_total", "Spans that could not be exported.", t.failed.Load())
}

// run exports what comes until Close.
func (t *Tracer) run() {
	defer close(t.done)
	healthy := true
	for {
		ended := t.gather()
		for batch := t.queue.take(batchMax); len(batch) > 0; batch = t.queue.take(batchMax) {
			err := t.export(batch)
			if err != nil && healthy {
				t.cfg.Log.Warn("spans cannot be exported; the program goes on without", "error", err.Error())
			}
			healthy = err == nil
		}
		if ended {
			return
		}
	}
}

// gather waits until there is something to export, and a little longer for more. It reports whether nothing more comes.
func (t *Tracer) gather() (ended bool) {
	select {
	case <-t.queue.news:
	case <-t.ending:
		return true
	}
	age := time.NewTimer(batchAge)
	defer age.Stop()
	select {
	case <-age.C:
	case <-t.queue.full:
	case <-t.ending:
		return true
	}
	return false
}

// export sends a batch, and sends it again while that may help.
func (t *Tracer) export(batch []span) (err error) {
	request := encode(nil, t.resource, batch)
	wait := backOff
	for try := 1; t.ctx.Err() == nil; try++ {
		var refused int
		if refused, err = t.cfg.Sink.Export(t.ctx, request); err == nil {
			refused = min(max(refused, 0), len(batch))
			t.exported.Add(uint64(len(batch) - refused))
			t.failed.Add(uint64(refused))
			return nil
		}
		later := (*LaterError)(nil)
		if try == triesMax || !errors.As(err, &later) {
			break
		}
		pause := time.NewTimer(max(wait, min(later.After, afterMax)))
		select {
		case <-pause.C:
		case <-t.ctx.Done():
		}
		pause.Stop()
		wait *= 2
	}
	t.failed.Add(uint64(len(batch)))
	if err == nil {
		err = t.ctx.Err()
	}
	return err
}

// queue has the spans that wait to be exported.
type queue struct {
	news, full chan struct{} // hold a value when there is something, or a batch
	dropped    atomic.Uint64
	mu         struct {
		sync.Mutex
		waiting []span
		closed  bool
	}
}

// add adds spans, or drops and counts them: it never waits for the exporter.
func (q *queue) add(spans []span) {
	q.mu.Lock()
	fits := !q.mu.closed && len(q.mu.waiting)+len(spans) <= spansMax
	if fits {
		q.mu.waiting = append(q.mu.waiting, spans...)
	}
	n := len(q.mu.waiting)
	q.mu.Unlock()
	if !fits {
		q.dropped.Add(uint64(len(spans)))
		return
	}
	signal(q.news)
	if n >= batchMax {
		signal(q.full)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take takes as many spans as there are, up to a number.
func (q *queue) take(n int) []span {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.mu.waiting))
	batch := q.mu.waiting[:n:n]
	q.mu.waiting = q.mu.waiting[n:]
	if len(q.mu.waiting) == 0 {
		q.mu.waiting = nil
	}
	return batch
}

// close refuses what comes from now on.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.closed = true
}
