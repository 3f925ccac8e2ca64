package pebbledb

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// lockDir takes the directory for this process alone, or, if look is set, together with other
// readers.
func lockDir(fs vfs.FS, dir string, look bool) (io.Closer, error) {
	path := fs.PathJoin(dir, lockName)
	if vfs.Root(fs) == vfs.Default {
		if look {
			return shareFile(dir, path)
		}
		return lockFile(dir, path)
	}
	l, err := fs.Lock(path)
	if ofSystem(err) && !errors.Is(err, syscall.EAGAIN) { // which a file system in memory says of a lock that is held
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", &InUseError{Dir: dir}, err)
	}
	return l, nil
}

// unlocked is the lock of what needs none: no process can write to the directory, or another lock guards it.
type unlocked struct{}

// Close implements io.Closer.
func (unlocked) Close() error { return nil }
