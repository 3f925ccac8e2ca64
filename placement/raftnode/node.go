package raftnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// The times of raft, measured: a leader that is cut off is replaced in 1.0 s (p50) and 1.4 s (p99); with raft's defaults in 2.1 and 2.9 s.
const (
	electionTimeout = 500 * time.Millisecond // that of heartbeats, too
	leaseTimeout    = 250 * time.Millisecond
	streamTimeout   = 2 * time.Second // of a message and its answer
	// commitTimeout is after what time, at least, the others learn what was committed last when no entry has followed it. Those of commands one follows
	// at once: see announce. With raft's default, 50 ms, this is half of what it sends while there is nothing to do.
	commitTimeout = 250 * time.Millisecond
)

// A snapshot is taken after so many entries, and so many stay behind it.
const (
	snapshotEvery = 512
	entriesKept   = 1024
	snapshotsKept = 2
)

// Config is what a node of the placement needs to be known.
type Config struct {
	Identity *identity.Identity
	Port     *port.Port
	Members  *Members     // which the port asks
	Log      store.Engine // an engine of its own; it stays open when the node is closed
	Dir      string       // where snapshots are kept
	// Form is the command by which the first node forms the cluster: the program, the numbers of stores, partitions and replicas, and the address
	// of the node. The rest is filled in. The log begins with it: other nodes have none, and it is of no use to a log that has begun.
	Form *placement.Form
	// Addresses returns other addresses at which a node may be, as gossip has them; nil: there are none. What answers there has to prove
	// that it is the node.
	Addresses func(event.NodeID) []string
	// Heard and Settled are what the plan knows of the world: see placement.View. nil: all nodes are heard, no store is settled. Any goroutine calls them.
	Heard   func(event.NodeID) bool
	Settled func(id placement.StoreID, version uint64) bool
	Clock   func() time.Time // nil: time.Now
	Logger  *slog.Logger     // nil: nothing is logged
	// Fatal ends the process: the log was not written, or not in time, or a command cannot be read. Any goroutine calls it, maybe more than once.
	Fatal   func(error)
	DiskMax time.Duration // how long the disk may take to answer; 0: ten seconds
	// LookEvery is how often the leader looks for something to do when nothing has changed; 0: half a second.
	LookEvery time.Duration
}

// Node keeps the placement on a node.
type Node struct {
	cfg       Config
	machine   *machine
	log       *log
	raft      *raft.Raft
	transport *raft.NetworkTransport
	proposals net.Listener
	ctx       context.Context // ends when the node is closed
	end       context.CancelFunc
	wg        sync.WaitGroup
	look      chan struct{}
	learn     chan struct{}
	ledTerm   atomic.Uint64 // the term in which this node leads, and has all that was decided before

	mu struct {
		sync.Mutex
		closed bool // no goroutine is begun
	}
}

// Open opens the placement of a node. A node that has formed the cluster begins its log, once; one that has joined gets it from the
// leader. Its log must be there ever after: one that was lost is an error.
func Open(cfg Config) (*Node, error) {
	assert.That(cfg.Identity != nil && cfg.Port != nil && cfg.Members != nil && cfg.Log != nil && cfg.Fatal != nil, "raftnode: the configuration is not complete")
	cfg.fill()
	n := &Node{cfg: cfg, machine: newMachine(cfg.Fatal), look: make(chan struct{}, 1), learn: make(chan struct{}, 1)}
	if err := n.openLog(); err != nil {
		return nil, err
	}
	to := logger{to: cfg.Logger}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(cfg.Dir, snapshotsKept, to)
	if err != nil {
		return nil, fmt.Errorf("the snapshots of the placement: %w", err)
	}
	if err := n.restore(snapshots); err != nil {
		return nil, err
	}
	// Before the first connection is taken: one of a node that the state does not know could add it to the log, and so make it known.
	cfg.Members.follow(n.machine, func() { wake(n.learn) })
	n.ctx, n.end = context.WithCancel(context.Background())
	s := &stream{Listener: cfg.Port.Listener(port.Placement), self: cfg.Identity.Node, dial: n.Dial}
	s.mu.conns = make(map[net.Conn]struct{})
	n.transport = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Logger: to, Stream: s, MaxPool: 2, Timeout: streamTimeout,
		MaxRPCsInFlight: 1, // a follower that stalls can wedge a pipeline (hashicorp/raft #612)
	})
	n.raft, err = raft.NewRaft(raftConfig(cfg.Identity.Node, to), n.machine, n.log, n.log, snapshots, n.transport)
	if err != nil {
		n.end()
		return nil, errors.Join(fmt.Errorf("the placement: %w", err), n.transport.Close())
	}
	n.proposals = cfg.Port.Listener(port.Proposals)
	n.wg.Go(func() { n.serve(n.proposals) })
	n.wg.Go(n.lead)
	n.wg.Go(n.announce)
	n.wg.Go(n.recheck)
	n.wg.Go(n.askMembers)
	return n, nil
}

