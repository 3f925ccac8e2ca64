package nodes

import (
	"math/rand/v2"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Faults has stores of a scheduled cluster in memory crash and start again, and sessions end. The first store, whose clients are those of the program, does
// not crash.
type Faults struct {
	c             *Cluster
	r             *rand.Rand
	ended         sync.WaitGroup
	over          chan struct{}
	calm          bool
	crashes, cuts int
}

// Bounds of how many steps other tasks make, on average, between faults, and until a store starts again: a power of two is drawn.
const (
	calmBitsMin, calmBitsMax = 4, 12
	downBitsMax              = 10
)

// Trouble begins so many faults, which a seed draws.
func (c *Cluster) Trouble(seed uint64, count int) *Faults {
	f := &Faults{c: c, r: rand.New(rand.NewPCG(seed, 4)), over: make(chan struct{})}
	c.wait.Go(&f.ended, func() {
		defer close(f.over)
		for range count {
			f.pause(calmBitsMin + f.r.IntN(calmBitsMax-calmBitsMin))
			if f.calm {
				return
			}
			f.fault()
		}
	})
	return f
}

// End has no more faults begin, and returns how many there were, when all stores are there again.
func (f *Faults) End() (crashes, cuts int) {
	f.calm = true
	f.c.wait.Wait(f.over)
	f.ended.Wait()
	return f.crashes, f.cuts
}

// pause lets others make up to so many steps, as a power of two.
func (f *Faults) pause(bits int) {
	for n := f.r.IntN(1 << bits); n > 0 && !f.calm; n-- {
		f.c.wait.Yield()
	}
}

func (f *Faults) fault() {
	stores := f.c.cfg.Stores
	if f.r.IntN(2) == 0 {
		a := f.r.IntN(stores)
		f.cuts++
		f.c.Cut(event.StoreID(a), event.StoreID((a+1+f.r.IntN(stores-1))%stores))
		return
	}
	f.crashes++
	id := event.StoreID(1 + f.r.IntN(stores-1))
	f.c.down.Add(1) // what it has issued is not live meanwhile
	defer f.c.down.Add(-1)
	err := f.c.Crash(id, func(e store.Engine, why error) store.Engine {
		old := e.(*memengine.Engine)
		old.Fail(why)
		return old.Crash(func(unsynced int) int { return f.r.IntN(unsynced + 1) })
	})
	if err == nil {
		f.pause(f.r.IntN(downBitsMax))
		err = f.c.Restart(id)
	}
	if err != nil {
		f.c.cfg.Fatal(err)
	}
}
