package exec

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// methodBorn is the constructor of the nodes that the workload creates as roots.
var methodBorn = Method{Class: &classNode, Name: "Node", Effects: order.Effects{Self: order.Write}}

func init() {
	methodBorn.NewArgs = func() order.Args { return &wargs{} }
	methodBorn.Run = func(*Cx, any, order.Args) {}
}

// workload is one run: a random DAG, and goroutines that issue random events on it.
type workload struct {
	seed       uint64
	goroutines int
	events     int // in all
	nodes      int
	edges      int
	changes    int  // percent of events that change ownership
	tails      int  // percent of events that begin a chain of tail calls
	later      int  // percent of events that issue something for later, or go to a named actor
	stored     bool // it runs on a store
	tellers    int  // further clients, with durable sessions, see crash_teller_test.go
	closes     int  // percent of runs that end by Close instead of a crash, see crash_close_test.go
}

type generator struct {
	rng   *rand.Rand
	sys   *System
	nodes []wref
	w     workload

	sessions []*wsession
}

func (g *generator) ref() wref { return g.nodes[g.rng.IntN(len(g.nodes))] }

// renew replaces deleted nodes, and a few others, by fresh ones, so that the run does not
// end with deleted nodes only.
func (g *generator) renew(cl *Client) {
	for i, r := range g.nodes {
		if order.HandleOf(r.Bare()).Is(order.Deleted) {
			if fresh, err := cl.New(&classNode, &methodBorn, &wargs{}); err == nil {
				g.nodes[i] = wref{fresh}
			}
		}
	}
}

// script returns random steps; depth bounds calls within calls.
func (g *generator) script(depth, size int) (steps []wstep) {
	for range 1 + g.rng.IntN(size) {
		st := wstep{k: g.rng.IntN(4), n: int64(g.rng.IntN(100))}
		switch p := g.rng.IntN(100); {
		case p < 25:
			st.op = wAdd
		case p < 45:
			st.op = wGet
		case p < 70 && depth > 0:
			st.op, st.sub = wCall, g.script(depth-1, size)
		case p < 82 && depth > 0:
			st.op, st.sub = wAsync, g.script(depth-1, size)
		case p < 86 && depth > 0:
			st.op, st.sub = wEmit, g.script(0, 2)
		case p < 87:
			st.op = wAbort
		case p < 88:
			st.op = wFault
		case p < 90:
			st.op = wRandom
		case p < 94:
			st = g.later()
		default:
			st.op = wPause
		}
		steps = append(steps, st)
	}
	return steps
}

func (g *generator) simple(writes bool) (steps []wstep) {
	for range 1 + g.rng.IntN(3) {
		op := wGet
		if writes && g.rng.IntN(2) == 0 {
			op = wAdd
		}
		steps = append(steps, wstep{op: op, n: int64(g.rng.IntN(100))})
		if g.rng.IntN(3) == 0 {
			steps = append(steps, wstep{op: wPause})
		}
	}
	return steps
}

