package httpdoor

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
)

// The codes of requests that are refused before their arguments are read: for want of a token or of a right; and of those whose
// arguments are too large.
const (
	CodeUnknown   = "unauthenticated"
	CodeForbidden = "forbidden"
	CodeTooLarge  = "too-large"
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

// known hands on requests with their callers. Those without a token that is known are refused, if tokens are asked for.
func (s *Server) known(next func(http.ResponseWriter, *http.Request, *access.Caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := requestOf(r, nil)
		given := r.Header.Values("Authorization")
		if err := s.Know(q, given); err != nil {
			challenge := `Bearer realm="aeon"`
			if _, has := bearer(given); has {
				challenge += `, error="invalid_token"`
			}
			w.Header().Set("WWW-Authenticate", challenge)
			s.fail(w, err)
			return
		}
		next(w, r, q.By)
	}
}

// Know finds out which caller has sent a request, by the values of its header Authorization. The error says that it has no
// token that is known, where tokens are asked for; the audit has a line of that.
func (s *Server) Know(q *Request, authorization []string) error {
	q.By = access.Anyone
	if s.cfg.Tokens == nil {
		return nil
	}
	reason := "the request has no token; send it as Authorization: Bearer TOKEN"
	if token, ok := bearer(authorization); ok {
		if by := s.cfg.Tokens.Find(token); by != nil {
			q.By = by
			return nil
		}
		reason = "the token of the request is not known here"
	}
	return s.account(q, time.Now(), refuse(http.StatusUnauthorized, CodeUnknown, "%s", reason))
}

// bearer returns the token of a request that has one.
func bearer(authorization []string) (token string, ok bool) {
	if len(authorization) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(authorization[0], " ")
	return strings.TrimLeft(token, " "), ok && strings.EqualFold(scheme, "Bearer")
}

// accountable reports whether a call that has ended so has a line of the audit.
func accountable(c *door.Call, err error) bool {
	if c.Method != nil {
		return !c.Method.ReadOnly
	}
	_, f := explain(err)
	return f.Code == CodeForbidden
}

// account writes the line of a request that has ended so, if there is an audit, and returns what the request is answered.
// Without its line no answer leaves that says how the request has ended, and the program is to end.
func (s *Server) account(q *Request, began time.Time, ended error) error {
	if s.cfg.Audit == nil {
		return ended
	}
	e := audit.Entry{
		Time: began.UTC(), Token: q.By.Name, Remote: q.Remote, Outcome: audit.Done, Once: q.Once != "",
		Class: bytejson.Text(q.Class), Key: bytejson.Text(q.Key), Method: bytejson.Text(q.Method),
	}
	happened := door.Unknown
	if ended != nil {
		_, f := explain(ended)
		e.Outcome, happened = f.Code, f.Happened
	}
	e.Took = float64(time.Since(began).Nanoseconds()) / 1e6 // a refusal takes less than a microsecond
	if err := s.cfg.Audit.Append(&e); err != nil {
		s.cfg.Fail(err)
		return unaccounted(happened)
	}
	return ended
}

// unaccounted is the failure of a call that the audit cannot take.
func unaccounted(happened door.Happened) error {
	code := door.Closing
	if happened == door.Unknown {
		code = door.NoOutcome
	}
	return &refusal{http.StatusServiceUnavailable, door.Failure{Code: code, Happened: happened, Later: true, Msg: "the audit cannot be written, and the program is ending"}}
}
