package httpdoor

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
)

// The patterns of paths.
const (
	callPath   = "/v1/{class}/{key}/{method}"
	slashPath  = "/v1/{class}/%2F/{method}" // of an actor of the name "/", for which {key} does not stand: it is the end of a path to ServeMux
	eventsPath = ClientsPath + "/{id}/events"
)

// handler returns what takes each request to the method that serves its path, and refuses those of strange pages before.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	handleCalls(mux, s.known(s.call))
	mux.HandleFunc("POST "+ClientsPath, s.known(s.beginClient))
	mux.HandleFunc("DELETE "+ClientsPath+"/{id}", s.known(s.endClient))
	mux.HandleFunc("GET "+eventsPath, s.known(s.events))
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", Metrics(s.Gate, s.writeMetrics))
	mux.HandleFunc("GET /openapi.json", s.known(s.openapi))
	if s.cfg.Control {
		asked := func(next http.HandlerFunc) http.Handler { return WholeQuery(next, s.fail) }
		mux.Handle("GET "+ActorsPath, asked(s.actors))
		mux.Handle("GET "+ActorPath, asked(s.actor))
		mux.HandleFunc("GET "+WaitsPath, s.waits)
		mux.Handle("GET "+EventsPath, asked(s.watched))
		mux.Handle("GET "+ProfilePath, asked(s.profile))
		mux.HandleFunc("GET "+DeadPath, s.dead)
		mux.Handle("GET "+TimersPath, asked(s.timers))
		mux.Handle("DELETE "+DeadPath, asked(s.forget))
	}
	elsewhere := s.known(s.elsewhere)
	if s.pages != nil {
		mux.HandleFunc("/v1/", elsewhere)
		elsewhere = s.pages.page
	}
	mux.HandleFunc("/", elsewhere)
	served := http.Handler(mux)
	if s.peer != nil {
		served = beside(s.peer, served)
	}
	return Guard(served, s.Tokens != nil, s.fail)
}

// handleCalls has mux take calls to next.
func handleCalls(mux *http.ServeMux, next http.HandlerFunc) {
	for _, method := range []string{"POST ", "GET "} {
		mux.HandleFunc(method+callPath, next)
		mux.HandleFunc(method+slashPath, func(w http.ResponseWriter, r *http.Request) {
			r.SetPathValue("key", "/")
			next(w, r)
		})
	}
}

// Guard refuses requests of strange pages to a server that asks for tokens, or does not.
func Guard(next http.Handler, asks bool, fail func(http.ResponseWriter, error)) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, door.Refuse(codeOrigin, "a page of another origin has sent the request"))
	}))
	served := sameOrigin.Handler(next)
	if !asks {
		served = knownHost(served, fail)
	}
	return served
}

// WholeQuery refuses requests whose query cannot be read: URL.Query leaves out each pair that it cannot read, and a request that loses one could forget
// all dead letters.
func WholeQuery(next http.Handler, fail func(http.ResponseWriter, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := readQuery(r); err != nil {
			fail(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knownHost refuses requests that come by a name which is not that of this machine: a page of a web site whose name leads
// here could call a server that listens on loopback alone, as the browser takes the two for one origin. Where tokens are
// asked for, such a page has none.
func knownHost(next http.Handler, fail func(http.ResponseWriter, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsLocal(r.Host) {
			fail(w, door.Refuse(codeHost, "the host %q is not this machine by a name of its own; say localhost, or 127.0.0.1", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// IsLocal reports whether a host, perhaps with a port, is localhost or an address on loopback.
func IsLocal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && a.IsLoopback()
}

// elsewhere answers requests to no place that there is.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request, _ *access.Caller) {
	if parts := strings.Split(r.URL.Path, "/"); len(parts) == 5 && parts[1] == "v1" {
		w.Header().Set("Allow", "POST, GET")
		s.fail(w, door.Refuse(codeMethod, "%s is not served; call methods by POST, and those that are ro by GET, too", r.Method))
		return
	}
	s.fail(w, nothingAt(r))
}
