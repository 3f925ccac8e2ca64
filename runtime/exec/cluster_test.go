package exec

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/sched/schedtest"
	"github.com/aeon-lang/aeon/runtime/transport/mem"
)

var (
	clusterSeeds = flag.Int("cluster.seeds", 3, "how many scheduled clusters run")
	clusterSeed  = flag.Uint64("cluster.seed", 1, "the first one")
)

// A scheduledCluster is three nodes that keep one store, the systems of their leaders, clients, and what goes wrong, all of them tasks of one
// scheduler: a seed repeats a run.
type scheduledCluster struct {
	seed  uint64
	s     *sched.Scheduler
	r     *rand.Rand
	tasks sync.WaitGroup
	live  int // tasks
	trace strings.Builder

	net    *mem.Network
	nodes  map[event.NodeID]*clusterNode
	calm   bool // nothing goes wrong any more
	over   bool
	asking int // clients that are not done
	acked  [clusterActors]int64
	kids   [clusterActors][]int64 // the values of those that were made
	starts map[uint64]bool        // of the store
	dir    string                 // has the traces
	traces []*clusterTrace
	ticks  int64 // the time of the traces

	saw struct{ crashes, cuts, pauses, failovers, unknown, late, reads, states, traced, lost int }
}

const (
	clusterGroup    replica.Group = 1
	clusterClients                = 3
	clusterReaders                = 2
	clusterActors                 = 12 // of each kind: some are not written in the last term of a leader
	clusterRequests               = 4  // of each client, at least
	clusterTroubles               = 3
	clusterPause                  = 20   // of a reader, in turns
	clusterBegin                  = 1000 // what an actor has at first
)

// newScheduledCluster starts a cluster that writes its traces into a new directory.
func newScheduledCluster(t *testing.T, seed uint64) *scheduledCluster {
	c := &scheduledCluster{seed: seed, dir: t.TempDir(), r: rand.New(rand.NewPCG(seed, 7)), nodes: make(map[event.NodeID]*clusterNode), starts: make(map[uint64]bool)}
	c.s = sched.New(seed, c.story)
	schedtest.Begin(c.story)
	c.net = mem.New(mem.Config{Scheduler: c.s, Rand: rand.New(rand.NewPCG(seed, 11)), Loss: 0.005 * float64(seed%3), Delay: int(seed % 4), Silence: 1000})
	for _, id := range clusterNodes {
		c.start(id, &replicatest.Memory{}, true)
	}
	return c
}

// task starts a task that run waits for.
func (c *scheduledCluster) task(f func()) {
	c.live++
	c.s.Go(&c.tasks, func() {
		f()
		c.live--
	})
}

func (c *scheduledCluster) note(format string, args ...any) {
	fmt.Fprintf(&c.trace, format+"\n", args...)
}

// story tells how to repeat the run, and what has happened in it.
func (c *scheduledCluster) story() string {
	return fmt.Sprintf("go test ./runtime/exec -run TestScheduledClusters -cluster.seed %d -cluster.seeds 1\n%s", c.seed, c.trace.String())
}

// fail ends the process, from whatever task.
func (c *scheduledCluster) fail(format string, args ...any) {
	schedtest.Fail(c.story, format, args...)
}

// start starts a life of a node with what its place has.
func (c *scheduledCluster) start(id event.NodeID, place *replicatest.Memory, first bool) {
	n := &clusterNode{c: c, id: id, place: place}
	n.transport = c.net.Join(id, n)
	d, err := driver.Open(driver.Config{
		Node: id, Disk: driver.NewDisk(place), SendState: n.transport.Bulk, Roles: func(r replica.Role) { n.role = r },
		Send:  func(to event.NodeID, m []byte) { n.transport.Send(to, m) },
		Fatal: func(err error) { c.fail("node %d: %v", id, err) }, Heartbeat: 2, Election: 12, Stall: 1000,
		Rand: rand.New(rand.NewPCG(c.r.Uint64(), uint64(id))), Scheduler: c.s, Logger: quiet, SyncBytes: 1 << 12,
	})
	if err != nil {
		c.fail("node %d does not start: %v", id, err)
		return
	}
	n.driver = d
	c.nodes[id] = n
	n.transport.Peers(clusterNodes)
	if first {
		if err := d.Begin(clusterGroup, 1, 2, 3); err != nil {
			c.fail("node %d: %v", id, err)
		}
	}
	c.task(n.tick)
	c.task(n.lead)
}

