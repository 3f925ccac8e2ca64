package server

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
)

// The environment of a process that Again has started.
const (
	partVariable    = "AEON_BENCH_PART"
	dirVariable     = "AEON_BENCH_DIR"
	profileVariable = "AEON_BENCH_PROFILE"
)

// addressFile is written by a part when it serves.
const addressFile = "address"

// Part is what this program is when it is run again: it serves at an address until close.
type Part func(dir string) (address string, close func() error, err error)

// Again runs this program once more, as a part of that name, with a directory that is there. Its Socket is the address of the part.
// profile is where it writes a CPU profile to; it may be empty.
func Again(part, dir, profile string) (*Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), partVariable+"="+part, dirVariable+"="+dir, profileVariable+"="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for the benchmark, which stops it
	file := filepath.Join(dir, addressFile)
	if err := os.RemoveAll(file); err != nil {
		return nil, err
	}
	s := &Server{signal: syscall.SIGTERM}
	if err := s.start(cmd); err != nil {
		return nil, err
	}
	err = s.await(func() error {
		text, err := os.ReadFile(file)
		s.Socket = string(text)
		return err
	})
	if err == nil {
		go s.watch(part)
	}
	return s, err
}

// watch ends this process if the part ends by itself: what is measured would wait for it for ever.
func (s *Server) watch(part string) {
	<-s.exited
	if !s.ending.Load() {
		panic(fmt.Sprintf("%s has ended: %v\n%s", part, s.failed, s.log.Bytes()))
	}
}

// IsPart runs the part as which Again has started this process, until it is told to stop, and reports whether it is one.
func IsPart(parts map[string]Part) (is bool, err error) {
	name, is := os.LookupEnv(partVariable)
	if !is {
		return false, nil
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if file := os.Getenv(profileVariable); file != "" {
		out, err := os.Create(file)
		if err != nil {
			return true, err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return true, err
		}
		defer pprof.StopCPUProfile()
	}
	open := parts[name]
	if open == nil {
		return true, fmt.Errorf("there is no part %q", name)
	}
	dir := os.Getenv(dirVariable)
	address, close, err := open(dir)
	if err != nil {
		return true, fmt.Errorf("%s: %w", name, err)
	}
	// It is renamed, so that it is never read in part.
	draft := filepath.Join(dir, strings.ToUpper(addressFile))
	if err := os.WriteFile(draft, []byte(address), 0o600); err != nil {
		return true, err
	}
	if err := os.Rename(draft, filepath.Join(dir, addressFile)); err != nil {
		return true, err
	}
	<-stop
	return true, close()
}
