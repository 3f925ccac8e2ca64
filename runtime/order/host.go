package order

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// Host runs the protocol on one host: it has the sequencing tree, and drives the queues of the actors that are here.
type Host struct {
	view       view
	Graph      *dominator.Graph
	Top        *Handle // stands for the graph's TOP
	Partitions []*Handle
	directory  directory
	parked     parked
	maintainer maintainer
	residence  Residence     // of a system with a store; else nil: all actors are in memory
	grace      *gracePeriods // of a system with a store; else nil
	abroad     abroad
	ordering   Above            // nil: the host has the only store
	labelling  sync.Mutex       // of stubs: see SetLabel
	hints      *hints           // nil with it
	watch      *watch.Hub       // nil: withdrawals are not told
	scheduler  *sched.Scheduler // nil unless the system is scheduled
	workers    *sched.Workers
	attempts   atomic.Uint32 // made: an event that is pooled keeps its Attempt

	joinSpins int           // how often an event reads a word before it queues; 0 on one processor
	fanOut    int           // see HostConfig
	depthMax  int           // see HostConfig
	waitMax   time.Duration // see HostConfig
	Waits     atomic.Uint64 // pauses of clients before full queues
	Moves     atomic.Uint64 // in T
}

// Residence brings actors into memory whose state, or all but their id, lies in a store.
type Residence interface {
	// Attach brings h into the graph, unless it is there; it may turn out to have been deleted. An error is one of the store: the process is ending.
	Attach(h *Handle) error
	// Load reads the state of h, unless it is in memory.
	Load(h *Handle) error
	// Named returns the actor of a name, or makes the next one of that name. There is one call for a name at a time.
	Named(c *Shape, name string) *Handle
	// Layout returns the number of the layout that new actors of a class get.
	Layout(c *Shape) uint32
	// Ownership is held while an event changes ownership, or the maintainer changes T, until the change has its place in the journal.
	Ownership() sync.Locker
	// Moved stores that c was moved in T from below old. The caller holds ownership.
	Moved(c, old *Handle)
}

// Reside gives the host a residence, before any attempt is made.
func (s *Host) Reside(r Residence) {
	// Invariant: each attempt of a host with a residence has a presence.
	assert.That(s.attempts.Load() == 0, "order: a residence comes after attempts")
	s.residence, s.grace = r, newGracePeriods()
}

// Attach is Residence.Attach. A handle that needs it has a residence.
func (s *Host) Attach(h *Handle) error { return s.residence.Attach(h) }

// present returns the handle of a node that the graph has named to an event.
func (s *Host) present(n *dominator.Node) *Handle {
	h := s.HandleOf(n)
	if h.Is(Away) {
		_ = s.Attach(h) // if it fails the process is ending
	}
	return h
}

// HostConfig says how a host is to run.
type HostConfig struct {
	Partitions int
	FanOut     int              // T-children that a hold enqueues on at its grant; more are left to lazy acquisition; 0: fanOutMax
	DepthMax   int              // events that wait for one actor, before clients wait
	WaitMax    time.Duration    // how long clients wait then; 0: for ever
	Workers    *sched.Workers   // run the maintainer
	Scheduler  *sched.Scheduler // nil unless the system is scheduled
	MoveID     func() event.EventID
	Watch      *watch.Hub // is told of attempts that are withdrawn; nil: nothing is
}

// Init makes a host without actors.
func (s *Host) Init(cfg HostConfig) {
	s.fanOut, s.depthMax, s.waitMax = cfg.FanOut, cfg.DepthMax, cfg.WaitMax
	if s.fanOut == 0 {
		s.fanOut = fanOutMax
	}
	s.workers, s.scheduler, s.watch = cfg.Workers, cfg.Scheduler, cfg.Watch
	if runtime.GOMAXPROCS(0) > 1 && s.scheduler == nil {
		s.joinSpins = joinSpinsMax
	}
	s.Graph = dominator.New()
	s.view = view{s}
	s.maintainer.host, s.maintainer.newID = s, cfg.MoveID
	s.Top = &Handle{}
	s.Top.State.Store(Virtual)
	s.Partitions = make([]*Handle, cfg.Partitions)
	for i := range s.Partitions {
		h := &Handle{ID: event.ActorID{Birth: event.PartitionID(i)}}
		h.State.Store(Virtual)
		h.Node.ID = uint64(i)
		s.Graph.NewPartition(&h.Node)
		s.Partitions[i] = h
	}
}
