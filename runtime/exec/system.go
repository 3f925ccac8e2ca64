package exec

import (
	"context"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// Config configures a system. Zero fields take the defaults that their comments name.
type Config struct {
	Clock  sched.Clock  // sched.RealClock
	Stdout io.Writer    // os.Stdout
	Log    *slog.Logger // to standard error, warnings and above

	// Store makes the system durable: Recover opens it. Classes are all that the program has,
	// those of imported packages included. nil: everything is gone with the process.
	Store   *store.Store
	Classes []*Class
	// DropFields are the fields whose stored values may be lost, as the program does not have them.
	DropFields []store.Part
	// MemoryMax is how many bytes the heap may have, without those of engines of stores, before
	// the states of actors that are not used are dropped, to be read from the store again; 0: as
	// many as there are.
	MemoryMax int64
	// SessionExpiry is how long a durable session that is not used lives on; 24 hours.
	SessionExpiry time.Duration

	Partitions       int           // event.Partitions
	QueueDepthMax    int           // 100 000 events waiting for one actor, before clients wait
	EventsMax        int           // 100 000 events issued and not awaited, before clients wait
	AdmissionWaitMax time.Duration // 0: clients wait for ever; else they then get a *event.LimitError
	DepthMax         int           // 10 000 nested calls in one branch
	FuelMax          int64         // 4 000 000 000 loop iterations in one branch
	BranchWorkers    int           // GOMAXPROCS - 1 async calls run beside their callers

	// Seed, if not 0, goes into every random(), and scatters the order in which
	// issued events start. Tests use it to see other schedules.
	Seed uint64
	// Scheduled makes the system run one goroutine at a time, in an order that Seed chooses: a run of the same program with the same
	// Seed is the same to the letter. Only the goroutine that opens the system, and tasks of Scheduler, may then use it from outside, and
	// must not wait for it by other means. The clock is a *sched.SimClock, the default. Durations of waiting are without limit.
	Scheduled bool
	Scheduler *sched.Scheduler // of a Scheduled system that is not alone, and its store; nil: one of its own

	// Trace, if set, records every event and callback. TraceStates adds hashes of the
	// fields of every actor that an event touches, which costs encoding them.
	Trace       trace.Recorder
	TraceStates bool

	// Spans, if set, records what events do. The caller closes it, after the system.
	Spans *span.Tracer

	// InventGo: Go functions that have an effect are not called; Seed draws how each try ends. So it is in scheduled systems.
	InventGo bool

	ClientClasses []*ClientClass // all that the program has; needed with Across
	// Across makes the store of the system one of several; nil: it is the only one.
	Across *Across

	fanOut  int           // fanOutMax; tests make it smaller
	journal state.Journal // Store; tests look at what goes through
}

// schedulableBranches is BranchWorkers of a scheduled system: it must not depend on the machine.
const schedulableBranches = 4

func (c *Config) defaults() {
	setDefault := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	if c.Scheduled {
		c.InventGo = true
		if c.Clock == nil {
			c.Clock = sched.NewSimClock(time.Unix(0, 0).UTC())
		}
		if _, sim := c.Clock.(*sched.SimClock); !sim {
			panic("exec: a scheduled system has a simulated clock")
		}
		setDefault(&c.BranchWorkers, schedulableBranches)
	}
	if c.Clock == nil {
		c.Clock = sched.RealClock{}
	}
	if c.Stdout == nil {
		c.Stdout = os.Stdout
	}
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if c.Store != nil {
		c.Partitions = c.Store.Partitions()
		if c.journal == nil {
			c.journal = c.Store
		}
	}
	if c.SessionExpiry <= 0 {
		c.SessionExpiry = 24 * time.Hour
	}
	setDefault(&c.Partitions, event.Partitions)
	setDefault(&c.QueueDepthMax, 100_000)
	setDefault(&c.EventsMax, 100_000)
	setDefault(&c.DepthMax, 10_000)
	setDefault(&c.BranchWorkers, runtime.GOMAXPROCS(0)-1)
	c.Seed *= 0x9e3779b97f4a7c15 // odd, so 0 stays the only 0; neighbouring seeds differ in all bits
	if c.FuelMax <= 0 {
		c.FuelMax = 4_000_000_000
	}
}

// System runs events on one node. All methods may be called from any goroutine.
type System struct {
	host       order.Host
	workers    sched.Workers
	scheduler  *sched.Scheduler  // nil unless Config.Scheduled
	code       activation.System // what the code of events sees
	cfg        Config
	clock      sched.Clock
	log        *slog.Logger
	durable    *durable            // nil: everything is gone with the process
	tracer     *history.Tracer     // traced systems only
	across     *across.Store       // nil: the system has the only store
	partitions []event.PartitionID // its own, of a system among several
	stores     event.StoreID       // the number above those of all stores, of a system among several
	abroad     struct {
		sync.Mutex
		chains map[event.EventID]*chain // that have begun here, and go on in other stores
		undone int                      // decisions that other stores have not carried out, which are live
		over   bool                     // see Abandon
	}
	dying         state.Dying
	clientMethods map[string]*ClientMethod // of a system among several
	doubts        event.PartitionID        // has the rows of what is in doubt
	forgets       row.Writer               // of local.Forget

	calls  outbox.Tries[*goCall]
	ids    event.Serials
	events sched.Pool[Event] // an event keeps a block of actor ids

	callers   sched.Idle[client] // that no call from outside uses now
	lanes     lanes
	stripes   outbox.Stripes
	timers    timers
	live      *sched.Pending  // what has been issued, and is not awaited by its caller: it has not ended
	issued    sched.Semaphore // held by events that were issued and not awaited
	unclaimed outbox.Unclaimed[failure]
	lines     outbox.Lines
	output    outbox.Output[outgoing] // of a system with a store
	failures  failures
	watch     watch.Hub
	closing   atomic.Bool
	closed    sync.Once
	postponed atomic.Int64
	undone    atomic.Int64  // events that were refused as the system was closing, and that were not awaited
	left      chan struct{} // an event of a client, or a visit, has ended while the system is closing

	inner   *client // the one that sub-events and timers run for
	objects outbox.Objects[ClientObject]
	ledger  watch.Ledger  // of what has become of the events of clients
	numbers store.Numbers // of clients and client objects
}

// Open starts a system that keeps nothing: it ignores cfg.Store, see Recover. The
// caller closes it.
func Open(cfg Config) *System {
	cfg.Store = nil
	return newSystem(cfg)
}

// newSystem starts a system without actors.
func newSystem(cfg Config) *System {
	cfg.defaults()
	s := &System{cfg: cfg, clock: cfg.Clock, log: cfg.Log, live: &sched.Pending{}}
	if s.scheduler = cfg.Scheduler; cfg.Scheduled && s.scheduler == nil {
		s.scheduler = sched.New(cfg.Seed, func() string {
			var waits strings.Builder
			s.WriteWaits(&waits)
			return waits.String()
		})
	}
	s.events.Open(s.scheduler, s.newEvent)
	s.host.Init(order.HostConfig{Partitions: cfg.Partitions, FanOut: cfg.fanOut, DepthMax: cfg.QueueDepthMax, WaitMax: cfg.AdmissionWaitMax,
		Workers: &s.workers, Scheduler: s.scheduler, Watch: &s.watch, MoveID: func() event.EventID { return s.inner.nextID() }})
	s.code = activation.System{Host: &s.host, Workers: &s.workers, Scheduler: s.scheduler, Clock: s.clock, Log: s.log, IDs: &s.ids,
		DepthMax: cfg.DepthMax, FuelMax: cfg.FuelMax, Seed: cfg.Seed,
		Abandon: func(r *activation.Run, err *event.AbortError) { (*Event)(unsafe.Pointer(r)).abandon(err) }}
	s.workers.Open(cfg.BranchWorkers, s.scheduler)
	s.issued.Open(cfg.EventsMax, s.scheduler)
	s.lines.Open(cfg.Stdout)
	s.openCalls()
	if cfg.Spans != nil {
		s.watch.Always()
	}
	if cfg.Trace != nil {
		s.tracer = history.New(cfg.Trace, cfg.TraceStates)
		s.code.Tracer = s.tracer
	}
	if cfg.Across != nil {
		s.openAcross(cfg.Across)
	}
	s.left = make(chan struct{}, 1)
	if cfg.Store != nil { // another start has other ids
		s.ids.Open(cfg.Store.Number(), cfg.Store.FirstID())
		cfg.Store.IDs(&s.numbers)
	}
	s.objects.Open(&s.numbers)
	s.timers.Open(outbox.TimersConfig[timed]{Clock: s.clock, Fire: s.fire, Settle: s.settle})
	s.inner = s.newClient()
	return s
}

// Client returns a new client session. The system keeps nothing of a client that the
// program has dropped but its share in the statistics.
func (s *System) Client() *Client { return &s.openClient().Client }

// openClient is Client for the runtime.
func (s *System) openClient() *client {
	cl := s.newClient()
	sched.WhenGone(cl, s, (*System).retire, cl.stats)
	return cl
}

// newClient returns a client that lives as long as the system.
func (s *System) newClient() *client {
	return &client{sys: s, id: event.ClientID(s.numbers.Next()), stats: s.ledger.Open()}
}

// retire adds up the counters of a client that has gone.
func (s *System) retire(c *watch.Counts) { s.ledger.Retire(c) }

// leave tells Close, if it is waiting, that an event of a client or a visit has ended.
func (s *System) leave() {
	if s.closing.Load() {
		select {
		case s.left <- struct{}{}:
		default:
		}
	}
}

// until waits until cond holds. Only the end of an event or of a visit makes it hold.
func (s *System) until(cond func() bool) {
	for !cond() {
		if s.scheduler != nil {
			s.scheduler.Until(cond)
			return
		}
		<-s.left
	}
}

// idle reports whether no client has an event under way.
func (s *System) idle() bool { return s.ledger.Idle(s.inner.stats) }

// Quiesce waits until no event, sub-event, callback or one-shot timer is left.
func (s *System) Quiesce(ctx context.Context) error {
	for {
		ch := s.live.Zero()
		if ch == nil {
			for _, x := range s.together() {
				if ch = x.timers.OneShots(); ch != nil {
					break
				}
			}
			if ch == nil {
				if s.live.Zero() == nil {
					return nil
				}
				continue
			}
		}
		if s.scheduler != nil && ctx.Err() == nil {
			s.scheduler.Wait(ch)
			continue
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close refuses new events, lets those that run end, be they awaited or not, drops timers,
// and joins every goroutine of the system. Sub-events and steps of chains that have not begun run before it
// returns, or, in a system with a store, when that is opened again: Postponed tells how many. Failures that were not awaited become dead
// letters. An event or a callback must not call it, as it would wait for itself.
func (s *System) Close() {
	s.closed.Do(func() {
		s.closing.Store(true)
		s.timers.Close()
		s.until(s.idle)
		settled := s.calls.Close()
		s.settle()
		settled()
		for _, l := range s.unclaimed.TakeAll() {
			s.deadLetter(*l)
		}
		s.settle() // they may have to wait for the disk
		if s.durable != nil {
			s.durable.Memory.Close()
			if s.tracer != nil {
				s.tracer.Close()
			}
		}
		s.host.StopMoves()
		if s.scheduler != nil {
			s.scheduler.Until(s.workers.Idle)
		}
		s.workers.Close()
		if s.durable != nil {
			s.until(s.durable.EndVisits)
		}
		s.lines.Flush()
	})
}

// Postponed returns how many sub-events, steps of chains and firings of timers Close has left to the next
// opening of the store.
func (s *System) Postponed() int64 { return s.postponed.Load() }

// Undone returns how many events that are not awaited the closing system has not run, or not to their end. It counts
// events that are lost, and not those with which a store goes on when it is opened again.
func (s *System) Undone() int64 {
	left := s.live.Count()
	if s.durable != nil { // only what clients have issued is lost
		left = int64(s.issued.Held())
	}
	return s.undone.Load() + left
}

// postpones reports whether a sub-event with number seq in the outbox, or a firing, waits until the store is opened again.
func (s *System) postpones(seq uint64, firing bool) bool {
	return s.durable != nil && (seq != 0 || firing) && s.closing.Load()
}

// Graph returns the ownership graph, for inspection.
func (s *System) Graph() *dominator.Graph { return s.host.Graph }

// nextPartition spreads unnamed roots over the partitions.
func (s *System) nextPartition(cl *client) event.PartitionID {
	n := uint64(cl.id)*31 + cl.stats.Begun.Load()
	if s.across != nil {
		return s.partitions[n%uint64(len(s.partitions))]
	}
	return event.PartitionID(n % uint64(len(s.host.Partitions)))
}
