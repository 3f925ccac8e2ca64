package httpdoor

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
)

// jsonType is the value of the header that says what arguments and answers are, which they share.
var jsonType = []string{"application/json"}

// heldBody is a body of which as much is held as has arrived: what is announced takes no room from other calls.
type heldBody struct {
	io.ReadCloser
	by *gate.Gate
	of *gate.Request
}

// Read implements io.Reader. Its error may be a refusal.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if full := b.by.Hold(b.of, int64(n)); full != nil {
		return n, full
	}
	return n, err
}

// body reads the arguments of a POST.
func (s *Server) body(w http.ResponseWriter, r *http.Request, params *jsoncodec.Params, by *access.Caller) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.BodyMax))
	if large, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, door.Refuse(door.TooLarge, "the body has more than %d bytes", large.Limit)
	}
	if refused, is := errors.AsType[*door.Refusal](err); is {
		return nil, refused
	}
	if err != nil {
		return nil, door.Refuse(door.BadArgs, "the body cannot be read: %v", err)
	}
	if kind := r.Header.Get("Content-Type"); kind != jsonType[0] && (kind != "" || len(body) > 0) {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != jsonType[0] {
			return nil, door.Refuse(codeMedia, "the body is %q; arguments are application/json", kind)
		}
	}
	return params.Read(body, s.Door.Names(r.Context(), by.Name))
}
