package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// gated is an engine whose syncs wait while the gate is shut.
type gated struct {
	*memengine.Engine
	gate  gate
	syncs atomic.Int64
	err   atomic.Pointer[error] // of the next syncs
}

// gate is shut while it is locked. It is a channel, as a goroutine that waits for a channel does not keep
// synctest.Wait from returning.
type gate chan struct{}

func (g gate) Lock()   { g <- struct{}{} }
func (g gate) Unlock() { <-g }

func (g *gated) Sync() error {
	g.syncs.Add(1)
	g.gate.Lock()
	defer g.gate.Unlock()
	if err := g.err.Load(); err != nil {
		return *err
	}
	return g.Engine.Sync()
}

// openGated opens a store in a bubble; the log is returned, too.
func openGated(t *testing.T, o store.Options) (*gated, *store.Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	o.Program = "bank"
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	if o.Fatal == nil {
		o.Fatal = func(err error) { t.Errorf("the store has failed: %v", err) }
	}
	g := &gated{Engine: memengine.New(), gate: make(gate, 1)}
	s, err := store.Open(g, o)
	if err != nil {
		t.Fatal(err)
	}
	g.syncs.Store(0)
	return g, s, &log
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func set(s *store.Store, key string) store.Position {
	b := s.NewBatch()
	b.Set([]byte(key), []byte("v"))
	return s.Append(b)
}

func closeStore(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// The sync under way wakes the waiters for what it covers; the next one wakes all others,
// however many there are.
func TestWaitersShareSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s, _ := openGated(t, store.Options{})
		defer closeStore(t, s)
		g.gate.Lock()
		first := set(s, "a")
		var woken atomic.Int64
		wait := func(p store.Position) {
			if err := s.Wait(t.Context(), p); err != nil {
				t.Error(err)
			}
			if !s.Durable(p) {
				t.Errorf("woken before position %d is durable", p)
			}
			woken.Add(1)
		}
		go wait(first)
		synctest.Wait() // the sync of the first is under way
		for range 100 {
			go wait(set(s, "b"))
		}
		go wait(first)
		synctest.Wait()
		if woken.Load() != 0 || s.Durable(first) || g.syncs.Load() != 1 {
			t.Errorf("%d woken, %d syncs while the disk stalls", woken.Load(), g.syncs.Load())
		}
		g.gate.Unlock()
		synctest.Wait()
		if woken.Load() != 102 || g.syncs.Load() != 2 {
			t.Errorf("%d of 102 woken by %d syncs, want 2", woken.Load(), g.syncs.Load())
		}
	})
}

// Batches for which nothing waits are synced soon, all at once; an idle store does not sync.
func TestLazySync(t *testing.T) {
	for _, c := range []struct {
		mode store.Durability
		by   time.Duration
	}{{store.Sync(), 5 * time.Millisecond}, {store.Relaxed(40 * time.Millisecond), 40 * time.Millisecond}} {
		t.Run(c.mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, s, _ := openGated(t, store.Options{Durability: c.mode})
				defer closeStore(t, s)
				for range 3 {
					time.Sleep(time.Hour)
					var p store.Position
					for range 10 {
						p = set(s, "a")
					}
					time.Sleep(c.by - time.Nanosecond)
					synctest.Wait()
					early := s.Durable(p)
					time.Sleep(time.Nanosecond)
					synctest.Wait()
					if early || !s.Durable(p) {
						t.Errorf("durable before %v: %v, then: %v", c.by, early, s.Durable(p))
					}
				}
				if g.syncs.Load() != 3 {
					t.Errorf("%d syncs, want 3", g.syncs.Load())
				}
			})
		})
	}
}

func TestWaitIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s, _ := openGated(t, store.Options{})
		defer closeStore(t, s)
		g.gate.Lock()
		p := set(s, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Wait(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v", err)
		}
		g.gate.Unlock()
		if err := s.Wait(t.Context(), p); err != nil {
			t.Error(err)
		}
	})
}

// A stalled disk is logged after a second, after every doubling of that, and when the stall is over, whenever a sync before it was, and a stall.
func TestStallIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s, log := openGated(t, store.Options{})
		defer closeStore(t, s)
		for range 2 {
			time.Sleep(400 * time.Millisecond)
			if err := s.Wait(t.Context(), set(s, "a")); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			time.Sleep(400 * time.Millisecond)
			g.gate.Lock()
			p := set(s, "a")
			go func() {
				time.Sleep(4500 * time.Millisecond)
				g.gate.Unlock()
			}()
			if err := s.Wait(t.Context(), p); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		want := strings.Repeat(`level=WARN msg="the disk is stalled: clients wait for a sync" stalled=1s
level=WARN msg="the disk is stalled: clients wait for a sync" stalled=2s
level=WARN msg="the disk is stalled: clients wait for a sync" stalled=4s
level=WARN msg="the disk answers again" stalled=4.5s
`, 2)
		if log.String() != want {
			t.Errorf("the log says\n%swant\n%s", log, want)
		}
		time.Sleep(time.Hour)
		if err := s.Wait(t.Context(), set(s, "a")); err != nil || log.String() != want {
			t.Errorf("error %v, the log says\n%s", err, log)
		}
	})
}

