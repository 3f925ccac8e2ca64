//go:build unix

package testrun

import (
	"os/exec"
	"syscall"
	"time"
)

// dumpMax is how long a process has to write its stacks.
const dumpMax = 2 * time.Second

// dump ends a process that takes too long; Go programs answer SIGQUIT by writing
// the stacks of all goroutines, which shows where the test hangs.
func (r *runner) dump(cmd *exec.Cmd, kill func()) {
	r.timedOut.Store(true)
	_ = cmd.Process.Signal(syscall.SIGQUIT)
	time.AfterFunc(dumpMax, kill)
}
