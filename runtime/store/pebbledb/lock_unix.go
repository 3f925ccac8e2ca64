//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package pebbledb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockFile locks the file at path and leaves the process's id in it. The system
// releases the lock when the process ends, however it does.
func lockFile(dir, path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		return nil, refused(dir, f, err)
	}
	there, err := isAt(f, path)
	if err == nil && !there { // the holder has removed it, with what it could not make
		err = &InUseError{Dir: dir}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// isAt reports whether f is still the file at path.
func isAt(f *os.File, path string) (bool, error) {
	there, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(mine, there), err
}

// shareFile locks the file at path together with other readers, and leaves it as it is: a reader may have no
// right to write, or be on a file system that is read-only. On such a file system no process can use a directory
// that has no lock.
func shareFile(dir, path string) (io.Closer, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if errors.Is(err, syscall.EROFS) {
			return unlocked{}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := flock(f, syscall.LOCK_SH); err != nil {
		return nil, refused(dir, f, err)
	}
	return f, nil
}

// refused closes f, which could not be locked, and words why. The id in it is not that of a reader.
func refused(dir string, f *os.File, err error) error {
	defer f.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	used := &InUseError{Dir: dir}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		used.PID = holder(f)
	}
	return used
}

// A process that was killed keeps its locks until the system has dealt with what it was doing,
// a sync of the disk perhaps. A program that is started again at once waits for that.
var lockPatience = 2 * time.Second // tests have less

const lockInterval = 10 * time.Millisecond

// flock locks f as how says, or returns EWOULDBLOCK if another process keeps the lock.
func flock(f *os.File, how int) error {
	for start := time.Now(); ; time.Sleep(lockInterval) {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(start) > lockPatience {
			return err
		}
	}
}

// holder returns the id of the process that has the lock, as it has written it, or 0.
func holder(f *os.File) int {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
