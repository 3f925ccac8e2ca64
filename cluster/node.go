package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/placement/raftnode"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport/grpc"
)

// The directories below that of a node, beside identity.File.
const (
	placementDir = "placement"
	replicaDir   = "replica"
)

// theStore is the store that has all actors, as long as events do not span several.
const theStore placement.StoreID = 0

// node is a node that runs.
type node struct {
	c    *aeonrt.ClusterConfig
	id   *identity.Identity
	log  *slog.Logger
	fail func(error) // ends the process

	port      *port.Port
	transport *grpc.Transport
	driver    *driver.Driver
	placement *raftnode.Node
	front     *front.Front
	holder    *holder // of theStore
	stores    stores

	servers []*http.Server
	tasks   sync.WaitGroup
	stop    chan struct{}
	ready   chan struct{} // closed when the parts are connected: what arrives before is lost, or refused
	members members

	mu    sync.Mutex
	brief map[event.NodeID]heard // what other nodes have told last
}

// start starts a node. fail is called once if it must end.
func start(c *aeonrt.ClusterConfig, id *identity.Identity, fail func(error)) (n *node, err error) {
	n = &node{c: c, id: id, log: c.Log, stop: make(chan struct{}), ready: make(chan struct{}), brief: make(map[event.NodeID]heard)}
	var once sync.Once
	n.fail = func(err error) { once.Do(func() { fail(err) }) }
	defer func() {
		if err != nil {
			n.close(context.Background())
		}
	}()
	if err := n.members.load(filepath.Join(c.State.Dir, membersFile)); err != nil {
		return nil, err
	}
	fresh, formed, err := id.Fresh()
	if err != nil {
		return nil, err
	}
	if err := n.notLost(fresh); err != nil {
		return nil, err
	}
	if n.port, err = port.Listen(port.Config{Address: c.Address, Identity: id, Verify: n.verify, Logger: n.log}); err != nil {
		return nil, fmt.Errorf("--cluster-listen: %w", err)
	}
	n.transport = grpc.New(grpc.Config{
		Node: id.Node, Listener: n.port.Listener(port.Transport), Dial: n.dialer(port.Transport), Handler: handler{n}, Logger: n.log,
		Progress: func() bool { return !n.isReady() || n.driver.Progresses() },
	})
	engine, err := c.OpenEngine(filepath.Join(c.State.Dir, placementDir), c.EngineOptions())
	if err != nil {
		return nil, err
	}
	n.placement, err = raftnode.Open(raftnode.Config{
		Node: id.Node, Engine: engine, Dir: filepath.Join(c.State.Dir, placementDir), Listener: n.port.Listener(port.Placement), Dial: n.dialer(port.Placement),
		Call: n.callPlacement, Forms: fresh && formed, Heard: n.heard, Settled: n.settled, Fatal: n.fail, Logger: n.log,
	})
	if err != nil {
		return nil, err
	}
	n.members.of.Store(n.placement)
	var audited *audit.Log
	if c.Listen.Audit != "" {
		if audited, err = audit.Open(c.Listen.Audit); err != nil {
			return nil, err
		}
	}
	n.holder = newHolder(id.Node, replica.Group(theStore), opener(c, &gate.Counts{}, audited, n.fail), n.log)
	n.driver, err = driver.Open(driver.Config{
		Node: id.Node, Disk: driver.NewDisk(driver.Dir{Root: filepath.Join(c.State.Dir, replicaDir), Opener: c.OpenEngine, Options: c.EngineOptions()}),
		Send: func(to event.NodeID, m []byte) { n.transport.Send(to, m) }, SendState: n.transport.Bulk, Roles: n.turn, Fatal: n.fail, Tick: driver.TickDefault,
		Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), Logger: n.log,
	})
	if err != nil {
		return nil, err
	}
	n.holder.driver = n.driver
	if err := id.Begun(); err != nil {
		return nil, err
	}
	n.front = front.New(front.Config{Locate: n.holder.locate, Here: n.holder.here, Dial: n.dialer(port.HTTP), Ready: n.readiness, Log: n.log})
	close(n.ready)
	n.tasks.Go(n.holder.run)
	n.tasks.Go(n.keepStores)
	n.tasks.Go(n.askOthers)
	n.tasks.Go(func() { n.serveJoins(n.port.Listener(port.Join)) })
	if id.Node == firstNode {
		n.tasks.Go(n.form)
	}
	return n, nil
}

// firstNode is the one that forms a cluster.
const firstNode event.NodeID = 1

// notLost refuses a directory whose logs are gone, with the votes that this node has given: only a node that has never kept any begins with none.
func (n *node) notLost(fresh bool) error {
	if fresh {
		return nil
	}
	for _, dir := range []string{placementDir, replicaDir} {
		if _, err := os.Stat(filepath.Join(n.c.State.Dir, dir)); err != nil {
			return fmt.Errorf("%s is of node %d, and has lost what the node kept (%w)\n\ta lost disk is a new node: \"aeond replace %s\" on another one, and join with an empty directory", n.c.State.Dir, n.id.Node, err, cmp.Or(n.id.Name, placement.NameOf(n.id.Node)))
		}
	}
	return nil
}

func (n *node) isReady() bool {
	select {
	case <-n.ready:
		return true
	default:
		return false
	}
}

// turn takes a change of a leader.
func (n *node) turn(r replica.Role) {
	if r.Group == n.holder.group {
		n.holder.turn(r)
	}
}

