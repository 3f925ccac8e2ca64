package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/cluster/link"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/join"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/placement/raftnode"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/transport/grpc"
)

// start starts a node, which other nodes reach by own. told are the members that a node has been told of that has just joined. agreed is the log of the
// placement, nil if the node has not used its directory. adopted is what a cluster that begins has at first; it may be nil. fail is called once if the node must end.
// ctx is that of begin.
func start(ctx context.Context, c *aeonrt.ClusterConfig, g *GRPC, id *identity.Identity, own *doors, told map[event.NodeID]placement.Member, agreed store.Engine, adopted *adopted, clients forClients, fail func(error)) (*node, error) {
	n := &node{c: c, grpc: g, clients: clients, id: id, agreed: agreed, log: c.Log, roll: raftnode.NewMembers(told), stop: make(chan struct{}), ready: make(chan struct{}), brief: make(map[event.NodeID]heard)}
	var once sync.Once
	n.fail = func(err error) { once.Do(func() { fail(err) }) }
	if err := n.open(ctx, own, adopted); err != nil {
		closeSoon(n.close)
		return nil, err
	}
	return n, nil
}

// lookEvery is how often the leader of the placement looks whether something is to be done.
const lookEvery = 200 * time.Millisecond

// open opens the parts of the node, and connects them.
func (n *node) open(ctx context.Context, own *doors, adopted *adopted) (err error) {
	if err := n.notLost(); err != nil {
		return err
	}
	if err := n.openAgreed(); err != nil {
		return err
	}
	if n.spans, err = n.c.Spans.Begin(n.id.Node, fmt.Sprintf("%s-%d", n.id.Cluster, n.id.Node), ""); err != nil {
		return err
	}
	if err := n.c.Snapshots.Open(n.id.Node, n.everIn, n.log); err != nil {
		return err
	}
	if n.port, err = port.Listen(port.Config{TCP: own.tcp, Identity: n.id, Verify: n.roll.Verify, Refused: n.refused, Logger: n.log}); err != nil {
		return err
	}
	n.clock = sched.NewHybrid(sched.RealClock{})
	n.c.Clock = n.clock
	n.links = link.New(link.Config{Node: n.id.Node, // before the transport, which tells of sessions at once
		Send: func(to event.NodeID, m []byte) { n.transport.SendReliable(to, append(m, ofStores)) }})
	n.transport = grpc.New(grpc.Config{
		Node: n.id.Node, Listener: n.port.Listener(port.Transport), Dial: n.dialer(port.Transport), Handler: handler{n}, Clock: n.clock, Logger: n.log,
		Progress: func() bool { return !n.isReady() || n.driver.Progresses() },
	})
	if err := n.openDriver(ctx, adopted); err != nil {
		return err
	}
	// The log of the placement begins last: with it the identity counts as used, and a node that was used has all its logs.
	if err := n.openPlacement(); err != nil {
		return err
	}
	n.joins = join.Serve(join.ServerConfig{Port: n.port, Cluster: n.placement, Logger: n.log})
	if err := n.startGossip(own.udp); err != nil {
		return err
	}
	var pages http.Handler
	if n.clients.pages != nil {
		pages = httpdoor.Pages(n.clients.pages, &n.holders.counts)
	}
	n.callers = gate.New(gate.Config{Log: n.log, Counts: &n.holders.counts, Fail: n.fail, Tokens: n.clients.tokens, Audit: n.holders.audited})
	n.front = front.New(front.Config{Node: n.id.Node, Gate: n.callers, Pages: pages, Known: n.knowStores, Store: n.route, Locate: n.locate, Here: n.here, Dial: n.dialer(port.HTTP), Ready: n.readiness, GRPC: n.grpc.front(n), Spans: n.spans, Clock: n.clock, Log: n.log})
	n.operator = front.New(front.Config{Store: n.operated, Locate: n.locateControl, Here: n.controls, Dial: n.dialer(port.Control), Ready: n.readiness, Log: n.log})
	close(n.ready)
	n.holders.run(n)
	n.tasks.Go(n.keepStores)
	n.tasks.Go(n.askOthers)
	n.tasks.Go(n.tellAddress)
	n.tasks.Go(n.takeSnapshots)
	return nil
}

// openDriver opens the groups that this node takes part in, and what runs the system of the store.
func (n *node) openDriver(ctx context.Context, adopted *adopted) (err error) {
	c := n.c
	if c.Listen.Audit != "" {
		if n.holders.audited, err = audit.Open(c.Listen.Audit); err != nil {
			return err
		}
	}
	disk := driver.NewDisk(driver.Dir{Root: filepath.Join(c.State.Dir, replicaDir), Opener: c.OpenEngine, Options: c.StateOptions(), LogOptions: c.LogOptions()})
	if err := n.seed(ctx, disk, adopted); err != nil {
		return err
	}
	n.driver, err = driver.Open(driver.Config{
		Node: n.id.Node, Disk: disk,
		Send: func(to event.NodeID, m []byte) { n.transport.Send(to, append(m, ofReplicas)) }, SendState: n.transport.Bulk, Roles: n.turn, Fatal: n.fail, Tick: driver.TickDefault,
		Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), Clock: n.clock, Logger: n.log,
	})
	return err
}

// openAgreed opens the engine of the placement's log, unless that is open. If that has begun, the stores are what it says, and nothing is seeded any more.
func (n *node) openAgreed() error {
	if n.agreed == nil {
		e, err := n.c.OpenEngine(filepath.Join(n.c.State.Dir, placementDir), n.c.LogOptions())
		if err != nil {
			return err // e may be an interface with a nil in it, which close would close
		}
		n.agreed = e
	}
	_, err := raftnode.Begun(n.agreed, n.id)
	return err
}

// openPlacement opens what this node has of the placement.
func (n *node) openPlacement() (err error) {
	cfg := raftnode.Config{
		Identity: n.id, Port: n.port, Members: n.roll, Log: n.agreed, Dir: filepath.Join(n.c.State.Dir, placementDir), Addresses: n.addresses, Heard: n.heard, Settled: n.settled,
		Logger: n.log, Fatal: n.fail, LookEvery: lookEvery,
	}
	if n.id.Node == firstNode {
		cfg.Form = &placement.Form{Program: n.c.Package.Name, Stores: n.c.Stores, Partitions: int(event.Partitions), Replicas: 3,
			First: placement.Member{Name: cmp.Or(n.c.Name, n.id.Name, placement.NameOf(n.id.Node)), Address: n.c.Address()}}
	}
	n.placement, err = raftnode.Open(cfg)
	return err
}

// firstNode is the one that forms a cluster.
const firstNode event.NodeID = 1

// notLost refuses a directory whose logs are gone, with the votes that this node has given: only a node that has never kept any begins with none.
func (n *node) notLost() error {
	fresh, _, err := n.id.Fresh()
	if err != nil || fresh {
		return err
	}
	for _, dir := range []string{placementDir, replicaDir} {
		if _, err := os.Stat(filepath.Join(n.c.State.Dir, dir)); err != nil {
			return fmt.Errorf("%s is of node %d, and has lost what the node kept (%w)\n\ta lost disk is a new node: \"aeond replace %s\" on another one, and join with an empty directory", n.c.State.Dir, n.id.Node, err, cmp.Or(n.id.Name, placement.NameOf(n.id.Node)))
		}
	}
	return nil
}
