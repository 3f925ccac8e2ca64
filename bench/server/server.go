// Package server starts database servers for one run of the benchmarks, each with a data
// directory of its own, which only it uses, and reachable through a socket in it. It also
// starts other nodes, which are parts of this program.
package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Server is a running server. Its methods may be called from any goroutine.
type Server struct {
	// Socket is the directory of its socket, or the socket itself; of a part its address.
	Socket string
	// Version is what the program says of itself.
	Version string

	standby     *Server // nil: there is none
	connections int

	cmd    *exec.Cmd
	log    bytes.Buffer
	signal syscall.Signal // asks it to stop at once
	once   sync.Once
	ending atomic.Bool
	exited chan struct{}
	failed error
}

// ErrStart is wrapped by every error of a server that is installed and does not start.
var ErrStart = errors.New("the server does not start")

const (
	startMax = 30 * time.Second
	stopMax  = 20 * time.Second
)

// start runs cmd until Stop, or until this process ends: the servers of a benchmark that
// is killed go with it.
func (s *Server) start(cmd *exec.Cmd) error {
	s.cmd, s.exited = cmd, make(chan struct{})
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	cmd.WaitDelay = time.Second
	dieWithParent(cmd.SysProcAttr, s.signal)
	started := make(chan error)
	go func() {
		// The child dies with the thread that has started it, so the thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			s.failed = cmd.Wait()
			close(s.exited)
		}
	}()
	return <-started
}

// await calls ready until it succeeds; it gives up when the server has ended, or has taken
// too long.
func (s *Server) await(ready func() error) error {
	deadline := time.After(startMax)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("%w: %w\n%s", ErrStart, s.failed, s.log.Bytes())
		case <-deadline:
			s.Stop()
			return fmt.Errorf("%w within %v: %w", ErrStart, startMax, err)
		case <-tick.C:
		}
	}
}

// Stop ends the server and waits until it has ended.
func (s *Server) Stop() {
	s.once.Do(func() {
		s.ending.Store(true)
		s.cmd.Process.Signal(s.signal)
		select {
		case <-s.exited:
		case <-time.After(stopMax):
			s.cmd.Process.Kill()
			<-s.exited
		}
	})
}

// account is the user that a server runs as: databases refuse to be run by root.
type account struct {
	uid, gid int
	root     bool // this process is root, and has to hand over
}

// unprivileged returns the user for a server: the one of this process, or if that is root
// the first of the given names that exists.
func unprivileged(names ...string) (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return account{}, err
		}
		return account{uid, gid, true}, nil
	}
	return account{}, fmt.Errorf("none of the users %v exists to run a server", names)
}

// command returns a command that runs as the account, in dir.
func (a account) command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	// A session of its own keeps Ctrl-C away from it: the benchmark stops it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if a.root {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd
}

// mkdir makes a directory that the account owns and no other user can read.
func (a account) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if a.root {
		return os.Chown(dir, a.uid, a.gid)
	}
	return nil
}

// find returns the last of the files that match the patterns, or what the path has.
func find(program string, patterns ...string) (string, bool) {
	for _, p := range patterns {
		if found, _ := filepath.Glob(p); len(found) > 0 {
			return found[len(found)-1], true
		}
	}
	path, err := exec.LookPath(program)
	return path, err == nil
}
