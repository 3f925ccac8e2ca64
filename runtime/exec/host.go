package exec

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// host runs the protocol on one host: it has the sequencing tree, and drives the queues of the actors that are here.
type host struct {
	view       view
	graph      *dominator.Graph
	top        *Handle // stands for the graph's TOP
	partitions []*Handle
	parked     parked
	maintainer maintainer
	residence  residence        // of a system with a store; else nil: all actors are in memory
	grace      *gracePeriods    // of a system with a store; else nil
	scheduler  *sched.Scheduler // nil unless the system is scheduled
	workers    *sched.Workers
	attempts   atomic.Uint32 // made: an event that is pooled keeps its Attempt

	joinSpins int           // how often an event looks at a word before it queues; 0 on one processor
	fanOut    int           // see hostConfig
	depthMax  int           // see hostConfig
	waitMax   time.Duration // see hostConfig
	waits     atomic.Uint64 // pauses of clients before full queues
	moves     atomic.Uint64 // in T
}

// residence brings actors into memory whose state, or all but their id, lies in a store.
type residence interface {
	// Attach brings h into the graph, unless it is there; it may turn out to have been deleted. An error is one of
	// the store: the process is ending.
	Attach(h *Handle) error
	// Load reads the state of h, unless it is in memory.
	Load(h *Handle) error
	// Ownership is held while an event changes ownership, or the maintainer T, until that has its place in the journal.
	Ownership() sync.Locker
	// Moved stores that c was moved in T from below old. The caller holds ownership.
	Moved(c, old *Handle)
}

// reside gives the host a residence, before any attempt is made.
func (s *host) reside(r residence) { s.residence, s.grace = r, newGracePeriods() }

// attach is residence.Attach. A handle that needs it has a residence.
func (s *host) attach(h *Handle) error { return s.residence.Attach(h) }

// present returns the handle of a node that the graph has named to an event.
func (s *host) present(n *dominator.Node) *Handle {
	h := s.handleOf(n)
	if h.is(away) {
		_ = s.attach(h) // if it fails the process is ending
	}
	return h
}

// hostConfig says how a host is to run.
type hostConfig struct {
	partitions int
	fanOut     int              // T-children that a hold enqueues on at its grant; more are left to lazy acquisition; 0: fanOutMax
	depthMax   int              // events that wait for one actor, before clients wait
	waitMax    time.Duration    // how long clients wait then; 0: for ever
	workers    *sched.Workers   // run the maintainer
	scheduler  *sched.Scheduler // nil unless the system is scheduled
	moveID     func() event.EventID
}

// init makes a host without actors.
func (s *host) init(cfg hostConfig) {
	s.fanOut, s.depthMax, s.waitMax = cfg.fanOut, cfg.depthMax, cfg.waitMax
	if s.fanOut == 0 {
		s.fanOut = fanOutMax
	}
	s.workers, s.scheduler = cfg.workers, cfg.scheduler
	if runtime.GOMAXPROCS(0) > 1 && s.scheduler == nil {
		s.joinSpins = joinSpinsMax
	}
	s.graph = dominator.New()
	s.view = view{s}
	s.maintainer.host, s.maintainer.newID = s, cfg.moveID
	s.top = &Handle{}
	s.top.state.Store(virtual)
	s.partitions = make([]*Handle, cfg.partitions)
	for i := range s.partitions {
		h := &Handle{id: event.ActorID{Birth: event.PartitionID(i)}}
		h.state.Store(virtual)
		h.node.ID = uint64(i)
		s.graph.NewPartition(&h.node)
		s.partitions[i] = h
	}
}
