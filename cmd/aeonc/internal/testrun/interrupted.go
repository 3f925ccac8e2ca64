package testrun

import (
	"errors"
	"os/exec"
	"syscall"
)

// exitInterrupted is the exit code by which shells and the tools say that an interrupt has ended a program: 128 and
// the signal's number.
const exitInterrupted = 128 + int(syscall.SIGINT)

// interrupted reports whether err, from waiting for a child, says that an interrupt has
// ended it: Ctrl-C at the keyboard reaches the child as well as this process.
func interrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT || exit.ExitCode() == exitInterrupted
}
