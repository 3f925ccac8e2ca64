package httpdoor

import (
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/metrics"
)

// Metrics serves figures, which are of all classes: a caller needs the right to everything.
func Metrics(g *gate.Gate, write func(*metrics.Writer)) http.Handler {
	return known(g, func(w http.ResponseWriter, r *http.Request, by *access.Caller) {
		if !by.May(nil, nil) {
			g.Counts.HTTP(Fail(w, g.Account(requestOf(r, by), time.Now(), door.Refuse(door.Forbidden, "the rights of %s do not reach the figures of the program, which take *", by.Name))))
			return
		}
		var m metrics.Writer
		write(&m)
		w.Header().Set("Content-Type", metrics.ContentType)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = m.WriteTo(w) // the client has gone if this fails
	})
}

// writeMetrics writes what the program counts, or the whole process.
func (s *Server) writeMetrics(m *metrics.Writer) {
	if s.cfg.Metrics != nil {
		s.cfg.Metrics(m)
		return
	}
	m.Gauge("aeon_program_info", "The program.", 1, "program", s.cfg.Program)
	s.Door.WriteMetrics(m)
	s.Counts.Write(m)
	m.Process()
}
