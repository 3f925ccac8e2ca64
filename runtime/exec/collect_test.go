package exec

import (
	"runtime"
	"testing"
	"time"
)

// A system that was closed and dropped is collected, with all its actors.
func TestClosedSystemIsCollected(t *testing.T) {
	gone := make(chan struct{})
	func() {
		s := Open(Config{})
		defer s.Close()
		runtime.AddCleanup(s, func(c chan struct{}) { close(c) }, gone)
		s.Client() // one that the program has dropped
	}()
	deadline := time.After(2 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-deadline:
			t.Fatal("something keeps it")
		case <-tick.C:
		}
	}
}
