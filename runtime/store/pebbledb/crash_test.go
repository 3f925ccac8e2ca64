package pebbledb_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

var crashImages = flag.Int("images", 400, "how many crash images of a store TestCrashImages opens again")

const (
	crashWriters = 12
	crashRows    = 2
	crashSize    = 100
	// imagesPerLife is how many images are taken of one run of a store; the next run starts from
	// the last of them, or, every so many lives, from nothing.
	imagesPerLife = 100
	livesPerStore = 3
)

// image is what a crash may leave, and how many groups had been reported durable by then.
type image struct {
	fs    *vfs.MemFS
	acked int
}

// life is one run of a store, from which images are taken at random moments.
type life struct {
	t      testing.TB
	fs     *vfs.MemFS
	plant  func(sync func() error) syncer // of the engine's Sync; nil: none
	images chan<- image

	acked atomic.Int64
	rng   struct {
		sync.Mutex
		*rand.Rand
	}
	taken atomic.Int64
	chain struct {
		sync.Mutex
		next int // group
	}
}

func (l *life) intN(n int) int {
	l.rng.Lock()
	defer l.rng.Unlock()
	return l.rng.IntN(n)
}

// hook is called before each operation on the file system. A sync takes its time: writers go
// on meanwhile.
func (l *life) hook(op errorfs.Op) error {
	if op.Kind == errorfs.OpFileSyncData {
		l.yield()
	}
	if (op.Kind.ReadOrWrite() == errorfs.OpIsWrite || op.Kind == errorfs.OpFileSyncData) && l.intN(4) == 0 {
		l.take()
	}
	return nil
}

// yield lets other goroutines run for a while.
func (l *life) yield() {
	for range l.intN(40) {
		runtime.Gosched()
	}
}

// noisy is an engine whose syncs are noticed late.
type noisy struct {
	*pebbledb.DB
	syncer
	yield func()
}

// syncer is how an engine syncs. Settle returns when nothing of that goes on.
type syncer struct {
	sync   func() error
	settle func()
}

func (e noisy) Sync() error {
	err := e.sync()
	e.yield()
	return err
}

// Close implements store.Engine.
func (e noisy) Close() error {
	e.settle()
	return e.DB.Close()
}

func (l *life) take() {
	if l.taken.Add(1) > imagesPerLife {
		return
	}
	acked := int(l.acked.Load()) // before the image: it has at least these
	cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 10, 50, 90, 100}[l.intN(5)], RNG: rand.New(rand.NewPCG(uint64(l.intN(1<<30)), 0))}
	l.images <- image{l.fs.CrashClone(cfg), acked}
}

// run lets writers append a chain of groups, each of which depends on the one before, until
// all images are taken.
func (l *life) run(seed uint64) {
	l.rng.Rand = rand.New(rand.NewPCG(seed, 7))
	engine, err := pebbledb.OpenSmall(errorfs.Wrap(l.fs, errorfs.InjectorFunc(l.hook)), dataDir, store.EngineOptions{Program: "bank", Log: silent, Cache: &store.Cache{Bytes: 1 << 20}})
	if err != nil {
		l.t.Error(err)
		return
	}
	how := syncer{engine.Sync, func() {}}
	if l.plant != nil {
		how = l.plant(engine.Sync)
	}
	s, err := store.Open(noisy{engine, how, l.yield}, store.Options{Program: "bank", Log: silent, Fatal: func(err error) { l.t.Error(err) }})
	if err != nil {
		l.t.Error(err)
		return
	}
	if l.chain.next, err = readGroups(s, crashRows, crashSize); err != nil {
		l.t.Error(err)
	}
	l.acked.Store(int64(l.chain.next))
	l.writeAll(s, engine)
	if err := s.Close(); err != nil {
		l.t.Error(err)
	}
}

func (l *life) writeAll(s *store.Store, engine *pebbledb.DB) {
	var wg sync.WaitGroup
	for range crashWriters {
		wg.Go(func() {
			for l.taken.Load() < imagesPerLife && !l.t.Failed() {
				l.write(s, engine)
			}
		})
	}
	wg.Wait()
}

