package locktest

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// compareOrders explores c with and without deliveries that are made at once, and reports whether
// it could, and the states met with and without. Both must come to the same ends by the same
// histories of commits; or both must find something.
func compareOrders(t *testing.T, c *scene.Config, limit int) (ok bool, some, all int) {
	a := &search{limit: limit, allOrders: true, recall: true, ends: map[uint64]bool{}}
	b := &search{limit: limit, recall: true, ends: map[uint64]bool{}}
	full, f := a.explore(c)
	if !full && f == nil {
		return false, 0, 0
	}
	_, g := b.explore(c)
	if (f == nil) != (g == nil) {
		if g == nil {
			t.Errorf("missed:\n%v%s", f.c, f.replay())
		} else {
			t.Errorf("found only when deliveries are made at once:\n%v%s", g.c, g.replay())
		}
		return true, b.states, a.states
	}
	if f != nil {
		return true, 0, 0
	}
	for h := range a.ends {
		if !b.ends[h] {
			t.Errorf("%d ends, %d when deliveries are made at once\n%v", len(a.ends), len(b.ends), c)
			break
		}
	}
	for h := range b.ends {
		if !a.ends[h] {
			t.Errorf("an end that is none: %d ends, %d when deliveries are made at once\n%v", len(a.ends), len(b.ends), c)
			break
		}
	}
	return true, b.states, a.states
}

// TestEagerDeliveries compares the search with one in which no delivery is made at once.
func TestEagerDeliveries(t *testing.T) {
	graphs := scene.Graphs()
	seeds := uint64(120)
	if raceDetector || testing.Short() {
		seeds = 60
	}
	var compared, some, all int
	for seed := range seeds {
		o := scene.Options{Moves: seed%3 == 0, Create: seed%5 == 0, Plain: seed%5 != 0}
		if seed%2 == 0 {
			o.Events = 2
		}
		ok, b, a := compareOrders(t, scene.Seeded(graphs, seed+10_000, o), 15_000)
		if t.Failed() {
			t.FailNow()
		}
		if ok {
			compared++
			some, all = some+b, all+a
		}
	}
	t.Logf("%d configurations, %d states, %d when deliveries are made at once", compared, all, some)
}

// TestEagerDeliveriesHideNoBug plants each bug in small configurations: where the search of all
// orders finds it, the other must, too.
func TestEagerDeliveriesHideNoBug(t *testing.T) {
	graphs := scene.Graphs()
	seeds := uint64(24)
	if raceDetector || testing.Short() {
		seeds = 6
	}
	for _, b := range plantedBugs() {
		if b.options.Crash {
			continue // all orders are searched then
		}
		b.set(true)
		compared, found := 0, 0
		for seed := range seeds {
			o := scene.Options{Hosts: 2 + int(seed%2), Events: 2 + int(seed%2), Moves: seed%3 == 0, Create: b.options.Create, Plain: !b.options.Create}
			ok, _, states := compareOrders(t, scene.Seeded(graphs, seed+20_000, o), 4000)
			if ok {
				compared++
				if states == 0 {
					found++
				}
			}
		}
		b.set(false)
		t.Logf("%s: %d configurations, found in %d", b.name, compared, found)
	}
}
