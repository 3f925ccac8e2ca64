package gate

import (
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
)

// Know finds out which caller has sent a request, by the values of its header Authorization. The error says that it has no
// token that is known, where tokens are asked for; the audit has a line of that.
func (g *Gate) Know(q *Request, authorization []string) error {
	q.By = access.Anyone
	if g.Tokens == nil {
		return nil
	}
	reason := "the request has no token; send it as Authorization: Bearer TOKEN"
	if token, ok := Bearer(authorization); ok {
		if by := g.Tokens.Find(token); by != nil {
			q.By = by
			return nil
		}
		reason = "the token of the request is not known here"
	}
	return g.Account(q, time.Now(), door.Refuse(door.Unauthenticated, "%s", reason))
}

// Bearer returns the token in the values of a header Authorization.
func Bearer(authorization []string) (token string, ok bool) {
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
	return door.Explain(err).Code == door.Forbidden
}

// Account writes the line of a request that has ended so, if there is an audit, and returns what the request is answered.
// Without its line no answer leaves that says how the request has ended, and the program is to end.
func (g *Gate) Account(q *Request, began time.Time, ended error) error {
	if g.Audit == nil {
		return ended
	}
	e := audit.Entry{
		Time: began.UTC(), Token: q.By.Name, Remote: q.Remote, Outcome: audit.Done, Once: q.Once != "",
		Class: bytejson.Text(q.Class), Key: bytejson.Text(q.Key), Method: bytejson.Text(q.Method),
	}
	happened := door.Unknown
	if ended != nil {
		f := door.Explain(ended)
		e.Outcome, happened = f.Code, f.Happened
	}
	e.Took = float64(time.Since(began).Nanoseconds()) / 1e6 // a refusal takes less than a microsecond
	if err := g.Audit.Append(&e); err != nil {
		g.Fail(err)
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
	return &door.Refusal{Failure: door.Failure{Code: code, Happened: happened, Later: true, Msg: "the audit cannot be written, and the program is ending"}}
}
