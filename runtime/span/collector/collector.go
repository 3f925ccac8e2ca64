// Package collector sends spans to a collector of OpenTelemetry by HTTP.
package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/runtime/span"
)

const (
	path       = "/v1/traces" // of OTLP by HTTP
	timeMax    = 10 * time.Second
	answerMax  = 64 << 10 // bytes of an answer that are read
	messageMax = 200      // bytes of one that are shown
)

// IsURL reports whether a place for spans is a collector, and not a file.
func IsURL(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// Collector is a span.Sink. Any goroutine may call it.
type Collector struct {
	url     string
	headers http.Header
	client  http.Client
}

// Open returns the collector at a URL, to which the path of traces is appended. It sends the headers that the environment has for exporters.
func Open(place string) (*Collector, error) {
	u, err := url.Parse(place)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("--spans: %q is no URL of a collector, as http://localhost:4318 is", place)
	}
	if !strings.HasSuffix(u.Path, path) {
		u.Path = strings.TrimSuffix(u.Path, "/") + path
	}
	c := &Collector{url: u.String(), headers: http.Header{}}
	list, err := pairs("OTEL_EXPORTER_OTLP_HEADERS")
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(list); i += 2 {
		c.headers.Set(list[i], list[i+1])
	}
	c.headers.Set("Content-Type", "application/json")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns // the parts of a node share it
	c.client = http.Client{
		Timeout:       timeMax,
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close ends the connections.
func (c *Collector) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

// Resource returns the attributes of the program that the environment has for exporters, and its name there, "" if it has none.
func Resource() (service string, attributes []string, err error) {
	attributes, err = pairs("OTEL_RESOURCE_ATTRIBUTES")
	return os.Getenv("OTEL_SERVICE_NAME"), attributes, err
}

// pairs reads a variable of names and values: a=b,c=d, with % before the digits of bytes.
func pairs(variable string) (list []string, err error) {
	for part := range strings.SplitSeq(os.Getenv(variable), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, fmt.Errorf("%s: write NAME=VALUE, and commas between", variable) // a value may be secret
		}
		list = append(list, name, value)
	}
	return list, nil
}

// Export implements span.Sink.
func (c *Collector) Export(ctx context.Context, request []byte) (refused int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(request))
	if err != nil {
		return 0, err
	}
	r.Header = c.headers
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, &span.LaterError{Err: err}
	}
	defer func() { _ = answer.Body.Close() }() // what is left of an answer is of no use
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerMax))
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return refusedOf(body), nil // the spans are there, whatever has become of the answer
	case err != nil:
		return 0, &span.LaterError{Err: err}
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // 0: it has none, or a date
		return 0, &span.LaterError{After: time.Duration(seconds) * time.Second, Err: refusal(answer.Status, body)}
	default:
		return 0, refusal(answer.Status, body)
	}
}

// refusal is the error of a collector that has not taken a request.
func refusal(status string, body []byte) error {
	text := strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), messageMax)]), ""))
	if text == "" {
		return errors.New("the collector answers " + status)
	}
	return fmt.Errorf("the collector answers %s: %s", status, text)
}

// refusedOf returns how many spans an answer says the collector has not taken, though it has taken the request.
func refusedOf(body []byte) int {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage `json:"rejectedSpans"` // a number, or one as a text
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.Trim(string(answer.PartialSuccess.RejectedSpans), `"`)) // 0: it says nothing
	return n
}
