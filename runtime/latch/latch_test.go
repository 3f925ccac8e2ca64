package latch

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// A goroutine that has a mutex and waits for a latch goes on, and gives back the mutex, when the latch is free, though no
// clock runs.
func TestAwakeWithAMutex(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var mu sync.Mutex
		var l Latch
		l.Lock()
		locked := make(chan struct{})
		go func() {
			mu.Lock()
			defer mu.Unlock()
			close(locked)
			l.LockAwake()
			l.Unlock()
		}()
		<-locked
		for range 100 * YieldsMax {
			runtime.Gosched()
		}
		l.Unlock()
		mu.Lock()
		mu.Unlock()
	})
}
