package sched

import (
	"sync"
	"testing"
)

// Things are used by one goroutine at a time, and all of them stay.
func TestIdle(t *testing.T) {
	const users, uses = 8, 2000
	type thing struct{ uses int } // without a lock: the race detector sees two that use one
	var idle Idle[thing]
	if x := idle.Take(); x != nil {
		t.Fatalf("%v was never given", x)
	}
	var made sync.Map
	var group sync.WaitGroup
	for range users {
		group.Go(func() {
			for range uses {
				x := idle.Take()
				if x == nil {
					x = &thing{}
					made.Store(x, true)
				}
				x.uses++
				idle.Give(x)
			}
		})
	}
	group.Wait()
	total := 0
	for x := idle.Take(); x != nil; x = idle.Take() {
		if _, known := made.LoadAndDelete(x); !known {
			t.Errorf("%p was made by none, or is there twice", x)
		}
		total += x.uses
	}
	made.Range(func(x, _ any) bool {
		t.Errorf("%p is lost", x)
		return true
	})
	if total != users*uses {
		t.Errorf("%d uses, want %d", total, users*uses)
	}
}
