package godoor

import (
	"io"

	"github.com/aeon-lang/aeon/runtime/metrics"
)

// MetricsContentType is the type of what WriteMetrics writes, for the header Content-Type.
const MetricsContentType = metrics.ContentType

// WriteMetrics writes what the program counts, in the text format of Prometheus. The error is that of w.
func (db *DB) WriteMetrics(w io.Writer) error {
	var m metrics.Writer
	db.sys.WriteMetrics(&m)
	db.clients.writeMetrics(&m)
	_, err := m.WriteTo(w)
	return err
}

func (cs *clients) writeMetrics(w *metrics.Writer) {
	w.Gauge("aeon_go_clients", "Clients in Go code that have not ended.", int64(len(cs.list())))
	w.Gauge("aeon_go_callback_bytes", "Memory that the callbacks take which wait for Go code.", cs.bytes.Load())
	w.Counter("aeon_go_callbacks_total", "Callbacks that were called.", cs.called.Load())
	w.Counter("aeon_go_callbacks_dropped_total", "Callbacks whose client has ended before they were called.", cs.dropped.Load())
	w.Counter("aeon_go_callback_panics_total", "Callbacks that have panicked.", cs.panicked.Load())
}