// crash ends the life of a node with what its disks have, and starts another later.
func (c *scheduledCluster) crash(id event.NodeID) {
	n := c.nodes[id]
	kept := n.place.Crash(func(unsynced int) int { return c.r.IntN(unsynced + 1) })
	n.gone = true
	if n.trace != nil {
		n.trace.crash()
	}
	c.net.Crash(id)
	c.note("node %d crashes", id)
	c.saw.crashes++
	if err := n.driver.Close(); err != nil {
		c.note("node %d has crashed: %v", id, err)
	}
	for range c.r.IntN(1500) {
		c.s.Yield()
	}
	c.start(id, kept, false)
}

// cut has nothing arrive at a node that another one sends, or arrive again.
func (c *scheduledCluster) cut(from, to event.NodeID, is bool) {
	if is {
		c.net.Cut(from, to)
	} else {
		c.net.Heal(from, to)
	}
}

// pause has the network and the clock of a node stand still; what it runs does not notice. What is sent to it is lost, unless the node holds
// it until it is resumed.
func (c *scheduledCluster) pause(n *clusterNode, holds bool) {
	n.paused, n.holds = true, holds
	c.cutOff(n, true)
}

// resume ends a pause.
func (c *scheduledCluster) resume(n *clusterNode) {
	n.paused = false
	c.cutOff(n, false)
	before := len(n.held)
	for i := 0; i < len(n.held); i++ {
		n.held[i]()
		if i < before {
			for range c.r.IntN(20) { // what was sent first is handled first
				c.s.Yield()
			}
		}
	}
	n.holds, n.held = false, nil
}

// cutOff has nothing leave a node, nor arrive there unless it holds that, or leave and arrive again.
func (c *scheduledCluster) cutOff(n *clusterNode, is bool) {
	for _, other := range clusterNodes {
		if other != n.id {
			c.cut(n.id, other, is)
			c.cut(other, n.id, is && !n.holds)
		}
	}
}

// leader returns a node that runs a system, the first one if none does.
func (c *scheduledCluster) leader() event.NodeID {
	for id := event.NodeID(3); id > 1; id-- {
		if n := c.nodes[id]; n.sys != nil && n.role.Leader == id {
			return id
		}
	}
	return 1
}

// trouble has things go wrong until it is calm.
func (c *scheduledCluster) trouble() {
	for range clusterTroubles {
		for range c.r.IntN(2000) {
			c.s.Yield()
		}
		id := event.NodeID(c.r.IntN(3) + 1)
		switch c.r.IntN(5) {
		case 0:
			c.crash(id)
		case 1: // the leader
			c.crash(c.leader())
		case 4: // the leader, and the next one as soon as it serves: others may not know what it has committed
			before := c.saw.failovers
			c.crash(c.leader())
			for n := 0; n < 100*patience && c.saw.failovers == before; n++ {
				c.s.Yield()
			}
			for range c.r.IntN(20) {
				c.s.Yield()
			}
			c.crash(c.leader())
		case 2:
			other := id%3 + 1
			both := c.r.IntN(2) == 0
			c.note("messages from %d to %d are cut, both ways: %v", id, other, both)
			c.saw.cuts++
			c.cut(id, other, true)
			c.cut(other, id, both)
			for range c.r.IntN(3000) {
				c.s.Yield()
			}
			c.net.HealAll()
		case 3:
			n, holds := c.nodes[c.leader()], c.r.IntN(2) == 0
			c.note("node %d is paused, and holds what arrives: %v", n.id, holds)
			c.saw.pauses++
			c.pause(n, holds)
			for range 1000 + c.r.IntN(4000) {
				c.s.Yield()
			}
			c.resume(n)
		}
	}
	c.calm = true
	c.note("it is calm")
}

