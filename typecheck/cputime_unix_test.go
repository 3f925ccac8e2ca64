//go:build unix

package typecheck

import (
	"syscall"
	"time"
)

// cpuTime returns the user time of this process, which does not grow while
// other processes have the processor.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano())
}
