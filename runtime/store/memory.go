package store

import (
	"maps"
	"slices"
	"sync"
)

// counted tells how much memory the engines of this process hold. All of them are on one heap: a system that looks how much of it its states take must not
// count the engines of others either, nor those below its own that it does not know.
var counted struct {
	sync.Mutex
	parts map[*func() int64]bool
}

// CountMemory has EngineBytes add what bytes returns, until end is called; a call of bytes may be under way then. Any goroutine calls bytes, which may take
// some microseconds, or wait for a disk.
func CountMemory(bytes func() int64) (end func()) {
	counted.Lock()
	defer counted.Unlock()
	if counted.parts == nil {
		counted.parts = make(map[*func() int64]bool)
	}
	counted.parts[&bytes] = true
	return func() {
		counted.Lock()
		defer counted.Unlock()
		delete(counted.parts, &bytes)
	}
}

// EngineBytes returns about how many bytes of the heap the open engines of this process hold.
func EngineBytes() (sum int64) {
	counted.Lock()
	parts := slices.Collect(maps.Keys(counted.parts))
	counted.Unlock()
	for _, bytes := range parts {
		sum += (*bytes)()
	}
	return sum
}
