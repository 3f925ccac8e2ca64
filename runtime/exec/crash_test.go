package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// crashes is a workload on a store that crashes again and again, and one model that goes
// through all runs: what the store has of a run, it replays; nothing that was answered may be
// beyond that.
type crashes struct {
	w      workload
	rounds int
	rng    *rand.Rand
	clock  *SimClock
	model  *model
	engine *memengine.Engine
	store  *store.Store
	sys    *System
	rec    *recorder
	nodes  []wref
	images int
	failed error // of a store
	mode   store.Durability

	mu    sync.Mutex
	acked []*wargs // of events that have committed and were answered, in this run
}

func newCrashes(w workload, rounds int) *crashes {
	w.stored = true
	c := &crashes{w: w, rounds: rounds, rng: rand.New(rand.NewPCG(w.seed, 99)), clock: NewSimClock(time.Unix(1000, 0)), engine: memengine.New()}
	return c
}

// open opens the engine and lets the model go on with it.
func (c *crashes) open() (err error) {
	c.store, err = store.Open(c.engine, store.Options{Program: "test", Partitions: 4, Log: quiet, Durability: c.mode,
		Fatal: func(err error) { c.failed = err }})
	if err != nil {
		return err
	}
	c.rec = &recorder{clock: c.clock, fired: map[*traced]firing{}}
	c.acked = nil
	c.sys, err = Recover(Config{Store: c.store, Classes: testClasses, Log: quiet, Clock: c.clock, Trace: traceFunc(c.rec.Ended), BranchWorkers: 4})
	if err != nil {
		return err
	}
	if c.model == nil {
		c.model = newModel(c.sys)
	}
	c.model.sys, c.model.rec = c.sys, c.rec
	return nil
}

// run performs all rounds; the last one ends without a crash, and its state is compared.
func (c *crashes) run(stuck func(string)) (err error) {
	if err := c.open(); err != nil {
		return err
	}
	if c.nodes, err = c.w.plant(c.sys); err != nil {
		return err
	}
	for round := range c.rounds {
		last := round == c.rounds-1
		image, acked := c.round(last, stuck)
		if last {
			if err := c.replay(1<<62, c.acked); err != nil {
				return err
			}
			c.sys.maintainer.wait()
			if err := c.model.compare(c.sys); err != nil {
				return err
			}
			return errors.Join(c.close(), c.failed)
		}
		list := slices.Clone(c.nodes)
		if err := c.close(); err != nil {
			return err
		}
		old := c.rec
		if err := consistent(image.Snapshot(), c.sys.durable.layout(&classNode)); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		c.engine = image
		if err := c.open(); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if err := c.sys.graph.Validate(); err != nil {
			return err
		}
		c.images++
		now := c.rec
		c.rec = old
		if err := c.replay(c.sys.Recovered(), acked); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		c.rec = now
		c.nodes = c.nodes[:0]
		for _, r := range list {
			if r = (wref{c.sys.Resolve(r.h.id)}); !r.h.is(deleted) {
				c.nodes = append(c.nodes, r)
			}
		}
		for len(c.nodes) < c.w.nodes {
			r, err := c.sys.Client().New(&classNode, &methodBorn, &wargs{})
			if err != nil {
				return err
			}
			c.nodes = append(c.nodes, wref{r})
		}
	}
	return nil
}

func (c *crashes) close() error {
	c.sys.Close()
	if err := c.sys.graph.Validate(); err != nil {
		return err
	}
	return errors.Join(c.store.Close(), c.failed)
}

