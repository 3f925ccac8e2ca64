// Package client calls the actors of a program from outside, by HTTP (docs/http.md), at whichever of its nodes answers.
//
//	bank, err := client.New(client.Config{URLs: []string{"https://a.example:8443", "https://b.example:8443"}, Token: token})
//	err = bank.Call(ctx, "Bank/main", "open", map[string]any{"owner": "ann", "deposit": 10}, nil)
//	var balance int
//	err = bank.Read(ctx, "Bank/main", "balance", map[string]any{"owner": "ann"}, &balance)
//
// A call has a key, and takes effect once, however often it is sent. While no node answers it is sent again, to one node after the other, until its
// context ends. Then its error is ErrUnavailable if it has surely not happened, and else ErrUnknown.
//
// Package grpcclient does the same by gRPC, below the code that protoc generates.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Config says which program is called.
type Config struct {
	URLs  []string     // of its nodes: http:// or https:// and HOST:PORT. A program alone has one
	Token string       // of the caller; "": the program asks for none
	HTTP  *http.Client // which sends the requests; nil: one with the settings of Go, which leaves a connection by HTTP/2 that is silent; or with http.DefaultTransport, if that is no *http.Transport
}

// With TLS all calls to a node share a connection by HTTP/2. One that the network has cut without a word is silent for a quarter of an hour, as TCP sends again
// what was lost ever more rarely: each call would wait behind it. So one that is silent is asked whether it is there, and another one is made. By HTTP/1.1 a
// call that is given up takes its connection with it.
const (
	pingAfter = 5 * time.Second
	pingMax   = 5 * time.Second
)

// Client calls the actors of one program. Any goroutine may use it.
type Client struct {
	urls  []string
	token string
	http  *http.Client
	nodes Nodes
}

// New returns a client. It connects when it is used.
func New(cfg Config) (*Client, error) {
	c := &Client{token: cfg.Token, http: cfg.HTTP, nodes: Nodes{Count: len(cfg.URLs)}}
	if len(cfg.URLs) == 0 {
		return nil, errors.New("a client needs the URL of the program")
	}
	for _, text := range cfg.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%q is no URL of a program; write http://HOST:PORT, or https://HOST:PORT", text)
		}
		c.urls = append(c.urls, strings.TrimRight(text, "/"))
	}
	if hasControl(c.token) { // not shown: it is secret
		return nil, errors.New("the token has a control character, which no header carries; leave out the end of the line if it is from a file")
	}
	if c.http == nil {
		c.http = new(http.Client)
		if of, is := http.DefaultTransport.(*http.Transport); is { // else the program has put another one there
			of = of.Clone()
			of.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingMax}
			c.http.Transport = of
		}
	}
	return c, nil
}

// Option says how a call is performed.
type Option func(*request)

// Key names a call: one that comes again with its key, to the same actor, gets the first outcome. Without it each call has a key of its own. A key is
// kept for a day at least.
func Key(key string) Option {
	return func(r *request) { r.head.Set("Idempotency-Key", key) }
}

// Call calls a method of an actor, which is written Class/name or Class:id. args are written as JSON: an object of the parameters by their names; nil:
// there are none; a json.RawMessage is sent as it is. The result is read from JSON into result, unless that is nil. If ctx has no deadline the call ends within TimeMax. The error is an
// *Error if the call was sent.
func (c *Client) Call(ctx context.Context, actor, method string, args, result any, opts ...Option) error {
	r, err := newRequest(http.MethodPost, actor, method)
	if err != nil {
		return err
	}
	if args != nil {
		if raw, is := args.(json.RawMessage); is {
			r.body = raw
		} else if r.body, err = json.Marshal(args); err != nil {
			return fmt.Errorf("the arguments of %s.%s: %w", actor, method, err)
		}
		r.head.Set("Content-Type", "application/json")
	}
	r.head.Set("Idempotency-Key", rand.Text())
	for _, o := range opts {
		o(r)
	}
	if key := r.head.Get("Idempotency-Key"); hasControl(key) {
		return fmt.Errorf("the key %q has a control character, which no header carries; choose one without", key)
	}
	return c.perform(ctx, r, result)
}