func (l *life) write(s *store.Store, engine *pebbledb.DB) {
	if l.intN(100) == 0 {
		if err := engine.Flush(); err != nil {
			l.t.Error(err)
		}
	}
	if l.intN(4) == 0 {
		l.take()
	}
	l.chain.Lock() // as an event holds its locks
	n := l.chain.next
	p := appendGroup(s, n, crashRows, crashSize)
	l.chain.next++
	l.chain.Unlock()
	if l.intN(3) == 0 {
		return // without waiting for the commit
	}
	l.yield()
	if err := s.Wait(context.Background(), p); err != nil {
		l.t.Error(err)
	}
	for {
		was := l.acked.Load()
		if was > int64(n) || l.acked.CompareAndSwap(was, int64(n)+1) {
			return
		}
	}
}

// check reopens an image. What was reported durable is there; what is there is a prefix;
// what a reader has seen after the crash survives another one.
func (i image) check() error {
	s, _, err := openOn(i.fs, nil)
	if err != nil {
		return fmt.Errorf("an image is refused: %w", err)
	}
	defer s.Close()
	n, err := readGroups(s, crashRows, crashSize)
	if err != nil {
		return err
	}
	if n < i.acked {
		return fmt.Errorf("%d groups were reported durable, %d are there", i.acked, n)
	}
	if n%16 != 0 {
		return nil
	}
	again, _, err := openOn(i.fs.CrashClone(vfs.CrashCloneCfg{}), nil)
	if err != nil {
		return fmt.Errorf("the image of an image is refused: %w", err)
	}
	defer again.Close()
	if m, err := readGroups(again, crashRows, crashSize); err != nil || m < n {
		return fmt.Errorf("%d groups were seen after a crash, and %d after the next: %w", n, m, err)
	}
	return nil
}

// crash takes and checks images, and returns how many were checked and the first things that
// were wrong.
func crash(t testing.TB, images int, plant func(sync func() error) syncer) (checked int, wrong []error) {
	taken := make(chan image)
	var mu sync.Mutex
	var last image
	var checkers sync.WaitGroup
	for range 2 {
		checkers.Go(func() {
			for i := range taken {
				err := image{i.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0}), i.acked}.check()
				mu.Lock()
				checked++
				last = i
				if err != nil {
					wrong = append(wrong, err)
				}
				mu.Unlock()
			}
		})
	}
	for n := 0; n*imagesPerLife < images; n++ {
		mu.Lock()
		fs, enough := last.fs, len(wrong) > 0
		mu.Unlock()
		if enough || t.Failed() {
			break
		}
		if n%livesPerStore == 0 || fs == nil {
			fs = vfs.NewCrashableMem()
		}
		l := &life{t: t, fs: fs, plant: plant, images: taken}
		l.run(uint64(n))
	}
	close(taken)
	checkers.Wait()
	return checked, wrong
}

func TestCrashImages(t *testing.T) {
	images := *crashImages
	if testing.Short() {
		images /= 4
	}
	checked, wrong := crash(t, images, nil)
	for _, err := range wrong {
		t.Error(err)
	}
	if checked < images {
		t.Errorf("only %d images were reopened", checked)
	}
	t.Logf("%d crash images reopened", checked)
}

// earlySync returns a Sync that may return before what was applied is synced: it waits for
// a sync that had begun before it was called.
func earlySync(sync func() error) syncer {
	var running chan error
	wait := func() (err error) {
		if running != nil {
			err = <-running
			running = nil
		}
		return err
	}
	return syncer{
		sync: func() error {
			err := wait()
			done := make(chan error, 1)
			running = done
			go func() { done <- sync() }()
			return err
		},
		settle: func() { _ = wait() },
	}
}

// The harness finds a journal that reports what is not durable yet.
func TestCrashImagesFindEarlyReports(t *testing.T) {
	_, wrong := crash(t, 1500/race.Slower, earlySync)
	if len(wrong) == 0 {
		t.Fatal("a journal that reports durable before it has synced was not found out")
	}
	if !strings.Contains(wrong[0].Error(), "reported durable") {
		t.Error(wrong[0])
	}
	t.Log(wrong[0])
}
