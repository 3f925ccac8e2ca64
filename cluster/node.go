package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/cluster/link"
	"github.com/aeon-lang/aeon/membership/gossip"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/join"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/placement/raftnode"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/transport/grpc"
)

// The directories below that of a node, beside identity.File.
const (
	placementDir = "placement"
	replicaDir   = "replica"
)

// firstStore is the one that a cluster has at least: it orders events above the stores.
const firstStore placement.StoreID = 0

// node is a node that runs.
type node struct {
	c     *aeonrt.ClusterConfig
	grpc  *GRPC // nil: it takes no calls by gRPC
	id    *identity.Identity
	log   *slog.Logger
	clock *sched.Hybrid
	fail  func(error) // ends the process

	clients   forClients
	callers   *gate.Gate
	port      *port.Port
	roll      *raftnode.Members // which nodes have a part in the cluster
	transport *grpc.Transport
	driver    *driver.Driver
	agreed    store.Engine // the log of the placement
	placement *raftnode.Node
	joins     *join.Server
	gossip    *gossip.Gossip
	front     *front.Front // for clients
	operator  *front.Front // for operators, over the sockets of the nodes
	spans     *span.Tracer // of front
	holders   holders
	links     *link.Links // between stores
	stores    stores
	snapshots snapshotParts
	disk      disk

	servers []func(context.Context) error // each shuts one down
	tasks   sync.WaitGroup
	stop    chan struct{}
	ends    atomic.Bool   // set when close begins: what others are told from then on
	ready   chan struct{} // closed when the parts are connected: what arrives before is lost, or refused

	mu    sync.Mutex
	brief map[event.NodeID]heard // what other nodes have told last
}

// doors are where other nodes reach this one: the same number of a port by TCP and by UDP.
type doors struct {
	tcp net.Listener
	udp *net.UDPConn
}

// close closes what the node has not closed yet.
func (d *doors) close() { _, _ = d.tcp.Close(), d.udp.Close() }

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
	n.holders.of(n, placement.StoreID(r.Group)).turn(r)
}

// refused implements port.Config.Refused.
func (n *node) refused(address, reason string) {
	if raftnode.IsRemoval(reason) {
		n.fail(&removedError{n.id.Node, address})
	}
}

// dialer returns what connects to nodes for a protocol. It is used when the node has a part of the placement.
func (n *node) dialer(protocol port.Protocol) func(ctx context.Context, to event.NodeID) (net.Conn, error) {
	return func(ctx context.Context, to event.NodeID) (net.Conn, error) {
		return n.placement.Dial(ctx, to, protocol)
	}
}

// serve serves requests of clients that a listener accepts, and those that other nodes forward.
func (n *node) serve(l net.Listener) {
	n.serveOn(l, n.server(n.public()))
	n.serveOn(fromNodes{n.port.Listener(port.HTTP)}, n.inner(n.front.Forwarded()))
	n.serveOn(n.port.Listener(port.Control), n.inner(n.operator.Forwarded()))
}

// server returns a server for clients.
func (n *node) server(by http.Handler) *http.Server {
	s := &http.Server{Handler: by, ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug)}
	httpdoor.Bound(s, gate.TimeMaxDefault)
	if n.grpc != nil {
		n.grpc.configure(s)
	}
	return s
}

// inner returns a server for other nodes, or for the operator. A node has bounded what it forwards, and made its head longer. What operators follow has no end.
func (n *node) inner(by http.Handler) *http.Server {
	s := n.server(by)
	s.ReadTimeout, s.WriteTimeout, s.MaxHeaderBytes = 0, 0, 0
	return s
}

func (n *node) serveOn(l net.Listener, server *http.Server) {
	unused := &httpdoor.Unused{}
	server.ConnState = unused.Note
	n.servers = append(n.servers, func(ctx context.Context) error { return unused.Shutdown(ctx, server) })
	n.tasks.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			n.fail(err)
		}
	})
}

// readiness implements front.Config.Ready.
func (n *node) readiness() error {
	stores := n.placement.State().Stores
	if len(stores) == 0 {
		return errNoStores
	}
	for id := range stores {
		id := placement.StoreID(id)
		if _, at, _ := n.holders.of(n, id).known(); at.Here == nil && at.Node == 0 {
			return fmt.Errorf("no node runs the actors of store %d now, as far as this one knows", id)
		}
	}
	return nil
}

// close ends the parts that there are. Leadership is given to others first, and is not taken again: the servers wait for requests that are under way, which
// may wait for a store. For the others to leave a store where it has gone, this node says that it ends before it gives the first one away.
func (n *node) close(ctx context.Context) {
	n.ends.Store(true)
	if n.isReady() {
		n.giveUp(ctx)
	}
	n.holders.end()
	close(n.stop)
	var servers sync.WaitGroup
	for _, shutdown := range n.servers {
		servers.Go(func() { _ = shutdown(ctx) }) // the error is that of ctx
	}
	grace := time.AfterFunc(graceMax, n.holders.cutOff)
	servers.Wait()
	grace.Stop()
	for _, f := range []*front.Front{n.front, n.operator} {
		if f != nil {
			f.Close()
		}
	}
	if n.gossip != nil {
		n.close1(n.gossip.Close)
	}
	if n.joins != nil {
		n.close1(n.joins.Close)
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
	if n.agreed != nil { // last: it holds the directory, and what waits for that takes the ports next
		n.close1(n.agreed.Close)
	}
}

func (n *node) close1(f func() error) {
	if err := f(); err != nil {
		n.log.Debug("a part of the node has not ended well", "error", err)
	}
}

// giveUp has other nodes lead what this one leads, if they are up to date.
func (n *node) giveUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, transferMax)
	defer cancel()
	n.driver.Retire()
	for _, h := range n.holders.all() {
		h.awaitOther(ctx)
	}
}

// handler implements transport.Handler. What arrives before the node is ready is lost, or refused.
type handler struct{ n *node }

// The last byte of a message says what it is of.
const (
	ofReplicas = iota // the raft groups
	ofStores          // package link
)

// Up implements transport.Handler. Raft begins by itself.
func (h handler) Up(id event.NodeID) {
	h.n.links.Up(id)
}

// Message implements transport.Handler.
func (h handler) Message(from event.NodeID, m []byte) {
	if len(m) == 0 {
		return
	}
	rest := m[:len(m)-1]
	switch m[len(m)-1] {
	case ofReplicas:
		if h.n.isReady() {
			h.n.driver.Message(from, rest)
		}
	case ofStores:
		if err := h.n.links.Message(from, rest); err != nil {
			h.n.log.Error("what another node tells of its stores cannot be read", "node", from, "error", err)
			h.n.transport.Break(from)
		}
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
	h.n.links.Down(id)
}

var errStarting = errors.New("the node is starting")

// errNoStores is for a node that has begun, or joined, and has not heard of the placement yet.
var errNoStores = errors.New("this node does not know the stores of its cluster yet")
