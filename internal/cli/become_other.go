//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// become runs a program as if it stood in this process's place, which this system has no other
// way to do, and returns its exit code. An interrupt ends the program: the console sends it to all that
// share it.
func become(path string, args ...string) (code int, err error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // what is never received does not end this process
	defer signal.Stop(interrupts)
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	default:
		return 0, err
	}
}
