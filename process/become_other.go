//go:build !unix

package process

import (
	"os"
	"os/exec"
	"os/signal"
)

// Become runs a program as if it stood in this process's place, which this system has no other
// way to do, and returns its exit code. An interrupt ends the program: the console sends it to all that
// share it.
func Become(path string, args ...string) (code int, err error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // nobody reads them: so they do not end this process
	defer signal.Stop(interrupts)
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return exitCode(cmd.Run())
}
