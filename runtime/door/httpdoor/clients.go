package httpdoor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
)

// ClientsPath is where clients begin that receive callbacks.
const ClientsPath = "/v1/clients"

// clientParams are what a client begins with: the names of client classes.
var clientParams = func() *jsoncodec.Params {
	var types jsoncodec.Compiler
	params, _, err := types.Signature("(set<string>)", []string{"classes"})
	if err != nil {
		panic(err)
	}
	return params
}()

// begun is the answer to the beginning of a client.
type begun struct {
	ID         string            `json:"id"`
	Events     string            `json:"events"`     // the path of its stream
	References map[string]string `json:"references"` // to its objects, by the names of their classes
}

// beginClient begins a client with an object of each class that it asks for.
func (s *Server) beginClient(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	q := requestOf(r, by)
	defer s.Release(q)
	r.Body = &heldBody{r.Body, s.Gate, q}
	names, err := s.clientClasses(w, r, by)
	var remote *door.Remote
	if err == nil {
		remote, err = s.BeginClient(q, names)
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	answer := begun{ID: remote.ID, Events: ClientsPath + "/" + remote.ID + "/events", References: make(map[string]string)}
	for i, name := range names {
		answer.References[name] = remote.References[i]
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", ClientsPath+"/"+remote.ID)
	s.Counts.HTTP(http.StatusCreated)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(answer) // the client has gone if this fails
}

// clientClasses reads the names of the classes that a client is to have objects of.
func (s *Server) clientClasses(w http.ResponseWriter, r *http.Request, by *access.Caller) (names []string, err error) {
	msg, err := s.body(w, r, clientParams, by)
	if err != nil {
		return nil, err
	}
	d := codec.NewDecoder(msg)
	for n := d.Uint(); n > 0; n-- {
		names = append(names, d.String())
	}
	return names, nil
}

// endClient ends a client.
func (s *Server) endClient(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	remote, err := s.Client(requestOf(r, by), r.PathValue("id"))
	if err != nil {
		s.fail(w, err)
		return
	}
	remote.End()
	s.Counts.HTTP(http.StatusNoContent)
	w.WriteHeader(http.StatusNoContent)
}

// events serves the callbacks of a client.
func (s *Server) events(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	stream, err := s.openStream(r, by)
	if err != nil {
		s.fail(w, err)
		return
	}
	defer stream.Close()
	defer s.Counts.Stream()()
	s.Counts.HTTP(http.StatusOK)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies hand each callback on at once
	out := eventWriter{door: s.Door, by: by, w: w, to: http.NewResponseController(w), timeMax: s.SendMax}
	s.follow(r, stream, &out)
}

// openStream opens the stream that a request asks for.
func (s *Server) openStream(r *http.Request, by *access.Caller) (*door.Stream, error) {
	remote, err := s.Client(requestOf(r, by), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	after := uint64(0)
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		if after, err = strconv.ParseUint(last, 10, 64); err != nil {
			return nil, door.Refuse(door.BadArgs, "Last-Event-ID: %q is no id of a callback", last)
		}
	}
	return remote.Stream(after)
}

// follow writes callbacks until the stream or the server ends, or the client has gone.
func (s *Server) follow(r *http.Request, stream *door.Stream, out *eventWriter) {
	beat := time.NewTicker(s.cfg.BeatMax)
	defer beat.Stop()
	if !out.flush([]byte("retry: 1000\n\n")) {
		return
	}
	for {
		list, err := stream.Take()
		switch {
		case err != nil:
			var end *door.EndedError
			errors.As(err, &end)
			text, _ := json.Marshal(map[string]string{"code": end.Code, "detail": end.Msg}) // strings do not fail
			out.flush(fmt.Appendf(nil, "event: end\ndata: %s\n\n", text))
			return
		case len(list) > 0:
			if !out.callbacks(list) {
				return
			}
			continue
		}
		select {
		case <-stream.Ready():
		case <-beat.C:
			if !out.flush([]byte(":\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.Ending():
			return
		}
	}
}

// eventWriter writes events to one client.
type eventWriter struct {
	door    *door.Door
	by      *access.Caller
	w       http.ResponseWriter
	to      *http.ResponseController
	timeMax time.Duration
}

// callbacks writes callbacks, and reports whether the client may have got them.
func (o *eventWriter) callbacks(list []door.Delivery) bool {
	var b []byte
	for _, d := range list {
		b = fmt.Appendf(b, "id: %d\ndata: {\"class\":%q,\"method\":%q,\"arguments\":", d.Number, o.door.ClientNameOf(d.Method.Of), d.Method.Name)
		var err error
		if b, err = d.Method.Params.Append(b, d.Args, o.door.Names(context.Background(), o.by.Name)); err != nil {
			panic(err) // generated code has written it
		}
		b = append(b, "}\n\n"...)
	}
	return o.flush(b)
}

// flush sends b, within a time of its own: that of the request would end the stream. A client that takes nothing for so long
// loses the connection, and can resume.
func (o *eventWriter) flush(b []byte) bool {
	if err := o.to.SetWriteDeadline(time.Now().Add(o.timeMax)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	if _, err := o.w.Write(b); err != nil {
		return false
	}
	return o.to.Flush() == nil
}
