package cluster

import (
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Load is what the system of a store has to do.
type Load struct {
	Actors int           `json:"actors"` // in memory
	Events float64       `json:"events"` // that commit in a second
	Commit time.Duration `json:"commit"` // of a group of them, until a majority has it; the mean
	P99    time.Duration `json:"p99"`    // of calls from outside
	// InDoubt are the events of other stores that have prepared something in this one, and have not been carried out here.
	InDoubt int `json:"inDoubt"`
}

// sample is what the system of a store has counted up to a moment.
type sample struct {
	at      time.Time // the zero time: there was none
	commits uint64
	groups  uint64
	took    time.Duration
	calls   metrics.Counts
}

// sampleInterval is between two samples.
const sampleInterval = time.Second

// measure returns the load of the system, as of a second ago at most; the zero Load if it runs elsewhere.
func (h *holder) measure() Load {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := sample{at: time.Now()}
	if h.system != nil && h.system.link != nil {
		h.load.InDoubt = h.system.System.Across().InDoubt()
	}
	if h.system == nil || now.at.Sub(h.sampled.at) < sampleInterval {
		return h.load
	}
	now.commits = h.system.System.Stats().Commits
	now.groups, now.took = h.system.Store.Syncs().Sum()
	now.calls = h.system.public.Counts.Took().Counts()
	h.load.Actors = h.system.System.Attached()
	if was := h.sampled; !was.at.IsZero() {
		h.load.Events = float64(now.commits-was.commits) / now.at.Sub(was.at).Seconds()
		h.load.P99 = now.calls.Quantile(0.99, was.calls)
		h.load.Commit = 0
		if n := now.groups - was.groups; n > 0 {
			h.load.Commit = (now.took - was.took) / time.Duration(n)
		}
	}
	h.sampled = now
	return h.load
}

// disk measures the disk of a node by the syncs of its log. The zero value has measured nothing.
type disk struct {
	mu    sync.Mutex
	at    time.Time
	syncs uint64
	took  time.Duration
	mean  time.Duration
}

// measure returns the mean of the syncs since the last sample, which was a second ago or before; 0 if there were none.
func (d *disk) measure(of *metrics.Histogram) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if now.Sub(d.at) < sampleInterval {
		return d.mean
	}
	syncs, took := of.Sum()
	d.mean = 0
	if n := syncs - d.syncs; n > 0 && !d.at.IsZero() {
		d.mean = (took - d.took) / time.Duration(n)
	}
	d.at, d.syncs, d.took = now, syncs, took
	return d.mean
}
