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
	if err := flock(f); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &InUseError{Dir: dir, PID: holder(f)}
		}
		return nil, err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A process that was killed keeps its locks until the system has dealt with what it was doing,
// a sync of the disk perhaps. Whoever starts the program again at once waits for that.
const (
	lockPatience = 2 * time.Second
	lockInterval = 10 * time.Millisecond
)

// flock locks f, or returns EWOULDBLOCK if somebody else goes on having it.
func flock(f *os.File) error {
	for start := time.Now(); ; time.Sleep(lockInterval) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
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
