package front

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/event"
)

// GRPC is what a front needs to take requests by gRPC. To the front they are requests by HTTP/2, whose failures are written otherwise.
type GRPC struct {
	// Fail answers a request with a failure, and returns the code of the answer. It says in the headers of httpdoor, too, what has happened.
	Fail func(w http.ResponseWriter, err error) (code uint32)
	// Reads reports whether the method at a path reads alone, so that it may be performed twice.
	Reads func(path string) bool
	// Store is Config.Store for the method at a path and the message that it is called with, nil if that has not been read.
	Store func(path string, message []byte) event.StoreID
}

const (
	timeoutHeader = "Grpc-Timeout"
	statusHeader  = "Grpc-Status"
	// ownServices is how the paths of gRPC's own services begin. Streams of them may go both ways, so their requests have no end to wait for.
	ownServices = "/grpc."
	// healthService is how those begin that ask for the health of the program, which is told without a token.
	healthService = ownServices + "health.v1.Health/"
	// ownMax is how many bytes of a message to one of these are kept. It names a service; and one about the health needs no token.
	ownMax = 1 << 10
	// frameHead is what a message of gRPC has in front.
	frameHead = 5
)

// IsOwn reports whether the path of a method is of one of gRPC's own services.
func IsOwn(path string) bool { return strings.HasPrefix(path, ownServices) }

// isGRPC reports whether the front takes a request as one by gRPC.
func (f *Front) isGRPC(r *http.Request) bool { return f.cfg.GRPC != nil && isGRPC(r) }

func isGRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// callerOf returns the caller of a request by gRPC. The error refuses it.
func (f *Front) callerOf(r *http.Request) (*access.Caller, error) {
	if strings.HasPrefix(r.URL.Path, healthService) {
		return access.Anyone, nil
	}
	q := &gate.Request{Remote: r.RemoteAddr, Once: r.Header.Get(keyHeader)}
	q.Class, q.Method, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	err := f.cfg.Gate.Know(q, r.Header.Values("Authorization"))
	return q.By, err
}

// messageIn returns the message of a request by gRPC, nil if its body has none that can be read.
func messageIn(body []byte) []byte {
	if len(body) < frameHead || body[0] != 0 { // compressed: no server of programs takes that
		return nil
	}
	return body[frameHead:]
}

// grpc is http of a request by gRPC.
func (k *keeping) grpc(r *http.Request) (body []byte, again bool, err error) {
	reads, most := k.of.cfg.GRPC.Reads(r.URL.Path), int64(resendMax+frameHead)
	switch {
	case IsOwn(r.URL.Path) && !reads:
		return nil, false, nil
	case IsOwn(r.URL.Path):
		most = ownMax
	}
	body, whole, err := k.read(r, most)
	return body, whole && (reads || r.Header.Get(keyHeader) != ""), err
}

// deadlineOf returns when a request by gRPC is to have been answered; the zero time: it does not say.
func deadlineOf(r *http.Request) time.Time {
	text := r.Header.Get(timeoutHeader)
	if text == "" {
		return time.Time{}
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	unit := timeoutUnits[text[len(text)-1]]
	if err != nil || n < 0 || unit == 0 || n > timeoutMax {
		return time.Time{} // the server refuses it
	}
	if n > int64(100*365*24*time.Hour/unit) {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(n) * unit)
}

// timeoutMax is the largest number of units.
const timeoutMax = 99_999_999

var timeoutUnits = map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}

// earlyMax is how long before its deadline a call is answered that no system has taken: its client still hears that it has not happened, over a network
// whose round trips take that long, or on a machine that is busy. What has less left, as the last tries of a client have, is answered at once.
const earlyMax = 250 * time.Millisecond

// early returns how long a call may wait for a system that has so much time.
func early(left time.Duration) time.Duration { return max(left-earlyMax, 0) }

// setDeadline has a request say how much is left of its time, which passes while it waits for a system; no time is set if deadline is the zero time.
func setDeadline(r *http.Request, deadline time.Time) {
	if deadline.IsZero() {
		return
	}
	left := max(time.Until(deadline), 0)
	n, unit := left.Microseconds(), "u"
	if n > timeoutMax {
		n, unit = left.Milliseconds(), "m"
	}
	if n > timeoutMax {
		n, unit = int64(left.Seconds()), "S"
	}
	r.Header.Set(timeoutHeader, strconv.FormatInt(n, 10)+unit)
}
