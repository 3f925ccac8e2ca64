package httpdoor

import (
	"crypto/tls"
	"fmt"
	"net/http"

	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// Certificate returns the settings of TLS for a certificate, with those that sign it behind it, and its key; both are files
// in PEM. TLS 1.3 has no choice that could be wrong.
func Certificate(cert, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s and the key %s cannot be used: %w", cert, key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

// requestOf returns a request by HTTP, which may be a call.
func requestOf(r *http.Request, by *access.Caller) *gate.Request {
	q := &gate.Request{By: by, Remote: r.RemoteAddr, Class: r.PathValue("class"), Key: r.PathValue("key"), Method: r.PathValue("method")}
	if keys := r.Header["Idempotency-Key"]; len(keys) > 0 {
		q.Once, q.Keyed = keys[0], true
	}
	return q
}

// known is Known for the routes of a server, whose patterns have the names of a call already.
func (s *Server) known(next func(http.ResponseWriter, *http.Request, *access.Caller)) http.HandlerFunc {
	return known(s.Gate, next)
}

// Known hands on requests with their callers. Those without a token that is known are refused, if tokens are asked for: as a Server does, for what stands
// before Servers.
func Known(g *gate.Gate, next func(http.ResponseWriter, *http.Request, *access.Caller)) http.Handler {
	mux, knows := http.NewServeMux(), known(g, next)
	handleCalls(mux, knows) // the audit has the names of a call
	mux.HandleFunc("GET "+eventsPath, knows)
	mux.HandleFunc("/", knows)
	return mux
}

func known(g *gate.Gate, next func(http.ResponseWriter, *http.Request, *access.Caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := requestOf(r, nil)
		given := r.Header.Values("Authorization")
		if err := g.Know(q, given); err != nil {
			challenge := `Bearer realm="aeon"`
			if _, has := gate.Bearer(given); has {
				challenge += `, error="invalid_token"`
			}
			w.Header().Set("WWW-Authenticate", challenge)
			g.Counts.HTTP(Fail(w, err))
			return
		}
		next(w, r, q.By)
	}
}
