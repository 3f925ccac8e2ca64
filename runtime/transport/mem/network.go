// Package mem is a network in one process. It loses, delays and cuts, and has nodes crash, as a source of randomness and its user say.
//
// On a scheduled system (package sched) each delivery is a task, so that a seed repeats a run exactly; otherwise it is a
// goroutine. There is no time in it: what takes time takes turns, in which the others go on.
//
// It breaks what package grpc may break, and nothing else. A cut holds back what is under way, as TCP does, which sends again; only
// a session that is cut for too long ends. Within a session nothing is overtaken.
package mem

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// Config says how a network behaves. A turn is a Yield of the scheduled system, otherwise of Go.
type Config struct {
	Scheduler *sched.Scheduler // nil: deliveries are goroutines
	Rand      *rand.Rand       // draws the faults; it belongs to the network from then on
	Clock     sched.Clock      // tells when a node was heard of; nil: the real one
	// Loss is which share of messages finds no place, as if the queue were full.
	Loss float64
	// Delay is how many turns at most pass before a delivery.
	Delay int
	// Silence is after how many turns a session ends over a link that is cut; 0: silenceTurns.
	Silence int
}

const silenceTurns = 32

// Network connects the nodes that join it. Any goroutine may call its methods; on a scheduled system, any task.
type Network struct {
	cfg     Config
	tasks   sync.WaitGroup
	running atomic.Int64 // of tasks
	mu      sync.Mutex   // a leaf; it guards all below, and all of nodes, sessions, calls and pipes
	news    sync.Cond    // something has changed
	nodes   map[event.NodeID]*node
	cut     map[link]uint64 // the links that are cut, each with a number of its own
	cuts    uint64
	begun   map[pair]*session // and not broken
	saw     Counts
}

// link is one direction between two nodes.
type link struct{ from, to event.NodeID }

// pair is two nodes, the lower one first.
type pair struct{ low, high event.NodeID }

func pairOf(a, b event.NodeID) pair { return pair{min(a, b), max(a, b)} }

// Counts tells what has happened: a test without faults proves little.
type Counts struct {
	Sessions, Broken, Crashes, Cuts uint64
	Delivered                       uint64 // messages
	Lost                            uint64 // messages that found no place, as Config.Loss says
	Dropped                         uint64 // messages that had a place in a session that ended
	Held                            uint64 // deliveries that a cut has held back
	Calls, Bulks                    uint64 // that have reached a handler
	NotSent, Unknown                uint64 // calls and bulks that ended so
}

// New returns a network without nodes.
func New(cfg Config) *Network {
	assert.That(cfg.Rand != nil && cfg.Loss >= 0 && cfg.Loss <= 1 && cfg.Delay >= 0, "mem: a network with %+v", cfg)
	if cfg.Clock == nil {
		cfg.Clock = sched.RealClock{}
	}
	if cfg.Silence == 0 {
		cfg.Silence = silenceTurns
	}
	n := &Network{cfg: cfg, nodes: make(map[event.NodeID]*node), cut: make(map[link]uint64), begun: make(map[pair]*session)}
	n.news.L = &n.mu
	return n
}

// Join begins a life of a node, whose former one has ended by Crash or Close.
func (n *Network) Join(id event.NodeID, h transport.Handler) transport.Transport {
	n.mu.Lock()
	defer n.mu.Unlock()
	assert.That(id != 0 && n.nodes[id] == nil, "mem: node %d joins twice", id)
	x := &node{
		net: n, id: id, handler: h, progress: true, peers: make(map[event.NodeID]bool), refused: make(map[event.NodeID]bool),
		present: make(map[event.NodeID]*session), inboxes: make(map[event.NodeID]*inbox), heard: make(map[event.NodeID]time.Time),
	}
	n.nodes[id] = x
	n.connectAll(id)
	return x
}

// Crash ends the life of a node. Nothing that it has sent is delivered any more, and its handler is called no more; a call of
// it that goes on comes to nothing.
func (n *Network) Crash(id event.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.nodes[id]
	assert.That(x != nil, "mem: node %d crashes, and is not there", id)
	n.saw.Crashes++
	x.dead = true
	delete(n.nodes, id)
	n.breakAll(x)
	for _, other := range n.sorted() {
		if b := other.inboxes[id]; b != nil {
			b.drop(func(s *session) bool { return s.ends[0].node == x || s.ends[1].node == x }, 0)
		}
	}
	n.news.Broadcast()
}

