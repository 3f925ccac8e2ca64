package join

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// answerMax is how long a member takes for an answer at most, the wait for a leader of the placement included.
const answerMax = 15 * time.Second

// turnMax is how long of that a node waits for its turn: then it hears that, and may ask again.
const turnMax = answerMax * 2 / 3

// requestTime is how long a member waits for a request, if it is not told otherwise.
const requestTime = 5 * time.Second

// How many nodes a member has to do with at a time: anything that can reach its port may connect.
const (
	// silentMax are the connections that a request is still to come from. If there is one more, the oldest is closed: a request comes within
	// milliseconds.
	silentMax = 64
	// answeredMax are the nodes that are answered at once. waitingMax more may wait for that; others are to ask again.
	answeredMax = 8
	waitingMax  = 64
)

// Cluster is the placement, as *raftnode.Node is it. Any goroutine may call it.
type Cluster interface {
	Propose(context.Context, placement.Command) (placement.Result, error)
	Current(context.Context) (*placement.State, error)
}

// ServerConfig is what a server needs to be known.
type ServerConfig struct {
	Port    *port.Port
	Cluster Cluster
	Clock   func() time.Time // nil: time.Now
	Logger  *slog.Logger     // nil: nothing is logged
	Request time.Duration    // how long a connection may be silent before its request has come; 0: five seconds
}

// Server admits nodes.
type Server struct {
	cfg      ServerConfig
	identity *identity.Identity
	listener net.Listener
	ctx      context.Context // ends when the server is closed
	end      context.CancelFunc
	waiting  chan struct{} // one for each node that has asked
	slots    chan struct{} // one for each that is answered
	wg       sync.WaitGroup

	mu     sync.Mutex
	silent []net.Conn // connections without a request, the oldest first
}

// Serve begins to admit nodes.
func Serve(cfg ServerConfig) *Server {
	assert.That(cfg.Port != nil && cfg.Cluster != nil, "join: the configuration is not complete")
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Request == 0 {
		cfg.Request = requestTime
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, identity: cfg.Port.Identity(), listener: cfg.Port.Listener(port.Join),
		waiting: make(chan struct{}, answeredMax+waitingMax), slots: make(chan struct{}, answeredMax)}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.wg.Go(s.accept)
	return s
}

// Close ends the server, and the answers that are under way.
func (s *Server) Close() error {
	s.end()
	err := s.listener.Close()
	s.wg.Wait()
	return err
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.connected(c)
		s.wg.Go(func() { s.serve(c.(*port.Conn)) })
	}
}

// connected notes a connection from which a request is to come, and closes the oldest one if there are too many.
func (s *Server) connected(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.silent) >= silentMax {
		_ = s.silent[0].Close()
		s.silent = slices.Delete(s.silent, 0, 1)
	}
	s.silent = append(s.silent, c)
}

// read reads the request of a connection.
func (s *Server) read(c *port.Conn) (q request, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Request)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err = receive(c, requestMax, &q)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = slices.DeleteFunc(s.silent, func(o net.Conn) bool { return o == c })
	return q, err
}

func (s *Server) serve(c *port.Conn) {
	q, err := s.read(c)
	if err != nil {
		_ = c.Close()
		s.cfg.Logger.Info("a node that wants to join cannot be read", "from", c.RemoteAddr(), "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, answerMax)
	defer cancel()
	defer during(ctx, c)()
	r := s.decide(ctx, c, &q)
	switch {
	case r.Admission != nil:
		s.cfg.Logger.Info("a node has joined", "node", r.Admission.Node, "name", r.Admission.Name, "address", q.Address)
	default:
		s.cfg.Logger.Warn("a node has not joined", "name", q.Name, "from", c.RemoteAddr(), "reason", r.Refusal+r.Retry)
	}
	if err := send(c, &r); err != nil {
		s.cfg.Logger.Warn("a node has not been answered; it may ask again", "name", q.Name, "error", err)
	}
}

// decide checks a request, and answers it when it is its turn.
func (s *Server) decide(ctx context.Context, c *port.Conn, q *request) reply {
	switch {
	case q.Format != format:
		return reply{Refusal: fmt.Sprintf("the node asks in format %d, and the cluster answers format %d: use the same version of aeon", q.Format, format)}
	case !proves(c.Conn, q.Key, q.Proof):
		return reply{Refusal: "the node has not proved that it has the private key"}
	}
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return reply{Retry: fmt.Sprintf("%d nodes ask to join, and more than that cannot wait", cap(s.waiting))}
	}
	turn, cancel := context.WithTimeout(ctx, turnMax)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-turn.Done():
		return reply{Retry: fmt.Sprintf("%d nodes ask to join, and those before this one are not answered within %v", len(s.waiting), turnMax)}
	}
	return s.answer(ctx, q)
}

// answer decides on a request.
func (s *Server) answer(ctx context.Context, q *request) reply {
	refused := func(format string, args ...any) reply { return reply{Refusal: fmt.Sprintf(format, args...)} }
	now := s.cfg.Clock()
	if err := sched.CompareClocks(q.Time, now); err != nil {
		return refused("node %d does not admit the node: %v", s.identity.Node, err)
	}
	token, err := identity.ParseToken(q.Token)
	switch {
	case err != nil:
		return refused("%v", err)
	case token.Cluster != s.identity.Cluster:
		return refused("the token is of cluster %s, and this is cluster %s", token.Cluster, s.identity.Cluster)
	}
	key, err := identity.KeyFingerprint(q.Key)
	if err != nil {
		return refused("the key of the node: %v", err)
	}
	state, err := s.cfg.Cluster.Current(ctx)
	if err != nil {
		return reply{Retry: err.Error()}
	}
	if q.Program != state.Program {
		return refused("the cluster runs the program %s, and the node has %s: build both from the same source", state.Program, q.Program)
	}
	for n, m := range state.Members {
		switch {
		case m.Key != key:
		case m.Membership == placement.Removed:
			return refused("node %d, %s, is what this node was, and was removed: join as a new one, with an empty directory", n, m.Name)
		default:
			return s.admit(n, m.Name, q.Key, state) // it has joined before, and has no answer yet
		}
	}
	hash := token.Hash()
	switch _, known := state.Tokens[hash]; {
	case !token.Expires.After(now):
		return refused("the token has expired at %s, %v ago: make a new one with `aeond join-token` on a member", stamp(token.Expires), now.Sub(token.Expires).Round(time.Second))
	case !known:
		return refused("the token is used already, or unknown to the cluster: make a new one with `aeond join-token` on a member; if this node has used it, and has lost its directory since, remove that node with `aeond remove`")
	}
	r, err := s.cfg.Cluster.Propose(ctx, placement.Command{At: now, Join: &placement.Join{Token: hash, Program: q.Program, Name: q.Name, Address: q.Address, Key: key}})
	if refusal := (*placement.Refusal)(nil); errors.As(err, &refusal) {
		return refused("%v", refusal)
	}
	if err == nil {
		state, err = s.cfg.Cluster.Current(ctx)
	}
	if err != nil {
		return reply{Retry: err.Error()} // if it has joined, it is found by its key
	}
	return s.admit(r.Node, q.Name, q.Key, state)
}

// admit makes what the node is answered.
func (s *Server) admit(n event.NodeID, name string, key ed25519.PublicKey, state *placement.State) reply {
	a, err := s.identity.Admit(n, name, key)
	if err != nil {
		return reply{Retry: fmt.Sprintf("the certificate: %v", err)}
	}
	return reply{Admission: &a, Members: state.Members}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
