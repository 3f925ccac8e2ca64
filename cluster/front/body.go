package front

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// resendMax is how many bytes of arguments are kept so that a request can be sent again.
const resendMax = 1 << 20

// keptMax is how many bytes of arguments are kept, of all requests together.
const keptMax = gate.BodiesMaxDefault

// keeping is what the front keeps of one request.
type keeping struct {
	of    *Front
	from  gate.Source
	bytes int64 // that it takes
}

// http reads the arguments of a request that may be sent again; again reports whether it may. Others are left as they are. The error is a refusal.
func (k *keeping) http(r *http.Request) (body []byte, again bool, err error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil, true, nil
	}
	if r.Body == nil || r.ContentLength > resendMax {
		return nil, false, nil
	}
	body, whole, err := k.read(r, resendMax)
	return body, whole && r.Header.Get(keyHeader) != "", err
}

// read reads the body of a request, if that has no more than max bytes. Else it is left to the handler, which finds what is wrong with it. The error is a
// refusal.
func (k *keeping) read(r *http.Request, max int64) (body []byte, whole bool, refused error) {
	body, err := io.ReadAll(io.LimitReader(counted{r.Body, k}, max+1))
	full, is := errors.AsType[*door.Refusal](err)
	switch {
	case is:
		return nil, false, full
	case err != nil:
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		return nil, false, nil
	case int64(len(body)) > max:
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
		return nil, false, nil
	}
	return body, true, nil
}

// end gives back the room of what was kept.
func (k *keeping) end() { k.of.kept.Give(k.from, k.bytes) }

// counted is a body that is being kept. It takes the room of what has arrived: what is announced alone takes none from others.
type counted struct {
	io.Reader
	by *keeping
}

// Read implements io.Reader.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.by.bytes += int64(n)
	if full := c.by.of.kept.Take(c.by.from, int64(n), keptMax, door.EachOf(keptMax, resendMax)); full != nil {
		return n, full
	}
	return n, err
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// load gives a request its body for one sending: what is kept of it, or else rest. Caller calls intact when that has ended: it reports whether the next
// sending finds the same body.
func load(r *http.Request, kept []byte, rest io.ReadCloser) (intact func() bool) {
	switch {
	case kept != nil:
		r.Body = io.NopCloser(bytes.NewReader(kept))
	case rest != nil && rest != http.NoBody: // which net/http knows by its value
		b := &passing{from: rest, stream: r.ProtoMajor == 2}
		r.Body = b
		return b.end
	}
	return func() bool { return true }
}

// passing is a body that is not kept, for one sending. The connection to another node may read it after the sending has ended, and finds nothing then: what it
// read would be missing in the next one.
type passing struct {
	from   io.ReadCloser
	stream bool // of HTTP/2: closing it ends a read
	state  atomic.Int32
}

// The states of a body that is not kept.
const (
	untouched = iota
	touched
	closed // and it was untouched
)

var errEnded = errors.New("the request goes elsewhere")

// Read implements io.Reader.
func (b *passing) Read(p []byte) (int, error) {
	if b.state.CompareAndSwap(untouched, touched); b.state.Load() == closed {
		return 0, errEnded
	}
	return b.from.Read(p)
}

// Close ends a read: the node that is read for may have ended its answer, though the client keeps its side open. What was not touched
// stays as it is, as the next sending may need it; and HTTP/1 would wait for the read.
func (b *passing) Close() error {
	if b.stream && b.state.Load() == touched {
		return b.from.Close()
	}
	return nil
}

// end ends the sending, and reports whether nothing has read the body.
func (b *passing) end() bool { return b.state.Swap(closed) == untouched }