func (c *Config) fill() {
	if c.Heard == nil {
		c.Heard = func(event.NodeID) bool { return true }
	}
	if c.Settled == nil {
		c.Settled = func(placement.StoreID, uint64) bool { return false }
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.DiskMax == 0 {
		c.DiskMax = 10 * time.Second
	}
	if c.LookEvery == 0 {
		c.LookEvery = 500 * time.Millisecond
	}
	if c.Form != nil {
		form := *c.Form
		form.Cluster, form.First.Key = c.Identity.Cluster, c.Identity.Key()
		if form.First.Name == "" {
			form.First.Name = c.Identity.Name
		}
		c.Form = &form
	}
}

func raftConfig(self event.NodeID, to logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(serverID(self))
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = electionTimeout, electionTimeout, leaseTimeout
	c.CommitTimeout = commitTimeout
	c.SnapshotInterval, c.SnapshotThreshold, c.TrailingLogs = 10*time.Second, snapshotEvery, entriesKept
	c.ShutdownOnRemove = false        // the process decides what becomes of it
	c.NoSnapshotRestoreOnStart = true // see Node.restore
	c.NoLegacyTelemetry = true
	c.Logger = to
	return c
}

// openLog opens the log, and begins that of the first node of a cluster.
func (n *Node) openLog() (err error) {
	_, formed, err := n.cfg.Identity.Fresh()
	if err != nil {
		return err
	}
	var first func() ([]*raft.Log, error)
	if formed {
		first = n.firstEntries
	}
	n.log, err = openLog(n.cfg.Log, n.cfg.Identity, deadline{n.cfg.DiskMax, n.cfg.Fatal}, n.machine.applied, first)
	return err
}

// firstEntries are the first entries of a new cluster: this node alone votes, and the command that forms the cluster, which is committed by that.
// They are written together: a later start may have other flags, and would form another cluster than the one whose stores were seeded. The command is
// tried here first, as a log that has begun cannot begin again with a better one.
func (n *Node) firstEntries() ([]*raft.Log, error) {
	if n.cfg.Form == nil {
		return nil, fmt.Errorf("node %d is to form its cluster, and was not told how", n.cfg.Identity.Node)
	}
	form := placement.Command{At: n.cfg.Clock(), Form: n.cfg.Form}
	if _, err := (&placement.State{}).Apply(&form); err != nil {
		return nil, err
	}
	command, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	id := serverID(n.cfg.Identity.Node)
	voters := raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{Suffrage: raft.Voter, ID: raft.ServerID(id), Address: raft.ServerAddress(id)}}})
	return []*raft.Log{
		{Index: 1, Term: firstTerm, Type: raft.LogConfiguration, Data: voters},
		{Index: 2, Term: firstTerm, Type: raft.LogCommand, Data: command},
	}, nil
}

// restore makes the state from the last snapshot and the commands of the log that are known to be committed, before raft runs. Raft applies
// entries only when a leader has told it what is committed; but to have a leader, nodes have to know where the others are, which the state says.
// Raft's own remedy, RestoreCommittedLogs, forgets which nodes vote (as of 1.8.0: it looks for them only behind what it has restored).
func (n *Node) restore(snapshots raft.SnapshotStore) error {
	list, err := snapshots.List()
	if err != nil {
		return fmt.Errorf("the snapshots of the placement: %w", err)
	}
	last := uint64(0)
	if len(list) > 0 {
		last = list[0].Index
		_, r, err := snapshots.Open(list[0].ID)
		if err == nil {
			err = errors.Join(n.machine.Restore(r), r.Close())
		}
		if err != nil {
			return fmt.Errorf("snapshot %s of the placement in %s cannot be read: %w", list[0].ID, n.cfg.Dir, err)
		}
	}
	first, _ := n.log.FirstIndex()
	if first > last+1 {
		return fmt.Errorf("the log of the placement begins with entry %d, and the last snapshot in %s has the entries up to %d: snapshots were lost; remove node %d from its cluster, and join as a new one with an empty directory",
			first, n.cfg.Dir, last, n.cfg.Identity.Node)
	}
	committed, err := n.log.committed()
	if err != nil {
		return err
	}
	end, _ := n.log.LastIndex()
	for index := last + 1; index <= min(committed, end); index++ {
		var e raft.Log
		if err := n.log.GetLog(index, &e); err != nil {
			return fmt.Errorf("entry %d of the log of the placement: %w", index, err)
		}
		if e.Type != raft.LogCommand {
			continue
		}
		if _, err := decodeCommand(e.Data); err != nil {
			return fmt.Errorf("command %d of the placement cannot be read; a newer version has proposed it: %w", index, err)
		}
		n.machine.Apply(&e)
	}
	return nil
}

