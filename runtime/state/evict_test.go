package state

import "testing"

// The bytes that loads have taken count until a garbage collection has measured them, and never make the evictor run.
func TestLoadsTakeFromTheBudget(t *testing.T) {
	live, cycles := uint64(300), uint64(1)
	m := &Memory{Max: 1000, Measure: func() (uint64, uint64) { return live, cycles }}
	try := func(bytes int64, want bool) {
		t.Helper()
		if got := m.Take(bytes); got != want {
			t.Errorf("%d bytes beside %d: %v", bytes, live, got)
		}
	}
	try(401, false)
	try(300, true)
	try(101, false)
	m.Settle(300)
	try(101, false)
	try(100, true)
	live, cycles = 550, 2 // the first is on the heap, the second not yet
	try(51, false)
	try(50, true)
	m.Settle(150)
	live, cycles = 701, 3
	try(0, false)
	live, cycles = 0, 4
	try(700, true)
}
