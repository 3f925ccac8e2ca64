package store

import (
	"log/slog"
	"sync"
	"time"
)

// stallWatch logs a sync that takes long, while it runs.
type stallWatch struct {
	log *slog.Logger

	mu struct {
		sync.Mutex
		timer *time.Timer // to set it costs more than a sync in memory: it runs on when a sync has ended, and looks at a later one, or stops
		runs  bool
		began time.Time // zero: no sync is under way
		told  int       // how often this one was logged
	}
}

func newStallWatch(log *slog.Logger) *stallWatch {
	w := &stallWatch{log: log}
	w.mu.timer = time.AfterFunc(time.Hour, w.report)
	w.mu.timer.Stop()
	return w
}

func (w *stallWatch) begin(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.began = now; !w.mu.runs {
		w.mu.runs = true
		w.mu.timer.Reset(stallReport)
	}
}

func (w *stallWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.told > 0 {
		w.log.Warn("the disk answers again", "stalled", time.Since(w.mu.began).Round(time.Millisecond))
		w.mu.timer.Reset(stallReport) // it was set to when this stall would have doubled
	}
	w.mu.began, w.mu.told = time.Time{}, 0
}

// report runs when a sync has taken a second, and after every doubling of that.
func (w *stallWatch) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.began.IsZero() {
		w.mu.runs = false
		return
	}
	stalled := time.Since(w.mu.began)
	if stalled < stallReport {
		w.mu.timer.Reset(stallReport - stalled)
		return
	}
	w.mu.told++
	w.log.Warn("the disk is stalled: clients wait for a sync", "stalled", stalled.Round(time.Millisecond))
	w.mu.timer.Reset(stalled)
}
