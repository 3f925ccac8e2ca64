package exec

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// crashes is a workload on a store that crashes again and again, or is closed in the middle, and one
// model that goes through all runs. The model replays what the store has of a run. No event that was answered may
// be beyond that.
type crashes struct {
	w       workload
	rounds  int
	moments int // of a round at which it may crash
	clones  int // of what a crash at one moment may leave
	clock   *sched.SimClock
	model   *model
	disk    disk
	store   *store.Store
	sys     *System
	rec     *recorder
	nodes   []wref
	bank    wref // see tellers
	tellers []teller
	images  int
	closed  int                    // runs that have ended by Close
	left    int                    // by these to the next run: sub-events and steps
	dropped int                    // states
	letters map[event.EventID]bool // that the store had when it was opened
	buriedN int                    // sub-events that were dead letters then
	failed  error                  // of the store or a teller; guarded by mu while a round lasts

	mu struct {
		sync.Mutex
		rng    *rand.Rand
		wanted int          // moments at which it has not crashed yet, in this round
		images []crashImage // of this round
		heard               // in this run
	}
}

// heard has the answers that clients got for their events.
type heard struct {
	acked   []*wargs // of those that have committed, perhaps as the first step of a chain that was left to the next run
	refused []*wargs // of those that have not begun, as the system was closed
}

// disk is the disk on which a store lies.
type disk interface {
	// open returns the engine, which calls before ahead of what it writes and syncs.
	open(before func()) (store.Engine, error)
	// crash returns what a crash at this moment may leave.
	crash(rng *rand.Rand) disk
	// closed returns what there is after the engine was closed.
	closed() disk
}

// memDisk is the engine in memory: a crash cuts its journal between two batches.
type memDisk struct{ replicatest.Engine }

func (d memDisk) open(func()) (store.Engine, error) { return d.Engine, nil }

func (d memDisk) crash(rng *rand.Rand) disk {
	return memDisk{d.Engine.Crash(func(unsynced int) int { return rng.IntN(unsynced + 1) })}
}

func (d memDisk) closed() disk { return memDisk{d.Engine.Reopen()} }

// crashImage is what a crash or Close has left, and what was answered before.
type crashImage struct {
	disk disk
	heard
	tellers []teller
	closed  bool
}

// newCrashes returns crashes on an empty disk, at one moment of each round.
func newCrashes(w workload, rounds int, d disk) *crashes {
	w.stored = true
	c := &crashes{w: w, rounds: rounds, moments: 1, clones: 1, clock: sched.NewSimClock(time.Unix(1000, 0)), disk: d}
	c.mu.rng = rand.New(rand.NewPCG(w.seed, 99))
	c.tellers = newTellers(w.tellers)
	return c
}

// open opens the store, whose rows agree, and the system on it.
func (c *crashes) open() error {
	engine, err := c.disk.open(c.mayCrash)
	if err != nil {
		return err
	}
	view := engine.Snapshot()
	if c.sys != nil { // else there is nothing
		if err = consistent(view, c.sys.durable.Layouts.Of(&classNode.Shape)); err == nil {
			err = c.keptOutcomes(view)
		}
		if err == nil {
			c.letters, err = lettersIn(view)
		}
	}
	if err = errors.Join(err, view.Close()); err != nil {
		return err
	}
	c.store, err = store.Open(engine, store.Options{Program: "test", Partitions: 4, Log: quiet, Fatal: c.fail})
	if err != nil {
		return err
	}
	c.rec = &recorder{clock: c.clock, fired: map[*traced]firing{}}
	c.mu.heard = heard{}
	c.sys, err = Recover(Config{Store: c.store, Classes: testClasses, Log: quiet, Clock: c.clock, Trace: traceFunc(c.rec.Ended), BranchWorkers: 4})
	if err != nil {
		return err
	}
	if c.model == nil {
		c.model = newModel(c.sys)
	}
	c.model.sys = c.sys
	return c.sys.host.Graph.Validate()
}

