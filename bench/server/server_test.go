package server

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell starts a shell with a script as a server would be started.
func shell(t *testing.T, script string) *Server {
	t.Helper()
	acc, err := unprivileged("nobody")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{signal: syscall.SIGTERM}
	if err := s.start(acc.command("/", "/bin/sh", "-c", script)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestServerThatEndsSaysWhy(t *testing.T) {
	s := shell(t, "echo the disk is on fire; exit 3")
	err := s.await(func() error { return errors.New("not ready") })
	if !errors.Is(err, ErrStart) || !strings.Contains(err.Error(), "the disk is on fire") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	s.Stop() // of one that has ended: returns
}

func TestStopEndsTheServer(t *testing.T) {
	s := shell(t, "exec sleep 600")
	if err := s.await(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s.Stop()
	select {
	case <-s.exited:
	default:
		t.Error("Stop has returned before the server ended")
	}
	if took := time.Since(start); took >= stopMax {
		t.Errorf("it had to be killed after %v", took)
	}
}
