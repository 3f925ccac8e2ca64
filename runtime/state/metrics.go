package state

import "github.com/aeon-lang/aeon/runtime/metrics"

// Attached returns how many actors are in the ownership graph in memory. Any goroutine.
func (s *State) Attached() int {
	n, _ := s.Actors()
	return n
}

// WriteMetrics writes how many actors are in memory, and how far the journal is. Any goroutine.
func (s *State) WriteMetrics(w *metrics.Writer) {
	w.Gauge("aeon_actors_attached", "Actors that are in the ownership graph in memory.", int64(s.Attached()))
	w.Gauge("aeon_actors_loaded", "Actors whose states are in memory.", int64(s.Loaded()))
	appended, durable := s.Store.Positions()
	w.Gauge("aeon_journal_position", "Last position of the journal.", int64(appended))
	w.Gauge("aeon_journal_durable_position", "Position of the journal up to which all is on the disk.", int64(durable))
	w.Histogram("aeon_journal_sync_seconds", "Syncs of the journal, one for each group commit.", s.Store.Syncs())
}