// State returns the state as it is known here. It does not change, and nothing may change it. Any goroutine may call it.
func (n *Node) State() *placement.State {
	s, _ := n.machine.read()
	return s
}

// Watch returns a channel that is closed when the state changes: State has to be called after Watch. Any goroutine may call it.
func (n *Node) Watch() <-chan struct{} { return n.machine.watch() }

// Leader returns the node that leads, as far as is known here; ok is false if none does. Any goroutine may call it.
func (n *Node) Leader() (leader event.NodeID, ok bool) {
	_, id := n.raft.LeaderWithID()
	leader = nodeOf(string(id))
	return leader, leader != 0
}

// Voters returns the nodes that vote, as far as is known here, in no order. Any goroutine may call it.
func (n *Node) Voters() (list []event.NodeID) {
	f := n.raft.GetConfiguration()
	if f.Error() == nil {
		for _, s := range f.Configuration().Servers {
			if s.Suffrage == raft.Voter {
				list = append(list, nodeOf(string(s.ID)))
			}
		}
	}
	return list
}

// Look has the leader look at once for something to do, as when Heard or Settled would say something else than before. Any goroutine may call it.
func (n *Node) Look() { wake(n.look) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// recheck cuts off nodes that are removed.
func (n *Node) recheck() {
	for {
		changed := n.machine.watch()
		n.cfg.Port.Recheck()
		select {
		case <-changed:
		case <-n.ctx.Done():
			return
		}
	}
}

// askPause is how long a node waits before it asks members again for others.
const askPause = 200 * time.Millisecond

// askMembers asks the members that are known for others when one comes that is not.
func (n *Node) askMembers() {
	for {
		select {
		case <-n.learn:
		case <-n.ctx.Done():
			return
		}
		for of := range n.cfg.Members.All() {
			if of == n.cfg.Identity.Node {
				continue
			}
			ctx, cancel := context.WithTimeout(n.ctx, readyTimeMax)
			if r, err := n.ask(ctx, of, &question{Members: true}); err == nil {
				n.cfg.Members.tell(r.Members)
			}
			cancel()
		}
		pause := time.NewTimer(askPause)
		select {
		case <-pause.C:
		case <-n.ctx.Done():
			pause.Stop()
			return
		}
	}
}

// handoverMax is how long a leader that is closed waits for another one.
const handoverMax = time.Second

// Close ends the node. If it leads, another one does first, if there is one. It is called once.
func (n *Node) Close() error {
	if n.raft.State() == raft.Leader && len(n.Voters()) > 1 {
		handed := make(chan struct{})
		n.spawn(func() {
			_ = n.handOver()
			close(handed)
		})
		patience := time.NewTimer(handoverMax)
		select {
		case <-handed:
		case <-patience.C:
		}
		patience.Stop()
	}
	return errors.Join(n.stop(), n.log.noteApplied())
}

// hold keeps raft from being shut down until release is called; ok is false if the node is being closed.
func (n *Node) hold() (release func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.closed {
		return nil, false
	}
	n.wg.Add(1)
	return n.wg.Done, true
}

// spawn begins a goroutine that stop waits for, unless the node is being closed.
func (n *Node) spawn(f func()) bool {
	release, ok := n.hold()
	if ok {
		go func() {
			defer release()
			f()
		}()
	}
	return ok
}

// answersMax is how long a node that is closed waits for raft's answers. Without connections a leader steps down within the lease, and then all are answered.
const answersMax = 5 * time.Second

// stop ends the node as a crash would, but that all goroutines have ended when it returns.
//
// Raft is shut down when nothing waits for it any more: what it is asked while it shuts down it may never answer (as of 1.8.0: the state
// machine ends with batches in its channel, and the futures of these with it).
func (n *Node) stop() error {
	n.end()
	n.mu.Lock()
	n.mu.closed = true
	n.mu.Unlock()
	err := errors.Join(n.proposals.Close(), n.transport.Close())
	ended := make(chan struct{})
	go func() {
		n.wg.Wait()
		close(ended)
	}()
	patience := time.NewTimer(answersMax)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
		err = errors.Join(err, fmt.Errorf("the placement is closed, and raft has not answered for %v", answersMax))
	}
	return errors.Join(err, n.raft.Shutdown().Error())
}
