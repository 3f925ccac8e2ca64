package front

import (
	"context"
	"math"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

// serve serves a request of a caller, at another place again if it fails at one.
func (f *Front) serve(w http.ResponseWriter, r *http.Request, by *access.Caller) {
	kept := keeping{of: f, from: gate.SourceOf(by, r.RemoteAddr)}
	defer kept.end()
	keep, wait, deadline := kept.http, waitOf(r), time.Time{}
	if f.isGRPC(r) {
		keep, deadline = kept.grpc, deadlineOf(r)
		if wait = f.cfg.Wait; !deadline.IsZero() {
			wait = early(time.Until(deadline))
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(wait, f.cfg.Wait))
	defer cancel()
	body, again, err := keep(r)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	rest := r.Body
	// The outcome of a request with a key is kept in one store, and is looked for there: a guess at another one has the request done twice.
	if f.cfg.Known != nil {
		if err := f.cfg.Known(ctx); err != nil {
			f.fail(w, r, nowhere(err.Error()))
			return
		}
	}
	of := f.storeOf(r, body)
	unknown := false // what was sent may have happened
	var at Place
	var forwarded forwarding
	defer forwarded.end()
	for {
		next, err := f.cfg.Locate(ctx, of, at)
		if err != nil {
			f.fail(w, r, forwarded.refused(outcome(unknown)))
			return
		}
		if at = next; at.Here == nil {
			r = forwarded.begin(f.cfg.Spans, r, at.Node)
		}
		t := &attempt{ResponseWriter: w, again: again, unknown: unknown, away: at.Here == nil, grpc: f.isGRPC(r), header: w.Header().Clone()}
		setDeadline(r, deadline)
		intact := load(r, body, rest)
		f.send(t, r, at, of)
		if t.grpc {
			t.complete()
		}
		if !t.over {
			forwarded.answered(t.status)
			return
		}
		unknown = unknown || t.sent
		if !intact() || unknown && !again { // without its body a call has other arguments
			f.fail(w, r, forwarded.refused(outcome(unknown)))
			return
		}
		f.cfg.Log.Debug("a request is sent again", "path", r.URL.Path, "node", at.Node, "error", t.err)
	}
}

// storeOf returns which store has the system that serves a request, of which body has been read.
func (f *Front) storeOf(r *http.Request, body []byte) event.StoreID {
	if f.isGRPC(r) {
		return f.cfg.GRPC.Store(r.URL.Path, messageIn(body))
	}
	return f.cfg.Store(r)
}

// send sends a request to a place of the system of a store.
func (f *Front) send(t *attempt, r *http.Request, at Place, of event.StoreID) {
	if at.Here != nil {
		at.Here.ServeHTTP(t, r)
		return
	}
	// A node that is paused, or cut off, does not answer. When another one has taken over, its answer is not waited for.
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), addresseeKey{}, addressee{at.Node, of}))
	defer cancel()
	// The transport may send a request again itself, and fail to connect then: what counts is whether it ever had a connection.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.carried.Store(true) }})
	if at.Over != nil {
		ended := make(chan struct{})
		defer close(ended)
		go func() { // ends with this call
			select {
			case <-at.Over:
				cancel()
			case <-ended:
			}
		}()
	}
	defer t.end()
	f.proxy.ServeHTTP(t, r.WithContext(ctx))
}

// waitOf returns how long a request may wait for a system by its header Prefer (RFC 7240): wait=SECONDS. Its client gives up then, and would not know
// whether a node has performed it.
func waitOf(r *http.Request) time.Duration {
	for _, p := range strings.Split(r.Header.Get("Prefer"), ",") {
		if text, is := strings.CutPrefix(strings.TrimSpace(p), "wait="); is {
			if n, err := strconv.ParseUint(text, 10, 16); err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return math.MaxInt64
}

// fail answers a request with a failure, by its protocol.
func (f *Front) fail(w http.ResponseWriter, r *http.Request, err error) {
	if f.isGRPC(r) {
		f.cfg.GRPC.Fail(w, err)
		return
	}
	httpdoor.Fail(w, err)
}

// nowhere is the failure of a request that no system has performed.
func nowhere(why string) error {
	return &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: why}}
}

var (
	errNowhere = nowhere("no node runs the actors now: too few nodes are there, or a leader is being elected")
	// errUnknown is the failure of a request whose system has ended under it.
	errUnknown = &door.Refusal{Failure: door.Failure{Code: door.NoOutcome, Happened: door.Unknown, Later: true,
		Msg: "the node that performed the request has gone: the request has happened, or not; with an Idempotency-Key it can be sent again, and happens once"}}
)

// outcome returns the failure of a request that no system has answered.
func outcome(unknown bool) error {
	if unknown {
		return errUnknown
	}
	return errNowhere
}
