//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package pebbledb

import (
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// lockFile locks the file at path.
func lockFile(dir, path string) (io.Closer, error) {
	l, err := vfs.Default.Lock(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", &InUseError{Dir: dir}, err)
	}
	return l, nil
}

// shareFile locks the file at path: here there is no lock that several have.
func shareFile(dir, path string) (io.Closer, error) { return lockFile(dir, path) }
