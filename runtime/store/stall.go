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
		timer *time.Timer
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
	w.mu.began = now
	w.mu.timer.Reset(stallReport)
}

func (w *stallWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.timer.Stop()
	if w.mu.told > 0 {
		w.log.Warn("the disk answers again", "stalled", time.Since(w.mu.began).Round(time.Millisecond))
	}
	w.mu.began, w.mu.told = time.Time{}, 0
}

// report runs when a sync has taken a second, and after every doubling of that.
func (w *stallWatch) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.began.IsZero() {
		return
	}
	w.mu.told++
	stalled := time.Since(w.mu.began)
	w.log.Warn("the disk is stalled: clients wait for a sync", "stalled", stalled.Round(time.Millisecond))
	w.mu.timer.Reset(stalled)
}
