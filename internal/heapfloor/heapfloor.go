// Package heapfloor keeps Go from collecting garbage while the heap is small. Go collects when the heap has doubled, so a program that keeps
// little collects all the time: two nodes with 1000 actors and 50 000 events a second spent a tenth of their processor time on that. With a floor it
// collects when the heap has doubled and is at least that large. The memory limit of Go, if there is one, holds as before.
package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Floor is how many bytes a heap has at least when it is collected.
const Floor = 64 << 20

// GOGC is how much a heap grows until it is collected, in percent of what was left of it the last time.
const (
	usual = 100
	most  = usual * Floor / smallest
	// smallest is the smallest heap, in bytes, that Go collects with the usual percentage; with another it is as much larger.
	smallest = 4 << 20
)

// Keep has the process keep the floor until it ends. It does nothing if the user has set GOGC.
func Keep() {
	if os.Getenv("GOGC") == "" {
		keep(nil)
	}
}

// keep sends to looked, if it is not nil, after each collection.
func keep(looked chan<- struct{}) {
	debug.SetGCPercent(most)
	k := &keeper{set: most, looked: looked}
	k.watch(new(cycle))
}

// cycle is garbage, which the next collection finds.
type cycle struct{ _ [64]byte }

// keeper is touched by the goroutine of finalizers alone.
type keeper struct {
	set    int // percentage
	looked chan<- struct{}
}

// watch has the keeper look at the heap after each collection.
func (k *keeper) watch(c *cycle) {
	runtime.SetFinalizer(c, func(c *cycle) {
		k.collected()
		k.watch(c)
		if k.looked != nil {
			k.looked <- struct{}{}
		}
	})
}

// collected sets the percentage by what the last collection has left.
func (k *keeper) collected() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	// Setting it stops all goroutines for a moment, so it is not done for little.
	if p := percent(live[0].Value.Uint64()); p < k.set-k.set/8 || p > k.set+k.set/8 || p == usual && k.set != usual {
		debug.SetGCPercent(p)
		k.set = p
	}
}

// percent returns the percentage by which a heap, of which so many bytes were left, is collected when it has the floor, or has doubled.
func percent(live uint64) int {
	if live >= Floor/2 {
		return usual
	}
	return int(min(most, usual*(Floor-live)/max(live, 1)))
}