// Cut has nothing arrive at to that from sends, from now on. If that lasts, their session ends, at both.
func (n *Network) Cut(from, to event.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut[link{from, to}] != 0 {
		return
	}
	n.cuts++
	number := n.cuts
	n.cut[link{from, to}] = number
	n.saw.Cuts++
	if x := n.nodes[to]; x != nil && x.present[from] != nil {
		x.heard[from] = n.cfg.Clock.Now()
	}
	n.task(func() {
		n.turns(n.cfg.Silence)
		n.mu.Lock()
		defer n.mu.Unlock()
		if s := n.begun[pairOf(from, to)]; s != nil && n.cut[link{from, to}] == number {
			n.breakSession(s)
		}
	})
}

// CutBoth cuts the link in both directions.
func (n *Network) CutBoth(a, b event.NodeID) {
	n.Cut(a, b)
	n.Cut(b, a)
}

// Heal mends what Cut has cut in one direction. What was held back arrives, unless its session has ended.
func (n *Network) Heal(from, to event.NodeID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut[link{from, to}] == 0 {
		return
	}
	delete(n.cut, link{from, to})
	if x := n.nodes[to]; x != nil && x.inboxes[from] != nil {
		n.kick(x.inboxes[from])
	}
	n.connect(pairOf(from, to))
	n.news.Broadcast()
}

// HealAll mends all links.
func (n *Network) HealAll() {
	n.mu.Lock()
	var all []link
	for l := range n.cut {
		all = append(all, l)
	}
	n.mu.Unlock()
	slices.SortFunc(all, func(a, b link) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, l := range all {
		n.Heal(l.from, l.to)
	}
}

// Hang says whether the disk of a node hangs: whether others hear that it makes no progress.
func (n *Network) Hang(id event.NodeID, hangs bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if x := n.nodes[id]; x != nil {
		x.progress = !hangs
	}
}

// Counts returns what has happened up to now.
func (n *Network) Counts() Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.saw
}

// Close closes all nodes and returns when no delivery is under way.
func (n *Network) Close() {
	n.mu.Lock()
	all := n.sorted()
	n.mu.Unlock()
	for _, x := range all {
		_ = x.Close() // it has no error
	}
	if s := n.cfg.Scheduler; s != nil {
		s.Until(func() bool { return n.running.Load() == 0 })
	}
	n.tasks.Wait()
}

// sorted returns the nodes in the order of their ids, so that what is drawn for them is repeated.
func (n *Network) sorted() []*node {
	all := make([]*node, 0, len(n.nodes))
	for _, x := range n.nodes {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	return all
}

// task has f run beside the caller. It hands over to no other task, so that it may be called under latches.
func (n *Network) task(f func()) {
	n.running.Add(1)
	n.cfg.Scheduler.Go(&n.tasks, func() {
		defer n.running.Add(-1)
		f()
	})
}

// turns lets others go on. The caller does not have mu.
func (n *Network) turns(count int) {
	for range count {
		if s := n.cfg.Scheduler; s != nil {
			s.Yield()
		} else {
			runtime.Gosched()
		}
	}
}

// delay lets as many turns pass as are drawn.
func (n *Network) delay() {
	n.mu.Lock()
	count := n.cfg.Rand.IntN(n.cfg.Delay + 1)
	n.mu.Unlock()
	n.turns(count)
}

// chance reports true for the share p of calls.
func (n *Network) chance(p float64) bool { return p > 0 && n.cfg.Rand.Float64() < p }

// wait returns when cond holds, which is evaluated under mu, or when ctx has ended.
func (n *Network) wait(ctx context.Context, cond func() bool) {
	if s := n.cfg.Scheduler; s != nil {
		s.Until(func() bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return cond() || ctx.Err() != nil
		})
		return
	}
	defer context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.news.Broadcast()
	})()
	n.mu.Lock()
	defer n.mu.Unlock()
	for !cond() && ctx.Err() == nil {
		n.news.Wait()
	}
}
