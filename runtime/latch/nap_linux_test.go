package latch

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// A goroutine that has a mutex and waits for a latch goes on, and gives back the mutex, when the latch is free, though no
// clock runs.
func TestLatchesWithAMutex(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var mu sync.Mutex
		var l Latch
		l.Lock()
		locked := make(chan struct{})
		go func() {
			mu.Lock()
			defer mu.Unlock()
			close(locked)
			l.Lock()
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

// A goroutine that waits for a latch does not seem to have done its work.
func TestAWaitForALatchIsWork(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var l Latch
		l.Lock()
		waits, done := make(chan struct{}), false
		go func() {
			close(waits)
			l.Lock()
			done = true
			l.Unlock()
		}()
		go func() {
			<-waits
			for range 100 { // in which the other one has come to its naps
				nap(napTime)
			}
			l.Unlock()
		}()
		synctest.Wait()
		if !done {
			t.Error("it seems so")
		}
	})
}
