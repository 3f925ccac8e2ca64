// Package process runs a child program as if it stood in its parent's place:
// signals reach it, and its exit code is passed on.
package process

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// signalBase is what shells add to the number of the signal that ended a program.
const signalBase = 128

// Run starts cmd, waits for it, and returns its exit code; for a child that a
// signal has ended, 128 and the signal's number. While it waits, signals that
// would end this process go to the child instead; a second interrupt kills it.
// The error says that the child could not be started or watched. Only one Run
// may be under way.
func Run(cmd *exec.Cmd) (code int, err error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, ending...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the child: Run returns only then
	interrupts := 0
	for {
		select {
		case s := <-signals:
			if s == os.Interrupt {
				interrupts++
			}
			switch {
			case interrupts > 1:
				_ = cmd.Process.Kill() // it may have ended meanwhile
			case !sentToGroup(s):
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			return exitCode(err)
		}
	}
}

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
