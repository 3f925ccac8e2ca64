package raftnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Config says how a node takes part.
type Config struct {
	Node event.NodeID
	// Engine has the log; Close closes it. Dir has snapshots.
	Engine store.Engine
	Dir    string
	// Listener takes connections of other nodes, and Dial makes one. Call has another node's Handle answer a request.
	Listener net.Listener
	Dial     func(ctx context.Context, n event.NodeID) (net.Conn, error)
	Call     func(ctx context.Context, n event.NodeID, request []byte) ([]byte, error)
	// Forms says that this node forms the cluster; its log is empty.
	Forms bool
	// Heard and Settled are what placement.View has.
	Heard   func(event.NodeID) bool
	Settled func(placement.StoreID) bool
	// Fatal is called when the disk hangs or fails: the process has to end.
	Fatal  func(error)
	Logger *slog.Logger
}

// A leader is replaced within p50 1.0 s and p99 1.4 s with these; with the defaults of raft it takes 2.1 and 2.9 s.
const (
	heartbeatTimeout = 500 * time.Millisecond
	leaseTimeout     = 250 * time.Millisecond
	commitTimeout    = 20 * time.Millisecond
	networkTimeout   = 2 * time.Second
	diskDeadline     = 10 * time.Second
	snapshotsKept    = 2
	retryInterval    = 50 * time.Millisecond
)

// Node is one node's part. Any goroutine may call it.
type Node struct {
	cfg     Config
	raft    *raft.Raft
	machine *machine
	network *raft.NetworkTransport
	stream  *stream
	stop    chan struct{}
	tasks   sync.WaitGroup
	once    sync.Once
}

// Errors of proposals.
var (
	// ErrUnknown means that the command may have been taken, and may not.
	ErrUnknown = errors.New("it is unknown whether the cluster has taken the command")
	// ErrNoLeader means that too few nodes are there; nothing has changed.
	ErrNoLeader = errors.New("no node leads the placement: too few of its voters are there")
)

// Open has a node take part.
func Open(cfg Config) (*Node, error) {
	n := &Node{cfg: cfg, machine: newMachine(), stop: make(chan struct{})}
	c := raft.DefaultConfig()
	c.LocalID = serverOf(cfg.Node)
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout, c.CommitTimeout = heartbeatTimeout, heartbeatTimeout, leaseTimeout, commitTimeout
	c.SnapshotThreshold, c.TrailingLogs = 1024, 512
	c.Logger = logger(cfg.Logger)
	n.stream = &stream{Listener: cfg.Listener, dial: cfg.Dial, open: make(map[net.Conn]bool)}
	l := &log{cfg.Engine, diskDeadline, cfg.Fatal}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(cfg.Dir, snapshotsKept, c.Logger)
	if err != nil {
		return nil, err
	}
	n.network = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: n.stream, MaxPool: 2, Timeout: networkTimeout, Logger: c.Logger,
		MaxRPCsInFlight: 1, // a follower that stalls can wedge a pipeline (hashicorp/raft issue 612)
	})
	if cfg.Forms {
		err = raft.BootstrapCluster(c, l, l, snapshots, n.network, raft.Configuration{Servers: []raft.Server{
			{ID: serverOf(cfg.Node), Address: addressOf(cfg.Node)},
		}})
		if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
			return nil, errors.Join(err, n.network.Close())
		}
	}
	if n.raft, err = raft.NewRaft(c, n.machine, l, l, snapshots, n.network); err != nil {
		return nil, errors.Join(err, n.network.Close())
	}
	n.tasks.Go(n.lead)
	return n, nil
}

func serverOf(n event.NodeID) raft.ServerID { return raft.ServerID(strconv.FormatUint(uint64(n), 10)) }

func addressOf(n event.NodeID) raft.ServerAddress { return raft.ServerAddress(serverOf(n)) }

func nodeOf(id string) event.NodeID {
	n, _ := strconv.ParseUint(id, 10, 64) // 0 is no node
	return event.NodeID(n)
}

// State returns what this node knows to be agreed on, which does not change, and a channel that is closed when there is something newer.
func (n *Node) State() (*placement.State, <-chan struct{}) { return n.machine.now() }

// Leader returns the node that leads the placement, as far as this node knows; 0: none.
func (n *Node) Leader() event.NodeID {
	_, id := n.raft.LeaderWithID()
	return nodeOf(string(id))
}