// run performs all rounds; the last one ends without a crash, and its state is compared.
func (c *crashes) run(stuck func(string)) error {
	defer writtenArgs.Clear() // they lead to all systems that there were
	if err := c.open(); err != nil {
		return err
	}
	var err error
	if c.nodes, err = c.w.plant(c.sys); err != nil {
		return err
	}
	if err := c.openBank(); err != nil {
		return err
	}
	for round := range c.rounds - 1 {
		closes := c.mu.rng.IntN(100) < c.w.closes
		images := c.round(c.moments, closes, stuck)
		c.mu.rng.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
		if err := c.close(); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		c.images += len(images)
		if closes {
			images = slices.Insert(images, 0, crashImage{c.disk.closed(), c.mu.heard, c.tellers, true})
		}
		if err := c.branches(images[1:], stuck); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if err := c.resume(images[0]); err != nil {
			return fmt.Errorf("round %d, closed %v: %w", round, closes, err)
		}
	}
	return c.finish(stuck)
}

// branchEvents is how many events a branch runs, branchWorkers how many of them run at once.
const branchEvents, branchWorkers = 24, 4

// branches opens images beside each other, each with a model of its own, and lets them go on a little.
func (c *crashes) branches(images []crashImage, stuck func(string)) error {
	type branch struct {
		*crashes
		from crashImage
	}
	todo := make(chan branch)
	var mu sync.Mutex
	var failures []error
	var group sync.WaitGroup
	for range min(branchWorkers, len(images)) {
		group.Go(func() {
			for b := range todo {
				err := b.resume(b.from)
				if err == nil {
					err = b.finish(stuck)
				}
				if err != nil {
					mu.Lock()
					failures = append(failures, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, i := range images {
		b := &crashes{w: c.w, clock: sched.NewSimClock(c.clock.Now()), model: c.model.clone(), sys: c.sys, rec: c.rec,
			nodes: slices.Clone(c.nodes), bank: c.bank}
		b.w.events, b.w.goroutines = branchEvents, min(4, c.w.goroutines)
		b.mu.rng = rand.New(rand.NewPCG(c.mu.rng.Uint64(), 98))
		todo <- branch{b, i}
	}
	close(todo)
	group.Wait()
	return errors.Join(failures...)
}

// resume opens what a crash or Close has left, and brings the model to it.
func (c *crashes) resume(i crashImage) error {
	list, old, postponed := c.nodes, c.rec, c.sys.Postponed()
	c.disk, c.tellers = i.disk, i.tellers
	if d, ok := i.disk.(memDisk); ok {
		if err := attachesAsStored(d.Engine, c.w.seed); err != nil {
			return err
		}
	}
	if err := c.open(); err != nil {
		return err
	}
	upTo := c.sys.Recovered()
	if i.closed {
		if err := old.within(upTo); err != nil {
			return err
		}
		upTo = noCrash
	}
	if err := c.replay(old, upTo, &i.heard); err != nil {
		return err
	}
	if err := c.buried(old, upTo); err != nil {
		return err
	}
	if err := c.compareLeft(); err != nil {
		return err
	}
	if i.closed {
		if err := c.countLeft(postponed); err != nil {
			return err
		}
	}
	c.bank = wref{c.sys.Resolve(c.bank.ID())}
	c.nodes = nil
	for _, r := range list {
		r = wref{c.sys.Resolve(r.ID())}
		if err := c.sys.host.Attach(order.HandleOf(r.Bare())); err != nil {
			return err
		}
		if !order.HandleOf(r.Bare()).Is(order.Deleted) {
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
	return nil
}

// finish performs a round without a crash, and compares what is there at its end.
func (c *crashes) finish(stuck func(string)) error {
	c.round(0, false, stuck)
	if err := c.replay(c.rec, noCrash, &c.mu.heard); err != nil {
		return err
	}
	c.sys.host.AwaitMoves()
	if err := c.model.compare(c.sys); err != nil {
		return err
	}
	if err := c.audit(); err != nil {
		return err
	}
	return c.close()
}

// roundMax is the time that the events of a round may take.
const roundMax = 2 * time.Minute

// noCrash is above the order of any event.
const noCrash = 1 << 62

func (c *crashes) close() error {
	c.sys.Close()
	return errors.Join(c.sys.atRest(), c.sys.host.Graph.Validate(), c.store.Close(), c.failed)
}

// mayCrash crashes now and then.
func (c *crashes) mayCrash() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.wanted > 0 && c.mu.rng.IntN(1+c.w.events/2) == 0 {
		c.crash()
	}
}

// crash notes what a crash at this moment may leave. Caller holds mu.
func (c *crashes) crash() {
	c.mu.wanted--
	for range c.clones {
		c.mu.images = append(c.mu.images, crashImage{c.disk.crash(c.mu.rng), heard{slices.Clip(c.mu.acked), slices.Clip(c.mu.refused)}, slices.Clone(c.tellers), false})
	}
}

// round lets clients issue events, and returns what crashes at some moments have left. If it closes the system, that is
// in the middle.
func (c *crashes) round(moments int, closes bool, stuck func(string)) []crashImage {
	s := c.sys
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		s.Watch(20*time.Second, stop, stuck)
	}()
	late := time.AfterFunc(roundMax, func() { stuck("the round does not end\n") }) // attempts that are made again for ever count as progress
	defer late.Stop()
	seeds := c.mu.rng.Uint64()
	at := map[int]bool{} // after so many events
	for range (moments + 1) / 2 {
		at[1+c.mu.rng.IntN(c.w.events)] = true
	}
	idle := make(chan struct{})
	evicted := c.evict(idle) // before the system is closed
	var closer *closer
	ended := 0
	answered := func(x *wargs, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hear(x, err)
		if ended++; at[ended] && c.mu.wanted > 0 {
			c.crash()
		}
		closer.look(ended)
	}
	closer = c.newCloser(closes, answered, stuck)
	c.mu.Lock()
	c.mu.wanted, c.mu.images = moments, nil // from now on other goroutines draw from rng
	c.mu.Unlock()
	var group sync.WaitGroup
	for i := range c.w.goroutines {
		group.Go(func() {
			cl := s.Client()
			g := &generator{rng: rand.New(rand.NewPCG(seeds, uint64(i))), sys: s, nodes: slices.Clone(c.nodes), w: c.w}
			for range c.w.events / c.w.goroutines {
				r, m, x := g.event()
				err := g.await(cl, r, m, x)
				answered(x, err)
				if errors.Is(err, event.ErrClosed) {
					return
				}
				if err != nil && strings.HasSuffix(err.Error(), "deleted") && g.rng.IntN(2) == 0 {
					g.renew(cl)
				}
				if g.rng.IntN(passEvents*c.w.goroutines) == 0 {
					cl.rush(moment(g.rng))
				}
			}
		})
	}
	for i := range c.tellers {
		group.Go(func() { c.tell(&c.tellers[i], rand.New(rand.NewPCG(seeds, uint64(i)+1000))) })
	}
	group.Wait()
	closer.wait()
	close(idle)
	<-evicted
	if moments == 0 {
		s.Client().Advance(50 * time.Millisecond)
	}
	c.mu.Lock()
	for c.mu.wanted > 0 {
		c.crash()
	}
	c.mu.Unlock()
	close(stop)
	<-watched
	return c.mu.images
}

// replay brings the model to what the store has of a run: the events up to an order. An event beyond it that was
// answered must have left nothing, and must have seen only events up to it.
func (c *crashes) replay(rec *recorder, upTo int64, h *heard) (err error) {
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
	m.rec = rec
	answered := make(map[any]bool)
	for _, x := range h.acked {
		answered[x] = true
	}
	if err := h.happened(rec); err != nil {
		return err
	}
	for _, t := range rec.sorted() {
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

var crashMoments = flag.Int("crash.moments", 15, "how often each workload of TestCrashesLoseNothingThatWasAnswered crashes")

func TestCrashesLoseNothingThatWasAnswered(t *testing.T) {
	for _, w := range []workload{
		{goroutines: 1, events: 60, nodes: 6, edges: 10, changes: 20, later: 30, tails: 10, tellers: 2},
		{goroutines: 4, events: 200, nodes: 8, edges: 20, changes: 20, later: 20, tails: 10, tellers: 2},
		{goroutines: 16, events: 400, nodes: 20, edges: 50, changes: 15, later: 15, tails: 8, tellers: 3},
	} {
		w.seed = uint64(time.Now().UnixNano())
		t.Run(fmt.Sprintf("goroutines=%d", w.goroutines), func(t *testing.T) {
			c := newCrashes(w, lessIfShort(*crashMoments), memDisk{replicatest.New()})
			if err := c.run(func(waits string) { panic(fmt.Sprintf("seed %d: no progress\n%s", w.seed, waits)) }); err != nil {
				t.Fatalf("seed %d: %v", w.seed, err)
			}
			t.Logf("%d images, %d events replayed", c.images, c.model.replays)
		})
	}
}
