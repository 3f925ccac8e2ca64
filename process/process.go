// Package process lets a program stand in the place of the tool that starts it: what reaches the
// one reaches the other, and so does how it ends.
package process

import (
	"errors"
	"os/exec"
	"syscall"
)

// signalBase is what shells add to the number of the signal that ended a program.
const signalBase = 128

// exitCode returns how a child has ended: its exit code, or for one that a signal has ended
// 128 and the signal's number. The error says that it could not be started or watched.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 0, err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalBase + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// Interrupted reports whether err, from waiting for a child, says that an interrupt has
// ended it: Ctrl-C at the keyboard reaches the child as well as this process.
func Interrupted(err error) bool {
	code, err := exitCode(err)
	return err == nil && code == signalBase+int(syscall.SIGINT)
}