// Voters returns the nodes whose votes count.
func (n *Node) Voters() (list []event.NodeID) {
	f := n.raft.GetConfiguration()
	if f.Error() != nil {
		return nil
	}
	for _, s := range f.Configuration().Servers {
		if s.Suffrage == raft.Voter {
			list = append(list, nodeOf(string(s.ID)))
		}
	}
	return list
}

// Propose has the cluster take a command. It waits for a leader until ctx ends. The error is a *placement.Refusal, ErrUnknown or ErrNoLeader.
func (n *Node) Propose(ctx context.Context, c placement.Command) (placement.Result, error) {
	c.At = time.Now().UTC()
	b, err := json.Marshal(c)
	if err != nil {
		return placement.Result{}, err
	}
	for {
		o, err := n.try(ctx, b)
		switch {
		case err == nil && o.Refusal != "":
			return o.Result, &placement.Refusal{Reason: o.Refusal}
		case err == nil || errors.Is(err, ErrUnknown):
			return o.Result, err
		}
		select {
		case <-ctx.Done():
			return o.Result, ErrNoLeader
		case <-n.stop:
			return o.Result, ErrNoLeader
		case <-time.After(retryInterval):
		}
	}
}

// try proposes a command once. An error other than ErrUnknown means that it was not taken.
func (n *Node) try(ctx context.Context, command []byte) (o outcome, err error) {
	leader := n.Leader()
	switch leader {
	case 0:
		return o, ErrNoLeader
	case n.cfg.Node:
		return n.apply(command)
	}
	answer, err := n.cfg.Call(ctx, leader, command)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var r reply
	if err := json.Unmarshal(answer, &r); err != nil {
		return o, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	switch {
	case r.Unknown:
		return r.Outcome, ErrUnknown
	case !r.Led:
		return r.Outcome, ErrNoLeader
	}
	return r.Outcome, nil
}

// reply is what Handle answers.
type reply struct {
	Led     bool    `json:"led"` // the node led, and has proposed the command
	Unknown bool    `json:"unknown"`
	Outcome outcome `json:"outcome"`
}

// Handle answers a request that another node's Call has sent.
func (n *Node) Handle(request []byte) ([]byte, error) {
	o, err := n.apply(request)
	return json.Marshal(reply{err == nil || errors.Is(err, ErrUnknown), errors.Is(err, ErrUnknown), o})
}

// apply proposes a command, as the leader.
func (n *Node) apply(command []byte) (o outcome, err error) {
	f := n.raft.Apply(command, networkTimeout)
	switch err := f.Error(); {
	case err == nil:
		return f.Response().(outcome), nil
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrRaftShutdown):
		return o, ErrNoLeader
	default:
		return o, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
}

// Close ends the node's part.
func (n *Node) Close() (err error) {
	n.once.Do(func() {
		close(n.stop)
		err = n.raft.Shutdown().Error()
		n.tasks.Wait()
		err = errors.Join(err, n.network.Close())
		n.stream.end()
		err = errors.Join(err, n.cfg.Engine.Close())
	})
	return err
}

// stream implements raft.StreamLayer. Raft leaves connections that it has accepted open when it is shut down; end closes them.
type stream struct {
	net.Listener
	dial func(ctx context.Context, n event.NodeID) (net.Conn, error)

	mu   sync.Mutex
	open map[net.Conn]bool // nil after end
}

// Accept implements net.Listener.
func (s *stream) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	k := &accepted{c, s}
	s.open[k] = true
	return k, nil
}

func (s *stream) end() {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
}

// accepted is a connection that is open.
type accepted struct {
	net.Conn
	of *stream
}

// Close implements net.Conn.
func (c *accepted) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Dial implements raft.StreamLayer.
func (s *stream) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return s.dial(ctx, nodeOf(string(address)))
}

// logger returns raft's logger: its lines are details of ours, as the node says itself what an operator has to know.
func logger(to *slog.Logger) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "placement", Level: hclog.Debug, DisableTime: true, Output: lines{to}})
}

type lines struct{ to *slog.Logger }

// Write implements io.Writer.
func (l lines) Write(b []byte) (int, error) {
	l.to.Debug(strings.TrimSpace(string(b)))
	return len(b), nil
}
