package httpdoor

import (
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/metrics"
)

// metrics serves what the program counts, which is of all classes: a caller needs the right to everything.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	if !by.May(nil, nil) {
		s.fail(w, s.Account(requestOf(r, by), time.Now(), door.Refuse(door.Forbidden, "the rights of %s do not reach the figures of the program, which take *", by.Name)))
		return
	}
	var m metrics.Writer
	if s.cfg.Metrics != nil {
		s.cfg.Metrics(&m)
	} else {
		m.Gauge("aeon_program_info", "The program.", 1, "program", s.cfg.Program)
		s.Door.WriteMetrics(&m)
		s.Counts.Write(&m)
		m.Process()
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = m.WriteTo(w) // the client has gone if this fails
}
