package exec

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var (
	crashImages = flag.Int("crash.images", 50, "how many crash images of pebble's file system are recovered")
	crashSeed   = flag.Uint64("crash.seed", 1, "the first seed of the workloads that crash there")
)

// pebbleDisk is pebble on a file system in memory. A crash leaves what is synced, and of the rest some
// blocks and entries of directories. It may come before any write and any sync. With -replicated there are
// three replicas, each in a directory of its own.
type pebbleDisk struct{ fs *vfs.MemFS }

func (d pebbleDisk) open(before func()) (store.Engine, error) {
	var writes atomic.Int64
	hook := func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSyncData {
			for range 20 { // a sync takes its time: other goroutines go on meanwhile
				runtime.Gosched()
			}
		}
		if op.Kind != errorfs.OpFileSyncData && op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		if writes.Add(1)%3 == 0 || !replicatest.Asked() { // three replicas write three times as often, and as many events are to run before a crash
			before()
		}
		return nil
	}
	fs := errorfs.Wrap(d.fs, errorfs.InjectorFunc(hook))
	if !replicatest.Asked() {
		return openPebble(fs, "data")
	}
	cfg := replicatest.Config{SyncBytes: 4 << 10, Logger: quiet}
	for _, dir := range []string{"1", "2", "3"} {
		opener := func(dir string, _ store.EngineOptions) (store.Engine, error) { return openPebble(fs, dir) }
		cfg.Places = append(cfg.Places, driver.Dir{Root: dir, Opener: opener, FS: directories{fs}})
	}
	return replicatest.OpenEngine(cfg)
}

func openPebble(fs vfs.FS, dir string) (store.Engine, error) {
	return pebbledb.OpenFS(fs, dir, store.EngineOptions{Program: "test", Log: quiet, Cache: &store.Cache{Bytes: 1 << 20}})
}

// directories is a driver.FS.
type directories struct{ vfs.FS }

// SyncDir implements driver.FS.
func (d directories) SyncDir(dir string) error {
	f, err := d.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d pebbleDisk) crash(rng *rand.Rand) disk {
	d.fs = d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: [...]int{0, 10, 50, 90, 100}[rng.IntN(5)], RNG: rand.New(rand.NewPCG(rng.Uint64(), 0))})
	return d
}

func (d pebbleDisk) closed() disk { return d }

// imageRuns are the workloads, in turn.
var imageRuns = []workload{
	{goroutines: 2, events: 60, nodes: 6, edges: 10, changes: 20, later: 30, tails: 10, tellers: 2, closes: 25},
	{goroutines: 6, events: 150, nodes: 8, edges: 20, changes: 20, later: 20, tails: 10, tellers: 3, closes: 25},
	{goroutines: 12, events: 240, nodes: 16, edges: 40, changes: 15, later: 15, tails: 20, tellers: 4, closes: 25},
}

// TestCrashImages recovers what crashes leave of a whole system on pebble. Every image opens, and its rows agree. It has a prefix
// of the events, with everything that was answered. Requests of durable sessions were performed once, those without an
// answer once or not at all. Sub-events, steps of chains and timers come once and in order. No money is lost. Each image goes on
// for a while, and ends as the model does.
func TestCrashImages(t *testing.T) {
	recovered, events, letters, dropped := 0, 0, 0, 0
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	for seed := *crashSeed; recovered < lessIfShort(*crashImages); seed++ {
		w := imageRuns[seed%uint64(len(imageRuns))]
		w.seed = seed
		c := newCrashes(w, rounds, pebbleDisk{vfs.NewCrashableMem()})
		c.moments, c.clones = 4, 3
		if err := c.run(func(waits string) { panic(fmt.Sprintf("seed %d: no progress\n%s", seed, waits)) }); err != nil {
			t.Fatalf("after %d images, seed %d: %v", recovered, seed, err)
		}
		recovered, events, letters, dropped = recovered+c.images, events+c.model.replays, letters+c.buriedN, dropped+c.dropped
	}
	if letters == 0 {
		t.Error("no dead letter was found in any image")
	}
	if dropped == 0 {
		t.Error("no state was dropped before a crash")
	}
	t.Logf("%d crash images recovered, from seed %d on; %d events replayed, %d dead letters, %d states dropped", recovered, *crashSeed, events, letters, dropped)
}
