package httpdoor

import (
	"fmt"
	"io"
	"net/http"

	"github.com/aeon-lang/aeon/runtime/door"
)

// ok tells that the process lives.
func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }

// ready tells whether calls are performed.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if err := s.Door.Ready(); err != nil {
		s.fail(w, &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: fmt.Sprintf("not ready: %v", err)}})
		return
	}
	ok(w, r)
}