// hasControl reports whether a text has a character that the value of a header must not have.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// queryMax is how many bytes a path with its query has at most: a program takes a head of 32 KiB, and what stands between often 8 KiB. By HTTP/2 a head
// that is longer ends the connection, which says nothing of the request.
const queryMax = 4 << 10

// Read is Call of a method that is ro, which needs no key.
func (c *Client) Read(ctx context.Context, actor, method string, args, result any) error {
	r, err := newRequest(http.MethodGet, actor, method)
	if err != nil {
		return err
	}
	bare := r.path
	if r.path, err = withQuery(bare, args); err == nil && len(r.path) > queryMax && r.path != bare {
		r.method, r.path = http.MethodPost, bare
		r.body, err = json.Marshal(args)
		r.head.Set("Content-Type", "application/json")
	}
	if err != nil {
		return fmt.Errorf("the arguments of %s.%s: %w", actor, method, err)
	}
	return c.perform(ctx, r, result)
}

// request is a call as it is sent.
type request struct {
	method, path string
	head         http.Header
	body         []byte
}

func newRequest(method, actor, of string) (*request, error) {
	class, key, named := strings.Cut(actor, "/")
	if !named {
		class, key, named = strings.Cut(actor, ":")
		key = ":" + key
	}
	if !named || class == "" || key == "" || key == ":" || of == "" {
		return nil, fmt.Errorf("%q is no actor; write Class/name, or Class:id", actor)
	}
	path := "/v1/" + segment(class) + "/" + segment(key) + "/" + segment(of)
	return &request{method: method, path: path, head: http.Header{}}, nil
}

// segment escapes a part of a path. One or two dots alone are steps in a path, unless they are escaped: the call would go elsewhere.
func segment(text string) string {
	if text == "." || text == ".." {
		return strings.Repeat("%2E", len(text))
	}
	return url.PathEscape(text)
}

// withQuery returns a path with arguments in its query: strings as they are, and all else as JSON.
func withQuery(path string, args any) (string, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", errors.New("they are no object of the parameters by their names")
	}
	query := url.Values{}
	for name, value := range fields {
		var s string
		switch {
		case string(value) == "null":
		case json.Unmarshal(value, &s) == nil:
			query.Set(name, s)
		default:
			query.Set(name, string(value))
		}
	}
	if len(query) == 0 {
		return path, nil
	}
	return path + "?" + query.Encode(), nil
}

// perform sends a request until it is answered, and reads the result.
func (c *Client) perform(ctx context.Context, r *request, result any) error {
	var body []byte
	ctx, end := limited(ctx)
	defer end()
	err := c.nodes.Try(ctx, true, func(once context.Context, node int) (outcome Outcome, err error) {
		body, outcome, err = c.send(ctx, once, node, r)
		return outcome, err
	})
	if err != nil || result == nil || len(body) == 0 {
		return err
	}
	if raw, is := result.(*json.RawMessage); is {
		*raw = body
		return nil
	}
	if err := json.Unmarshal(body, result); err != nil {
		return &Error{Code: "result", Msg: "the result cannot be read: " + err.Error(), Happened: Yes, cause: err}
	}
	return nil
}

