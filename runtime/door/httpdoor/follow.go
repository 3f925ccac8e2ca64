package httpdoor

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// watched writes what becomes of events, a line of JSON each, as watch.Line has it, until the client has gone or the program ends.
func (s *Server) watched(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	of := watch.Filter{Actor: query.Get("actor"), Class: query.Get("class"), Failed: query.Get("failed") == "true"}
	if slow := query.Get("slow"); slow != "" {
		var err error
		if of.Slow, err = time.ParseDuration(slow); err != nil || of.Slow <= 0 {
			s.fail(w, door.Refuse(door.BadArgs, "slow: %q is no duration above 0, as 10ms is", slow))
			return
		}
	}
	follower := s.Door.Follow(of)
	defer follower.Close()
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	out := eventWriter{w: w, to: http.NewResponseController(w), timeMax: s.SendMax}
	if !out.flush(nil) { // the client knows that it follows
		return
	}
	for {
		select {
		case l := <-follower.Lines():
			if !out.flush(batch(follower, l)) {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.Ending():
			return
		}
	}
}

// batch returns a line, those that wait behind it, and then how many were lost.
func batch(follower *watch.Follower, l watch.Line) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for {
		_ = e.Encode(l) // a line has texts and numbers: they do not fail
		if b.Len() > outBytes {
			break
		}
		select {
		case l = <-follower.Lines():
			continue
		default:
		}
		break
	}
	if n := follower.Dropped(); n > 0 {
		_ = e.Encode(watch.Line{Time: time.Now(), Kind: watch.Dropped, Count: n})
	}
	return b.Bytes()
}
