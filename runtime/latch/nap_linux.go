package latch

import (
	"syscall"
	"time"
)

// nap leaves the processor to another thread for a moment. To Go the goroutine runs meanwhile: in a synctest bubble it does not seem to wait.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal ends it early, which is as good
}
