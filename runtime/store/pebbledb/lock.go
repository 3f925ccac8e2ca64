package pebbledb

import (
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// lockDir takes the directory for this process.
func lockDir(fs vfs.FS, dir string) (io.Closer, error) {
	path := fs.PathJoin(dir, lockName)
	if fs == vfs.Default {
		return lockFile(dir, path)
	}
	l, err := fs.Lock(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", &InUseError{Dir: dir}, err)
	}
	return l, nil
}