// event returns a random event.
func (g *generator) event() (wref, *Method, *wargs) {
	r := g.ref()
	if g.rng.IntN(100) < g.w.tails {
		return g.chain(r)
	}
	if g.rng.IntN(100) < g.w.later {
		x := &wargs{steps: append(g.simple(true), g.later())}
		if g.rng.IntN(3) == 0 {
			x.steps = append(x.steps, g.later(), g.later())
		}
		if g.rng.IntN(6) == 0 {
			x.steps = append(x.steps, wstep{op: wAbort, n: 9})
		}
		if g.rng.IntN(3) == 0 {
			r = wref{Named(g.sys.inner, &classNode, g.name())}
			switch g.rng.IntN(8) {
			case 0:
				return r, methodDelete, nil
			case 1:
				return r, &methodPeek, &wargs{steps: g.simple(false)}
			case 2:
				return r, &methodPair, &wargs{steps: []wstep{{op: wCallRef, ref: g.ref(), sub: g.simple(true)}, {op: wAbort}}[:1+g.rng.IntN(2)]}
			}
		}
		return r, &methodLocal, x
	}
	if g.rng.IntN(100) < g.w.changes {
		switch g.rng.IntN(6) {
		case 0, 1:
			return r, &methodAdopt, &wargs{steps: append(g.simple(true), wstep{op: wAdopt, ref: g.ref()})}
		case 2, 3:
			return r, &methodLocal, &wargs{steps: []wstep{{op: wDrop, k: g.rng.IntN(4)}, {op: wGet}}}
		case 4:
			return r, &methodLocal, &wargs{steps: []wstep{{op: wNew, n: 7}, {op: wNewLoose, n: 8}, {op: wMove, k: g.rng.IntN(4)}, {op: wAbort}}[:2+g.rng.IntN(3)]}
		default:
			return r, &methodScript, &wargs{steps: []wstep{{op: wNew, n: 5}, {op: wAdd, n: 1}, {op: wDelete, k: g.rng.IntN(9)}, {op: wGet}}[:2+g.rng.IntN(3)]}
		}
	}
	switch p := g.rng.IntN(100); {
	case p < 15:
		return r, &methodPeek, &wargs{steps: g.simple(false)}
	case p < 35:
		return r, &methodLocal, &wargs{steps: g.simple(true)}
	case p < 50:
		return r, &methodPair, &wargs{steps: append(g.simple(true), wstep{op: wCallRef, ref: g.ref(), sub: g.simple(true)}, wstep{op: wGet})}
	case p < 75:
		op := wCall
		if g.rng.IntN(3) == 0 {
			op = wAsync
		}
		x := &wargs{steps: g.simple(false)}
		for range 1 + g.rng.IntN(3) {
			x.steps = append(x.steps, wstep{op: op, k: g.rng.IntN(4), sub: g.simple(true)})
		}
		if g.rng.IntN(10) == 0 {
			x.steps = append(x.steps, wstep{op: wAbort, n: 3})
		}
		return r, &methodKids, x
	case p < 85:
		x := &wargs{}
		for k := range 3 {
			x.steps = append(x.steps, wstep{op: wCall, k: k, sub: []wstep{{op: wGet}, {op: wPause}}})
		}
		return r, &methodLook, x
	case p < 92:
		return r, &methodWalk, &wargs{steps: []wstep{{op: wGet}, {op: wCall, k: 1, sub: []wstep{{op: wGet}, {op: wPause}}}, {op: wCall, k: 2, sub: []wstep{{op: wGet}}}}}
	}
	return r, &methodScript, &wargs{steps: g.script(3, 3)}
}

// run performs the workload and checks everything; stuck is called on a deadlock.
func (w workload) run(cfg Config, stuck func(string)) (Stats, error) {
	st, _, err := w.traced(cfg, stuck)
	return st, err
}

// traced is run, and returns the trace, too.
func (w workload) traced(cfg Config, stuck func(string)) (Stats, []*traced, error) {
	cfg.Clock = sched.NewSimClock(time.Unix(0, 0))
	rec := &recorder{clock: cfg.Clock, exact: w.goroutines == 1, fired: map[*traced]firing{}}
	end, err := w.recorded(&cfg, rec.Ended)
	if err != nil {
		return Stats{}, nil, err
	}
	cfg.Log = quiet
	s := Open(cfg)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		s.Watch(10*time.Second, stop, stuck)
	}()
	nodes, err := w.plant(s)
	if err != nil {
		return Stats{}, nil, err
	}
	if s.scheduler == nil {
		defer again(func(i int) { order.HandleOf(nodes[i%len(nodes)].Ref).SpreadReaders() })()
	}
	sessions := []*wsession{newSession(s), newSession(s), newSession(s)}
	var ended atomic.Int64
	wait := s.beside(w.goroutines+1, func(i int) {
		cl := s.Client()
		g := &generator{rng: rand.New(rand.NewPCG(w.seed, uint64(i)+100)), sys: s, nodes: slices.Clone(nodes), w: w, sessions: sessions}
		if i == w.goroutines {
			if !rec.exact {
				w.pass(s, g.rng, sessions, &ended)
			}
			return
		}
		for n := range w.events / w.goroutines {
			if step := n / passEvents; rec.exact && n%passEvents == 0 {
				cl.Advance(moment(g.rng))
				w.passed(step, sessions)
			}
			r, m, x := g.event()
			err := cl.Await(r.Ref, m, x)
			if err != nil && strings.HasSuffix(err.Error(), "deleted") && g.rng.IntN(2) == 0 {
				g.renew(cl)
			}
			ended.Add(1)
		}
	})
	wait()
	s.Client().Advance(50 * time.Millisecond) // nothing is set for later than that, once
	s.host.AwaitMoves()
	close(stop)
	<-done
	st := s.Stats()
	err = replayAll(s, rec.list, rec)
	s.Close()
	err = errors.Join(err, end())
	if err == nil {
		err = s.host.Graph.Validate()
	}
	if err == nil && s.Waiting() > 0 {
		err = fmt.Errorf("%d events are still waiting", s.Waiting())
	}
	return st, rec.list, err
}