// settle waits until all replicas are equal, row by row: nothing is written any more.
func (c *scheduledCluster) settle() {
	const enough = 2000 // looks, in each of which a heartbeat may be sent
	for range enough {
		rows := make(map[string]bool)
		for _, id := range clusterNodes {
			rows[c.nodes[id].rows()] = true
		}
		if len(rows) == 1 {
			return
		}
		for range 100 {
			c.s.Yield()
		}
	}
	var all []string
	for _, id := range clusterNodes {
		all = append(all, c.nodes[id].rows())
	}
	c.fail("the replicas differ when all is calm:\n%s", strings.Join(all, "\n"))
}

func (c *scheduledCluster) run() {
	defer schedtest.Tell() // if it panics
	c.asking = clusterClients
	for i := range clusterClients {
		c.task(func() { c.ask(i) })
	}
	c.task(c.trouble)
	for range clusterReaders {
		c.task(func() {
			for !c.calm {
				c.read()
				for range clusterPause {
					c.s.Yield()
				}
			}
		})
	}
	c.s.Until(func() bool { return c.calm && c.asking == 0 })
	if sys := c.system(); sys != nil {
		sys.Client().Settle()
	}
	for actor, want := range c.acked {
		for _, name := range []string{"here", "there"} {
			if got, _ := c.value(fmt.Sprint(name, actor)); got != want {
				c.fail("%s%d has %d, and %d were answered", name, actor, got, want)
			}
		}
		slices.Sort(c.kids[actor])
		if got := c.kidsOf(fmt.Sprint("here", actor), len(c.kids[actor])); !slices.Equal(got, c.kids[actor]) {
			c.fail("here%d owns actors with %v, and was given %v", actor, got, c.kids[actor])
		}
	}
	c.settle()
	c.over = true
	c.s.Until(func() bool { return c.live == 0 })
	for _, id := range clusterNodes {
		if err := c.nodes[id].driver.Close(); err != nil {
			c.fail("node %d: %v", id, err)
		}
	}
	c.net.Close()
	c.tasks.Wait()
	c.checkTraces()
	writtenArgs.Clear() // they lead to all systems that there were
	schedtest.End()
}

// collectAll returns when all garbage is collected and its cleanups have run: those of many clusters would hold up tests of a collection.
func collectAll() {
	last := make(chan struct{})
	runtime.AddCleanup(new(scheduledCluster), func(last chan struct{}) { close(last) }, last)
	for {
		runtime.GC()
		select {
		case <-last:
			return
		default:
			runtime.Gosched()
		}
	}
}

// Whatever crashes, is cut off or pauses: what was answered has happened, once; readers see it; all of it is one history, which is strictly serialisable; and a
// seed repeats it.
func TestScheduledClusters(t *testing.T) {
	// One task runs at a time, so a second processor only makes it dearer to hand over to the next. What is alive is small.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	seeds := lessIfShort(*clusterSeeds)
	var saw struct{ crashes, cuts, pauses, failovers, unknown, late, reads, states, traced, lost int }
	for seed := *clusterSeed; seed < *clusterSeed+uint64(seeds); seed++ {
		c := newScheduledCluster(t, seed)
		c.run()
		if seed%20 == 0 {
			again := newScheduledCluster(t, seed)
			again.run()
			if again.trace.String() != c.trace.String() || again.s.Choices() != c.s.Choices() {
				t.Fatalf("seed %d has two runs:\n%s\nand\n%s", seed, c.trace.String(), again.trace.String())
			}
		}
		saw.crashes += c.saw.crashes
		saw.cuts += c.saw.cuts
		saw.pauses += c.saw.pauses
		saw.failovers += c.saw.failovers
		saw.unknown += c.saw.unknown
		saw.late += c.saw.late
		saw.reads += c.saw.reads
		saw.states += c.saw.states
		saw.traced += c.saw.traced
		saw.lost += c.saw.lost
	}
	t.Logf("%+v", saw)
	collectAll()
	if seeds >= 60 && (saw.crashes == 0 || saw.cuts == 0 || saw.pauses == 0 || saw.unknown == 0 || saw.lost == 0 || saw.failovers <= seeds) {
		t.Errorf("something never goes wrong: %+v", saw)
	}
}