// send sends a request to a node, once. Its answer begins before once ends, and then comes without a long pause until ctx ends.
func (c *Client) send(ctx, once context.Context, node int, r *request) (body []byte, outcome Outcome, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	unanswered := context.AfterFunc(once, func() { stop(context.Cause(once)) })
	defer unanswered()
	var sent atomic.Int64  // how often the node may have got it, as package http sends it again by itself; the trace is called by other goroutines
	var traced atomic.Bool // else the transport is one that does not tell
	trace := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: func(string) { traced.Store(true) }, GotConn: func(httptrace.GotConnInfo) { sent.Add(1) }})
	q, err := http.NewRequestWithContext(trace, r.method, c.urls[node]+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, Answered, err
	}
	for name, values := range r.head {
		q.Header[name] = values
	}
	if deadline, has := once.Deadline(); has { // a node that knows of no leader says so before
		q.Header.Set("Prefer", "wait="+strconv.Itoa(max(0, int(time.Until(deadline).Seconds()))))
	}
	if c.token != "" {
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(q)
	if err != nil {
		if of, is := errors.AsType[*url.Error](err); is {
			of.URL, _, _ = strings.Cut(of.URL, "?") // arguments are for no log
			if ctx.Err() != nil {
				of.Err = context.Cause(ctx)
			}
		}
		if sent.Load() > 0 {
			return nil, MaybeDone, err
		}
		if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
			return nil, Untrusted, err
		}
		if !traced.Load() {
			return nil, MaybeDone, err
		}
		return nil, NotDone, err
	}
	defer answer.Body.Close()
	unanswered()
	silent := time.AfterFunc(sendMax, func() { stop(errSilent) })
	defer silent.Stop()
	if body, err = io.ReadAll(&steady{answer.Body, silent}); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, MaybeDone, err
	}
	switch {
	case isResult(answer, r):
		return body, Answered, nil
	case answer.StatusCode < http.StatusBadRequest:
		said := fmt.Sprintf("the answer is none of the program; its status is %s, its type %q", answer.Status, answer.Header.Get("Content-Type"))
		return nil, Answered, &Error{Code: NoOutcome, Msg: said, Happened: Unknown}
	}
	failure := problem(q.URL, answer.StatusCode, body)
	if sent.Load() > 1 {
		failure = failure.behindMaybe()
	}
	return nil, outcomeOf(answer.StatusCode, failure), failure
}

// steady reads what comes before a timer ends, which begins anew whenever something has come.
type steady struct {
	io.Reader
	silent *time.Timer
}

func (s *steady) Read(b []byte) (n int, err error) {
	if n, err = s.Reader.Read(b); n > 0 {
		s.silent.Reset(sendMax)
	}
	return n, err
}

var errSilent = fmt.Errorf("nothing more of the answer has come for %v", sendMax)

// isResult reports whether the program has answered that it has performed a request. What stands between answers with pages: it redirects to one for
// logging in, say. A redirect may also have made of a POST a GET, which has lost the arguments.
func isResult(answer *http.Response, r *request) bool {
	if of := answer.Request; of != nil && of.Method != r.method { // nil: the transport is none of package http
		return false
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return answer.StatusCode == http.StatusNoContent || answer.StatusCode == http.StatusOK && err == nil && kind == "application/json"
}

// toTLS is what servers of Go answer to a request without TLS where they expect it.
const toTLS = "Client sent an HTTP request to an HTTPS server."

// problem reads a failure as RFC 9457 has it, which is the answer of a URL.
func problem(of *url.URL, status int, body []byte) *Error {
	var p struct {
		Code, Detail, At string
		Happened         Happened
		Path             []string
	}
	if err := json.Unmarshal(body, &p); err != nil || p.Code == "" { // what stands between has answered, or a server that expects TLS
		e := &Error{Code: NoOutcome, Msg: fmt.Sprintf("the answer of %s://%s is none of the program; its status is %d %s", of.Scheme, of.Host, status, http.StatusText(status)), Happened: Unknown}
		if status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusRequestTimeout {
			e.Code, e.Happened = Unavailable, No // it has refused the request, and handed nothing on
			if e.Msg += ": is that the address of the program?"; of.Scheme == "http" && strings.TrimSpace(string(body)) == toTLS {
				e.Msg = fmt.Sprintf("http://%s expects TLS: write https://%[1]s", of.Host)
			}
		}
		return e
	}
	return &Error{Code: p.Code, Msg: p.Detail, Happened: p.Happened, At: p.At, Path: p.Path, outcome: status == http.StatusUnprocessableEntity}
}

// outcomeOf says what is certain of a request by its failure. What stands between answers with 502 and 504.
func outcomeOf(status int, failure *Error) Outcome {
	switch {
	case status != http.StatusServiceUnavailable && status != http.StatusBadGateway && status != http.StatusGatewayTimeout:
		return Answered
	case failure.Happened == No:
		return NotDone
	}
	return MaybeDone
}
