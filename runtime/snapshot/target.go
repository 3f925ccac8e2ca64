package snapshot

import (
	"context"
	"fmt"
	"io"
)

// Target is where snapshots are kept. Names are slash-separated. All methods may be called
// from any goroutine.
type Target interface {
	// Put stores the size bytes of r under name, whole or not at all. What had the name is
	// replaced.
	Put(ctx context.Context, name string, r io.Reader, size int64) error
	// Get returns the content of name; the error is fs.ErrNotExist if there is none, and fs.ErrPermission if this process may not read it.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the names that begin with prefix, ascending, with the sizes of the content.
	List(ctx context.Context, prefix string) ([]Entry, error)
	// Delete removes names, which have gone for good when it returns; it is no error if there is none of a name.
	Delete(ctx context.Context, names ...string) error
	// String names the target to users.
	String() string
}

// AwayError says that the place at an address does not answer now. It may later, by the target that comes with the error.
type AwayError struct {
	Address string
	Cause   error
}

// Error implements error.
func (e *AwayError) Error() string {
	return fmt.Sprintf("%s does not answer: %v; try again, or name another place", e.Address, e.Cause)
}

// Unwrap returns why.
func (e *AwayError) Unwrap() error { return e.Cause }

// Entry is what a Target has under a name.
type Entry struct {
	Name string
	Size int64
}

// contextReader ends with the context's error once that is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