// round lets clients issue events, and returns what a crash has left at some moment, and what
// was answered before it.
func (c *crashes) round(last bool, stuck func(string)) (image *memengine.Engine, acked []*wargs) {
	s := c.sys
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		s.Watch(20*time.Second, stop, stuck)
	}()
	var ended atomic.Int64
	at := c.rng.Int64N(int64(c.w.events))
	crash := func() {
		c.mu.Lock()
		acked = slices.Clone(c.acked)
		c.mu.Unlock()
		image = c.engine.Crash(func(unsynced int) int { return c.rng.IntN(unsynced + 1) })
	}
	var once sync.Once
	seeds := c.rng.Uint64()
	var group sync.WaitGroup
	for i := range c.w.goroutines {
		group.Go(func() {
			cl := s.Client()
			g := &generator{rng: rand.New(rand.NewPCG(seeds, uint64(i))), sys: s, nodes: slices.Clone(c.nodes), w: c.w}
			for range c.w.events / c.w.goroutines {
				r, m, x := g.event()
				err := cl.Await(r.Ref, m, x)
				if x != nil && err == nil {
					c.mu.Lock()
					c.acked = append(c.acked, x)
					c.mu.Unlock()
				}
				if err != nil && strings.HasSuffix(err.Error(), "deleted") && g.rng.IntN(2) == 0 {
					g.renew(cl)
				}
				if ended.Add(1) == at && !last {
					once.Do(crash)
				}
				if g.rng.IntN(passEvents*c.w.goroutines) == 0 {
					s.rush(time.Duration(g.rng.IntN(4)) * time.Millisecond)
				}
			}
		})
	}
	group.Wait()
	if last {
		s.Client().Advance(50 * time.Millisecond)
	} else {
		once.Do(crash)
	}
	close(stop)
	<-watched
	return image, acked
}

// replay brings the model to what the store has of the last run: the events up to an order. What was
// answered beyond it must have left nothing, and have seen nothing but that.
func (c *crashes) replay(upTo int64, acked []*wargs) (err error) {
	m := c.model
	defer func() {
		if p := recover(); p != nil {
			mm, ok := p.(mismatch)
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("after %d events: %s", m.replays, mm.text)
		}
	}()
	m.rec = c.rec
	c.rec.mu.Lock()
	defer c.rec.mu.Unlock()
	list := c.rec.list
	sort.Slice(list, func(i, j int) bool { return list[i].Order < list[j].Order })
	answered := make(map[any]bool)
	for _, x := range acked {
		answered[x] = true
	}
	for _, t := range list {
		if t.Order <= upTo {
			if err := m.versions(t); err != nil {
				return err
			}
			if t.Method == methodBorn.String() {
				if t.Err == nil {
					m.nodes[mkey(t.Label)] = &mnode{}
				}
				continue
			}
			if err := m.replay(t); err != nil {
				return err
			}
			continue
		}
		if !answered[t.Args] {
			continue
		}
		if t.Batch {
			return fmt.Errorf("event %v (order %d, %v on %v) was answered and is lost: the store ends with %d", t.ID, t.Order, t.Method, t.Target, upTo)
		}
		if err := m.versions(t); err != nil {
			return fmt.Errorf("answered, and has seen what is lost: %w", err)
		}
	}
	return nil
}

// crashed runs crashes for the tests of planted bugs.
func crashed() int {
	for seed := range uint64(3) {
		w := workload{seed: seed, goroutines: 16, events: 600, nodes: 8, edges: 20, changes: 30, later: 20}
		err := newCrashes(w, 25).run(func(waits string) {
			fmt.Println("caught: no progress\n" + waits)
			os.Exit(exitCaught)
		})
		if err != nil {
			fmt.Println("caught:", err)
			return exitCaught
		}
	}
	return exitMissed
}

func TestCrashesLoseNothingThatWasAnswered(t *testing.T) {
	for _, w := range []workload{
		{goroutines: 1, events: 60, nodes: 6, edges: 10, changes: 20, later: 30, tails: 10},
		{goroutines: 4, events: 200, nodes: 8, edges: 20, changes: 20, later: 20, tails: 10},
		{goroutines: 16, events: 400, nodes: 20, edges: 50, changes: 15, later: 15, tails: 8},
	} {
		w.seed = uint64(time.Now().UnixNano())
		t.Run(fmt.Sprintf("goroutines=%d", w.goroutines), func(t *testing.T) {
			c := newCrashes(w, 40)
			if err := c.run(func(waits string) { panic(fmt.Sprintf("seed %d: no progress\n%s", w.seed, waits)) }); err != nil {
				t.Fatalf("seed %d: %v", w.seed, err)
			}
			t.Logf("%d images, %d events replayed", c.images, c.model.replays)
		})
	}
}
