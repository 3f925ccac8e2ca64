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
		done := false
		go func() {
			l.Lock()
			done = true
			l.Unlock()
		}()
		go func() {
			for range 100 * YieldsMax {
				runtime.Gosched()
			}
			l.Unlock()
		}()
		synctest.Wait()
		if !done {
			t.Error("it seems so")
		}
	})
}
