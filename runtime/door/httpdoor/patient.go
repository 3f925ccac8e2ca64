package httpdoor

import (
	"errors"
	"net/http"
	"time"
)

// patient writes an answer of any length to a client that goes on taking it.
type patient struct {
	w     http.ResponseWriter
	begun bool
}

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	p.begun = true
	if err := http.NewResponseController(p.w).SetWriteDeadline(time.Now().Add(bodyTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.w.Write(b)
}

// outBytes is how much of an answer is collected before it is sent.
const outBytes = 32 << 10
