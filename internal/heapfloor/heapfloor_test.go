package heapfloor

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

var sink []byte

// collections returns how many there are while so many bytes become garbage.
func collections(bytes int) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := 0; n < bytes; n += 1 << 10 {
		sink = make([]byte, 1<<10)
	}
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

// What the user has set stays. The test comes before that which keeps the floor for good.
func TestGOGCStays(t *testing.T) {
	t.Setenv("GOGC", "50")
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	Keep()
	if p := debug.SetGCPercent(50); p != 50 {
		t.Errorf("GOGC is %d", p)
	}
}

// goal returns the size of the heap, in bytes, by which Go collects it the next time.
func goal() int {
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	return int(goal[0].Value.Uint64())
}

// A program that keeps little collects when its heap has the floor, one that keeps more when its heap has doubled, whatever it has kept before.
func TestCollectionsAreAsRareAsTheFloorSays(t *testing.T) {
	looked := make(chan struct{}, 1000)
	keep(looked)
	for _, keeps := range []int{0, 16 << 20, 200 << 20, 16 << 20, 0} {
		kept := make([]byte, keeps)
		for len(looked) > 0 {
			<-looked
		}
		for range 3 { // the percentage follows
			runtime.GC()
			<-looked
		}
		want := max(Floor, 2*keeps)
		if got := goal(); got < want-want/4 || got > want+want/4 {
			t.Errorf("%d MiB kept: collected with %d MiB, and not with %d", keeps>>20, got>>20, want>>20)
		}
		// What becomes garbage amid a collection is found by the next. On a busy machine, where they take long, there are fewer.
		n, most := collections(4*Floor), 4*Floor/(want-keeps)
		t.Logf("%d MiB kept: %d collections for %d MiB of garbage, %d expected", keeps>>20, n, 4*Floor>>20, most)
		if int(n) > most+2 {
			t.Errorf("%d MiB kept: %d collections for %d MiB of garbage, and not %d", keeps>>20, n, 4*Floor>>20, most)
		}
		runtime.KeepAlive(kept)
	}
}

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 1600, 1 << 20: 1600, 4 << 20: 1500, 16 << 20: 300, 31 << 20: 106, 32 << 20: 100, 33 << 20: 100, 1 << 40: 100} {
		if p := percent(live); p != want {
			t.Errorf("%d bytes left: %d %%, and not %d", live, p, want)
		}
	}
}
