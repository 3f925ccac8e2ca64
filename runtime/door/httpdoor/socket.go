package httpdoor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
)

// SocketName is the name of the socket in a data directory over which the process that uses the directory can be asked.
const SocketName = "control.sock"

// socketMode lets only the user that runs the program, and root, connect.
const socketMode = 0o600

// ListenIn serves a program over a socket in its data directory (SocketIn).
func ListenIn(dir string, cfg Config) (*Server, error) {
	l, err := SocketIn(dir)
	if err != nil {
		return nil, err
	}
	return serve(l, cfg), nil
}

// SocketIn listens on a socket in a data directory, which this process has locked. A socket that is there is of a process that has died, and
// is replaced.
func SocketIn(dir string) (net.Listener, error) {
	path, err := socketIn(dir)
	if err != nil {
		return nil, err
	}
	switch at, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case at.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is no socket; move it to another directory", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	private := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { restrict(fd, socketMode) })
	}}
	l, err := private.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// ClientOf returns a client of the process that uses a data directory. Its requests go to http://localhost, wherever they are
// sent. The errors of a request wrap syscall.ECONNREFUSED or fs.ErrNotExist if no process listens there.
func ClientOf(dir string) (*http.Client, error) {
	path, err := socketIn(dir)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}, nil
}

// socketPathMax is how many bytes the path of a socket may have, by the smallest limit of all systems.
const socketPathMax = 103

// socketIn returns the path of the socket in a directory: that behind the working directory if only this is short enough.
func socketIn(dir string) (string, error) {
	path := filepath.Join(dir, SocketName)
	if len(path) <= socketPathMax {
		return path, nil
	}
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, path); err == nil && len(short) <= socketPathMax {
			return short, nil
		}
	}
	return "", fmt.Errorf("the path of a socket has at most %d bytes, and %s has %d; name the directory by a symbolic link with a shorter path", socketPathMax, path, len(path))
}