// While the disk stalls, an event that does not wait for durability goes on. Used-up credit
// stops clients, and a sync lets them go on.
func TestCreditStopsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s, _ := openGated(t, store.Options{CreditBytes: 64 << 10})
		defer closeStore(t, s)
		g.gate.Lock()
		value := make([]byte, 1000)
		admitted := 0
		for ; admitted < 1000; admitted++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := s.Credit(ctx)
			cancel()
			if err != nil {
				break
			}
			b := s.NewBatch()
			b.Set([]byte("k"), value)
			s.Append(b)
			s.Return()
		}
		if admitted < 50 || admitted > 70 {
			t.Errorf("%d events of 1 kB were admitted on 64 KiB of credit", admitted)
		}
		set(s, "an event that holds locks is not stopped")
		var late atomic.Int64
		for range 3 {
			go func() {
				if err := s.Credit(t.Context()); err != nil {
					t.Error(err)
				}
				late.Add(1)
				s.Return()
			}()
		}
		synctest.Wait()
		if late.Load() != 0 {
			t.Errorf("%d were admitted without credit", late.Load())
		}
		g.gate.Unlock()
		synctest.Wait()
		if late.Load() != 3 {
			t.Errorf("%d of 3 were admitted after the sync", late.Load())
		}
	})
}

// Events that end without a batch give their credit back.
func TestCreditComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, _ := openGated(t, store.Options{CreditBytes: 8 << 10})
		defer closeStore(t, s)
		for range 1000 {
			if err := s.Credit(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.Return()
		}
		for range 8 {
			if err := s.Credit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		admitted := false
		go func() {
			if err := s.Credit(t.Context()); err != nil {
				t.Error(err)
			}
			admitted = true
			s.Return()
		}()
		synctest.Wait()
		if admitted {
			t.Error("9 events hold 8 KiB of credit")
		}
		for range 8 {
			s.Return()
		}
		synctest.Wait()
		if !admitted {
			t.Error("credit that was given back admits no event")
		}
	})
}

// Whatever waits when one goroutine has noted that the store has failed, and has not abandoned the groups yet, hears of the failure, and no group begins.
func TestGroupsEndWhileTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s, _ := openGated(t, store.Options{})
		broken := errors.New("the disk is on fire")
		wait := func(key string) {
			if err := s.Wait(context.Background(), set(s, key)); !errors.Is(err, broken) {
				t.Errorf("%s: %v", key, err)
			}
		}
		g.gate.Lock()
		var group sync.WaitGroup
		for _, key := range []string{"in the group under way", "in the next one"} {
			group.Go(func() { wait(key) })
			synctest.Wait()
		}
		s.NoteFailure(broken)
		g.gate.Unlock()
		synctest.Wait()
		wait("behind the failure")
		s.Abandon()
		group.Wait()
		if n := g.syncs.Load(); n != 1 {
			t.Errorf("%d groups", n)
		}
		if err := s.Close(); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// A failed sync is final: no waiter gets a success, now or later.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fatal []error
		g, s, _ := openGated(t, store.Options{CreditBytes: 1 << 10, Fatal: func(err error) { fatal = append(fatal, err) }})
		before := set(s, "a")
		if err := s.Wait(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("the disk is on fire")
		g.gate.Lock()
		g.err.Store(&broken)
		var told []error
		var mu sync.Mutex
		hear := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err)
		}
		for range 3 {
			go func() { hear(s.Wait(context.Background(), set(s, "b"))) }()
			synctest.Wait()
		}
		set(s, strings.Repeat("x", 2<<10))
		go func() { hear(s.Credit(context.Background())) }()
		synctest.Wait()
		g.gate.Unlock()
		synctest.Wait()
		g.err.Store(nil) // a second sync may lie
		after := set(s, "c")
		hear(s.Wait(context.Background(), after))
		hear(s.Credit(context.Background()))
		time.Sleep(time.Minute)
		hear(s.Close())
		if len(told) != 7 {
			t.Errorf("%d of 7 were told", len(told))
		}
		for _, err := range told {
			var failed *store.FailedError
			if !errors.As(err, &failed) || !errors.Is(err, broken) {
				t.Errorf("told: %v", err)
			}
		}
		if s.Durable(after) || !s.Durable(before) {
			t.Errorf("durable after the failure: %v, before: %v", s.Durable(after), s.Durable(before))
		}
		if len(fatal) != 1 || fatal[0].Error() != "the store has failed, what was not answered yet is unknown: the disk is on fire" {
			t.Errorf("Fatal: %v", fatal)
		}
	})
}
