// Package bubble waits in tests of testing/synctest whose goroutines take latches.
package bubble

import (
	"testing/synctest"
	"time"
)

// latchWait is far longer than a goroutine sleeps for the latch of an actor (runtime/latch). In a bubble it takes no time.
const latchWait = time.Millisecond

// Wait is synctest.Wait for a bubble in which events run. A goroutine that has looked for a latch in vain for long sleeps
// for a moment, which synctest.Wait takes for the end of its work.
func Wait() {
	time.Sleep(latchWait) // the time of a bubble passes only while all its goroutines wait
	synctest.Wait()
}
