package cluster

import "time"

// Load is what the system of a store has to do.
type Load struct {
	Actors int           `json:"actors"` // in memory
	Events float64       `json:"events"` // that commit in a second
	Commit time.Duration `json:"commit"` // of a group of them, until a majority has it; the mean
}

// sample is what the system of a store has counted up to a moment.
type sample struct {
	at      time.Time // the zero time: there was none
	commits uint64
	groups  uint64
	took    time.Duration
}

// sampleInterval is between two samples.
const sampleInterval = time.Second

// measure returns the load of the system, as of a second ago at most; the zero Load if it runs elsewhere.
func (h *holder) measure() Load {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := sample{at: time.Now()}
	if h.system == nil || now.at.Sub(h.sampled.at) < sampleInterval {
		return h.load
	}
	now.commits = h.system.System.Stats().Commits
	now.groups, now.took = h.system.Store.Syncs().Sum()
	h.load.Actors = h.system.System.Attached()
	if was := h.sampled; !was.at.IsZero() {
		h.load.Events = float64(now.commits-was.commits) / now.at.Sub(was.at).Seconds()
		h.load.Commit = 0
		if n := now.groups - was.groups; n > 0 {
			h.load.Commit = (now.took - was.took) / time.Duration(n)
		}
	}
	h.sampled = now
	return h.load
}