// beside runs n clients beside each other, scheduled or not; wait returns when all have ended.
func (s *System) beside(n int, client func(i int)) (wait func()) {
	var wg sync.WaitGroup
	left := n
	for i := range n {
		if s.scheduler == nil {
			wg.Go(func() { client(i) })
			continue
		}
		s.workers.Run(func() {
			defer func() { left-- }()
			client(i)
		})
	}
	if s.scheduler == nil {
		return wg.Wait
	}
	return func() { s.scheduler.Until(func() bool { return left == 0 }) }
}

// plant creates the nodes and the edges, by ordinary events.
func (w workload) plant(s *System) ([]wref, error) {
	cl := s.Client()
	rng := rand.New(rand.NewPCG(w.seed, 1))
	var nodes []wref
	for range w.nodes {
		r, err := cl.New(&classNode, &methodBorn, &wargs{})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, wref{r})
	}
	for range w.edges {
		i, j := rng.IntN(w.nodes), rng.IntN(w.nodes)
		if i < j {
			if err := cl.Await(nodes[i].Ref, &methodAdopt, &wargs{steps: []wstep{{op: wAdopt, ref: nodes[j]}}}); err != nil {
				return nil, err
			}
		}
	}
	return nodes, nil
}

var workloadEvents = flag.Int("workload.events", 40, "how many events each workload of TestRandomWorkloadIsStrictlySerialisable has, of hundred")

func TestRandomWorkloadIsStrictlySerialisable(t *testing.T) {
	total, ran := uint64(0), 0
	runs := []workload{
		{goroutines: 1, events: 2_500, nodes: 8, edges: 20, changes: 15, later: 20},
		{goroutines: 4, events: 5_000, nodes: 6, edges: 15, changes: 0},
		{goroutines: 4, events: 10_000, nodes: 10, edges: 30, changes: 10, later: 20},
		{goroutines: 4, events: 5_000, nodes: 40, edges: 120, changes: 20, later: 10},
		{goroutines: 4, events: 5_000, nodes: 5, edges: 10, changes: 5, later: 10, tails: 50},
		{goroutines: 64, events: 5_000, nodes: 3, edges: 3, changes: 2, tails: 30},
		{goroutines: 64, events: 7_500, nodes: 5, edges: 12, changes: 2},
		{goroutines: 64, events: 10_000, nodes: 12, edges: 30, changes: 10, later: 10},
		{goroutines: 64, events: 10_000, nodes: 60, edges: 150, changes: 15},
	}
	wanted := 50_000 * uint64(*workloadEvents) / 100
	for _, w := range runs {
		w.events = w.events * *workloadEvents / 100
		if testing.Short() {
			w.events /= 4
		}
		w.seed = uint64(time.Now().UnixNano())
		name := fmt.Sprintf("goroutines=%d,nodes=%d,changes=%d,later=%d,tails=%d", w.goroutines, w.nodes, w.changes, w.later, w.tails)
		t.Run(name, func(t *testing.T) {
			st, err := w.run(Config{BranchWorkers: 4}, func(waits string) {
				panic(fmt.Sprintf("seed %d: no progress\n%s", w.seed, waits))
			})
			if err != nil {
				t.Fatalf("seed %d: %v", w.seed, err)
			}
			ran++
			total += st.Commits + st.Aborts
			t.Logf("%+v", st)
		})
	}
	if testing.Short() {
		wanted /= 4
	}
	if total < wanted && ran == len(runs) {
		t.Errorf("only %d events", total)
	}
}
