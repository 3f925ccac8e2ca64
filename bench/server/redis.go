package server

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// RedisMissing says what to install.
const RedisMissing = "not installed: apt-get install redis-server"

// RedisInstalled reports whether there is a Redis to start.
func RedisInstalled() bool {
	_, ok := find("redis-server")
	return ok
}

// Redis serves a new directory dir with an append-only file that is synced as fsync says:
// "always" or "everysec". Socket is the socket.
func Redis(dir, fsync string) (*Server, error) {
	program, ok := find("redis-server")
	if !ok {
		return nil, fmt.Errorf("redis: %s", RedisMissing)
	}
	acc, err := unprivileged("redis", "nobody")
	if err != nil {
		return nil, err
	}
	if err := acc.mkdir(dir); err != nil {
		return nil, err
	}
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	s := &Server{Socket: filepath.Join(dir, "socket"), Version: strings.TrimSpace(string(version)), signal: syscall.SIGTERM}
	cmd := acc.command(dir, program, "--port", "0", "--unixsocket", s.Socket, "--unixsocketperm", "700",
		"--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", fsync, "--maxclients", "4096",
		// A rewrite in the middle of a round would be a matter of luck.
		"--auto-aof-rewrite-percentage", "0")
	if err := s.start(cmd); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	return s, s.await(func() error {
		c, err := net.Dial("unix", s.Socket)
		if err != nil {
			return err
		}
		return c.Close()
	})
}