// removedReason is why a member refuses one that was removed. It is agreed on, so one member's word is enough.
const removedReason = "it is no member of the cluster any more"

// removedError ends a node that was removed.
type removedError struct {
	node event.NodeID
	by   string // the member that has said so
}

// Error implements error.
func (e *removedError) Error() string {
	return fmt.Sprintf("node %d was removed from the cluster, as %s says; to have this machine in it again, join with an empty directory and a token", e.node, e.by)
}

// verify implements port.Verify. A node that this one has not heard of is let in, as it may have joined by others.
func (n *node) verify(id event.NodeID, key placement.Fingerprint) error {
	s := n.members.known()
	m, is := s.Members[id]
	switch {
	case !is && id > s.LastNode:
		return nil
	case !is || m.Membership == placement.Removed:
		return errors.New(removedReason)
	case m.Key != key:
		return fmt.Errorf("node %d has another key than that with which it has joined", id)
	}
	return nil
}

// dialer returns what connects to nodes for a protocol.
func (n *node) dialer(protocol port.Protocol) func(ctx context.Context, to event.NodeID) (net.Conn, error) {
	return func(ctx context.Context, to event.NodeID) (net.Conn, error) {
		s := n.members.known()
		m, is := s.Members[to]
		if !is || m.Membership == placement.Removed {
			return nil, fmt.Errorf("node %d is no member of the cluster", to)
		}
		c, err := n.port.Dial(ctx, m.Address, protocol, to)
		if refused := new(port.RefusedError); errors.As(err, &refused) && strings.Contains(refused.Reason, removedReason) {
			n.fail(&removedError{n.id.Node, m.Name})
		}
		if err != nil {
			return nil, err // and no *port.Conn that is nil
		}
		return c, nil
	}
}

// form has the cluster be formed, by its first node.
func (n *node) form() {
	for {
		if s, _ := n.placement.State(); s.Cluster != "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := n.placement.Propose(ctx, placement.Command{Form: &placement.Form{
			Cluster: n.id.Cluster, Program: n.c.Package.Name, Stores: 1, Partitions: int(event.Partitions), Replicas: 3,
			First: placement.Member{Name: cmp.Or(n.id.Name, placement.NameOf(n.id.Node)), Address: n.c.Address, Key: n.id.Key()},
		}})
		cancel()
		if err != nil {
			n.log.Debug("the cluster is not formed yet", "error", err)
		}
		select {
		case <-n.stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// serve serves requests of clients that a listener accepts, and those that other nodes forward.
func (n *node) serve(l net.Listener) {
	for _, s := range []struct {
		from net.Listener
		by   http.Handler
	}{{l, n.public()}, {n.port.Listener(port.HTTP), n.front.Forwarded()}} {
		server := &http.Server{Handler: s.by, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug)}
		n.servers = append(n.servers, server)
		n.tasks.Go(func() {
			if err := server.Serve(s.from); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
				n.fail(err)
			}
		})
	}
}

// readiness implements front.Config.Ready.
func (n *node) readiness() error {
	_, at, _ := n.holder.known()
	if at.Here == nil && at.Node == 0 {
		return errors.New("no node runs the actors now, as far as this one knows")
	}
	return nil
}

// close ends the parts that there are. Leadership is given to others first.
func (n *node) close(ctx context.Context) {
	if n.holder != nil {
		n.giveUp(ctx)
		n.holder.end()
	}
	close(n.stop)
	for _, s := range n.servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	}
	if n.front != nil {
		n.front.Close()
	}
	if n.placement != nil {
		n.close1(n.placement.Close)
	}
	if n.transport != nil {
		n.close1(n.transport.Close)
	}
	if n.port != nil {
		n.close1(n.port.Close)
	}
	if n.driver != nil {
		n.close1(n.driver.Close)
	}
	n.tasks.Wait()
}

func (n *node) close1(f func() error) {
	if err := f(); err != nil {
		n.log.Debug("a part of the node has not ended well", "error", err)
	}
}

// transferMax is how long a node that ends waits until another one leads its stores.
const transferMax = time.Second

// giveUp has another node lead what this one leads, if one is up to date.
func (n *node) giveUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, transferMax)
	defer cancel()
	role, _, _ := n.holder.known()
	if role.Leader != n.id.Node {
		return
	}
	n.holder.resign()
	for {
		n.holder.mu.Lock()
		role, changed := n.holder.role, n.holder.changed
		n.holder.mu.Unlock()
		list, _ := n.driver.Progress(replica.Group(theStore))
		if role.Leader != n.id.Node && role.Leader != 0 || len(list) == 1 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// handler implements transport.Handler. What arrives before the node is ready is lost, or refused.
type handler struct{ n *node }

// Up implements transport.Handler. Raft begins by itself.
func (h handler) Up(event.NodeID) {}

// Message implements transport.Handler.
func (h handler) Message(from event.NodeID, m []byte) {
	if h.n.isReady() {
		h.n.driver.Message(from, m)
	}
}

// Bulk implements transport.Handler.
func (h handler) Bulk(from event.NodeID, header []byte, r io.Reader) error {
	if !h.n.isReady() {
		return errStarting
	}
	return h.n.driver.TakeState(from, header, r)
}

// Down implements transport.Handler.
func (h handler) Down(id event.NodeID) {
	if h.n.isReady() {
		h.n.driver.Down(id)
	}
}

var errStarting = errors.New("the node is starting")
