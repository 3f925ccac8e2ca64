package httpdoor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/state/inspection"
	"github.com/aeon-lang/aeon/runtime/store"
)

// The paths of what is served to the machine's operator alone, see Config.Control.
const (
	ActorsPath  = "/control/actors"  // ?class=CLASS&limit=N: a line of JSON for each actor, as inspection.List has it
	ActorPath   = "/control/actor"   // ?name=ACTOR: its state, as inspection.Write has it
	DeadPath    = "/control/dead"    // a line of JSON for each dead letter, as inspection.Letter has it; DELETE forgets ?event=EVENT or ?all=true
	EventsPath  = "/control/events"  // ?actor=ACTOR&class=CLASS&failed=true&slow=10ms: what becomes of events from now on, as watch.Line has it
	ProfilePath = "/control/profile" // ?kind=cpu|heap|goroutine|block|mutex&seconds=N
	TimersPath  = "/control/timers"  // ?limit=N: a line of JSON for each pending timer, as inspection.Timer has it
	WaitsPath   = "/control/waits"   // a line of JSON for each event that waits for another one, as door.Wait has it
)

// actors lists actors.
func (s *Server) actors(w http.ResponseWriter, r *http.Request) {
	limit, ok := s.limitOf(w, r)
	if !ok {
		return
	}
	of := inspection.Selection{Class: r.URL.Query().Get("class"), Limit: limit}
	s.list(w, r, func(in *inspection.Inspection, view *exec.View, emit func([]byte) error) error {
		of.Loaded = view.Loaded
		return in.List(of, emit)
	})
}

// actor shows the state of an actor.
func (s *Server) actor(w http.ResponseWriter, r *http.Request) {
	s.inspect(w, r, "application/json", func(in *inspection.Inspection, view *exec.View, out *bufio.Writer) error {
		id, err := in.Find(r.URL.Query().Get("name"))
		if err != nil {
			return err
		}
		return in.Write(out, id, view.Position)
	})
}

// list answers with the lines of JSON that write emits.
func (s *Server) list(w http.ResponseWriter, r *http.Request, write func(*inspection.Inspection, *exec.View, func([]byte) error) error) {
	s.inspect(w, r, "application/x-ndjson", func(in *inspection.Inspection, view *exec.View, out *bufio.Writer) error {
		return write(in, view, func(line []byte) error {
			_, err := out.Write(line)
			return err
		})
	})
}

// limitOf returns up to how many lines a request wants, 0 for all; false if that was no number, which is answered.
func (s *Server) limitOf(w http.ResponseWriter, r *http.Request) (int, bool) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		s.fail(w, door.Refuse(door.BadArgs, "limit: %q is no number of lines", text))
	}
	return int(n), err == nil
}

// timers lists pending timers.
func (s *Server) timers(w http.ResponseWriter, r *http.Request) {
	limit, ok := s.limitOf(w, r)
	if !ok {
		return
	}
	s.list(w, r, func(in *inspection.Inspection, _ *exec.View, emit func([]byte) error) error {
		return in.Timers(limit, emit)
	})
}

// dead lists dead letters.
func (s *Server) dead(w http.ResponseWriter, r *http.Request) {
	s.list(w, r, func(in *inspection.Inspection, _ *exec.View, emit func([]byte) error) error {
		return in.DeadLetters(emit)
	})
}

// forget deletes dead letters, and answers with how many.
func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), s.TimeMax)
	defer cancel()
	query := r.URL.Query()
	all, events := query.Get("all") == "true", query["event"]
	if all == (len(events) > 0) {
		s.fail(w, door.Refuse(door.BadArgs, "name dead letters with event, or say all=true"))
		return
	}
	n, err := s.Door.ForgetDeadLetters(ctx, all, events)
	switch {
	case errors.Is(err, outbox.ErrNoLetter):
		s.fail(w, &door.NotFoundError{Msg: err.Error()})
	case err != nil:
		s.failInspection(w, err)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(n) // the client has gone if this fails
	}
}

// waits lists which events wait for which.
func (s *Server) waits(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	out := json.NewEncoder(&patient{w: w})
	for _, wait := range s.Door.Waits() {
		if out.Encode(wait) != nil {
			return // the client has gone
		}
	}
}

// inspect answers with what write writes of a view of the store.
func (s *Server) inspect(w http.ResponseWriter, r *http.Request, kind string, write func(*inspection.Inspection, *exec.View, *bufio.Writer) error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.TimeMax)
	defer cancel()
	view, err := s.Door.View(ctx)
	if err != nil {
		s.failInspection(w, err)
		return
	}
	defer func() {
		if err := view.Close(); err != nil {
			s.Log.Error("a view of the store has failed", "error", err.Error())
		}
	}()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set(PositionHeader, strconv.FormatUint(uint64(view.Position), 10))
	answer := &patient{w: w}
	out := bufio.NewWriterSize(answer, outBytes)
	in, err := inspection.Open(view, s.cfg.Program)
	if err == nil {
		in.Partial = s.Door.IsPartial()
		err = write(in, view, out)
	}
	switch {
	case err == nil:
		_ = out.Flush() // the client has gone if this fails
	case !answer.begun:
		s.failInspection(w, err)
	default: // an answer that is cut off is no answer
		panic(http.ErrAbortHandler)
	}
}

// failInspection answers with what has kept the store from being shown.
func (s *Server) failInspection(w http.ResponseWriter, err error) {
	bad := new(inspection.NameError)
	switch {
	case errors.As(err, &bad):
		err = door.Refuse(door.BadArgs, "%v", err)
	case inspection.IsMissing(err):
		err = &door.NotFoundError{Msg: err.Error()}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = door.Refuse(door.TimedOut, "the disk has not ended a sync in %v", s.TimeMax)
	case errors.Is(err, store.ErrCorrupt):
		err = door.Refuse(codeDamaged, "%v", err)
	}
	s.fail(w, err)
}
