package runtime

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// Nodes are the systems of a program on several stores of this process, as on the nodes of a cluster. Clients use the first.
type Nodes struct {
	Systems func() []*System           // of all starts of stores
	Counts  func() across.Counts       // what has happened between the stores; nil: there is only one
	Calm    func() (crashes, cuts int) // ends the faults; nil: there are none
	Close   func() error               // ends the systems, in which nothing is under way, and their stores
}

// WithNodes links a program with what it needs to simulate a cluster: --nodes. Other programs have nothing of that.
func WithNodes(open NodesOpener) Option {
	return func(r *mainRun) { r.simulating.open, r.simulating.run = open, (*mainRun).simulate }
}

// NodesOpener opens a program on several stores, which keep nothing, and over which its new actors are spread.
type NodesOpener func(cfg Config, p *Package, sim Simulation) (*Nodes, error)

// Simulation says what the cluster is like.
type Simulation struct {
	Stores  int
	Faults  int                                // so many times a store crashes, or a session between two ends
	Start   func(event.StoreID, *Config) error // changes the configuration of one start of a store
	Crashed func(event.StoreID) error          // is told that a start crashes, before any of it has ended
}

// simulating is the cluster that a program runs on in its own process, if the user has asked for one; the zero value is a
// single node.
type simulating struct {
	settings.Nodes
	open NodesOpener          // nil: the program was compiled without
	run  func(r *mainRun) int // runs main; nil if open is
}

// errNoNodes answers --nodes of a program that cannot simulate.
var errNoNodes = errors.New("--nodes: this program was compiled without what several nodes in one process need; `aeonc run --nodes N PROGRAM`, with the flag before the program, compiles it so")

// flags declares the flag, if the program can simulate.
func (s *simulating) flags(fs *flag.FlagSet) {
	if s.open != nil {
		s.Flags(fs)
	}
}

// check returns what is wrong with the flag, and with those that it does not go with.
func (s *simulating) check(args []string) error {
	if s.open == nil {
		return nil
	}
	return s.Check(args)
}

// begin opens the systems of a cluster, which t records.
func (s *simulating) begin(cfg Config, p *Package, t *simTrace) (*Nodes, error) {
	t.header.Stores, t.starts = s.Number, make(map[event.StoreID]*tracing)
	n, err := s.open(cfg, p, Simulation{Stores: s.Number, Faults: s.Faults, Start: t.start, Crashed: t.crashed})
	if err != nil {
		return nil, errors.Join(err, t.close(nil, err))
	}
	closeAll := n.Close
	n.Close = func() error {
		err := closeAll()
		return errors.Join(err, t.close(n.Systems(), err))
	}
	return n, nil
}

// stats adds up what was done on all nodes.
func (n *Nodes) stats() (sum Stats) {
	for _, s := range n.Systems() {
		t := s.Stats()
		sum.Commits, sum.Aborts, sum.DeadLetters = sum.Commits+t.Commits, sum.Aborts+t.Aborts, sum.DeadLetters+t.DeadLetters
	}
	return sum
}

// simulation is how a run on several nodes has ended.
type simulation struct {
	failed *failure // of main
	err    error    // of the stores
	stats  Stats
	counts across.Counts

	crashes, cuts int
}

// simulate runs main on several nodes, one step at a time and in simulated time, in an order that the seed chooses. It returns
// the exit code.
func (r *mainRun) simulate() int {
	if err := (NodeTrace{Dir: r.tracing.file}).openSimulated(); err != nil {
		r.fail(exitRefused, "%v", err)
		return r.code
	}
	if !r.seeded {
		r.seed = rand.Uint64()>>32 + 1 // short enough to be typed
	}
	again := fmt.Sprintf("--nodes %d --seed %d", r.simulating.Number, r.seed)
	if r.simulating.Faults > 0 {
		again += fmt.Sprintf(" --faults %d", r.simulating.Faults)
	}
	if r.summary {
		r.say("on %d nodes, simulated: %s runs it again", r.simulating.Number, again)
	}
	start := time.Now()
	ended := make(chan simulation, 1)
	go func() { ended <- r.simulated() }() // ends with main and its events, or with the process
	var end simulation
	select {
	case end = <-ended:
	case sig := <-r.signals: // nothing is kept, so nothing needs to end
		r.say("%v", sig)
		return SignalCode(sig)
	}
	if end.err != nil {
		r.fail(exitStore, "%v\n\tthis is a bug of the runtime, not of the program; %s", end.err, again)
	}
	if end.failed != nil {
		r.fail(exitFailed, "main failed: %s", strings.TrimSuffix(end.failed.String(), "\n"))
		r.fail(exitFailed, "%s fails in the same way", again)
	}
	if err := r.out.failure(); err != nil {
		r.fail(exitFailed, "not all that was printed could be written: %v", err)
	}
	if r.summary {
		across := fmt.Sprintf("; over several stores: %s, %d withdrawn", plural(uint64(end.counts.Committed), "event"), end.counts.Withdrawn)
		if r.simulating.Faults > 0 {
			across += fmt.Sprintf("; faults: %d crashes, %d broken connections", end.crashes, end.cuts)
		}
		r.say("%s", summary(end.stats, time.Since(start))+across)
	}
	return r.code
}

// simulated is simulate for the one goroutine that uses the systems.
func (r *mainRun) simulated() (end simulation) {
	traced := simTrace{NodeTrace: NodeTrace{Dir: r.tracing.file, States: r.tracing.states}, header: trace.Header{Program: r.p.Name, Seed: r.seed}}
	n, err := r.simulating.begin(Config{Clock: NewSimClock(testEpoch), Stdout: r.out, Seed: r.seed, Log: newLog(r.stderr, false), Scheduled: true}, r.p, &traced)
	if err != nil {
		end.err = err
		return end
	}
	s := n.Systems()[0]
	settle := s.Client().Settle // Close refuses what callbacks issue
	if end.failed = call(r.p.Main, s.Client()); end.failed == nil {
		settle = func() { fireAll(s) }
	}
	settle()
	if n.Calm != nil {
		end.crashes, end.cuts = n.Calm()
		settle() // what stores have found when they have started again
	}
	end.counts = n.Counts()
	end.err = n.Close()
	end.stats = n.stats()
	return end
}

// fireAll moves simulated time on until no event and no one-shot timer is left, as a program waits for in real time.
func fireAll(s *System) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		s.Client().Settle()
		if s.Quiesce(gone) == nil || !s.FireNext() {
			return
		}
	}
}

// SignalCode is the exit code of a program that a signal has ended.
func SignalCode(sig os.Signal) int {
	if n, ok := sig.(syscall.Signal); ok {
		return signalBase + int(n)
	}
	return exitFailed
}
