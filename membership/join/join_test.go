package join

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/placement/raftnode"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const within = 60 * time.Second

// cluster is a placement that one process has, without a log.
type cluster struct {
	mu    sync.Mutex
	state *placement.State
	fails error // of the next Propose, after it was performed
}

func (c *cluster) Propose(_ context.Context, command placement.Command) (placement.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.state.Apply(&command)
	if c.fails != nil {
		err, c.fails = c.fails, nil
	}
	return r, err
}

func (c *cluster) Current(context.Context) (*placement.State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Clone(), nil
}

// member is the first node of a cluster, which admits others.
type member struct {
	*cluster
	t  *testing.T
	id *identity.Identity
	at string

	mu  sync.Mutex
	now func() time.Time
}

func newMember(t *testing.T) *member {
	t.Helper()
	return newMemberOf(t, func(*ServerConfig) {})
}

// newMemberOf is newMember, whose server has a configuration of its own.
func newMemberOf(t *testing.T, change func(*ServerConfig)) *member {
	t.Helper()
	id, err := identity.Form(filepath.Join(t.TempDir(), "data"), "n1")
	if err != nil {
		t.Fatal(err)
	}
	m := &member{t: t, id: id, cluster: &cluster{state: &placement.State{}}, now: time.Now}
	if _, err := m.Propose(t.Context(), placement.Command{Form: &placement.Form{Cluster: id.Cluster, Program: "bank", Stores: 1, Partitions: 1, Replicas: 3,
		First: placement.Member{Name: "n1", Address: "a", Key: id.Key()}}}); err != nil {
		t.Fatal(err)
	}
	p, err := port.Listen(port.Config{Address: "127.0.0.1:0", Identity: id, Verify: func(event.NodeID, placement.Fingerprint) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	m.at = p.Addr().String()
	cfg := ServerConfig{Port: p, Cluster: m, Clock: func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.now()
	}}
	change(&cfg)
	s := Serve(cfg)
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *member) token(expires time.Duration) string {
	m.t.Helper()
	token := m.id.NewToken(time.Now().Add(expires))
	if _, err := m.Propose(m.t.Context(), placement.Command{At: time.Now(), Token: &placement.Token{Hash: token.Hash(), Expires: token.Expires}}); err != nil {
		m.t.Fatal(err)
	}
	return token.Text()
}

// config is that of a node that may join.
func (m *member) config(token string) Config {
	return Config{Dir: filepath.Join(m.t.TempDir(), "data"), Token: token, Members: []string{m.at}, Name: "n2", Address: "b", Program: "bank"}
}

func refused(t *testing.T, what string, cfg Config, parts ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, _, err := Join(ctx, cfg)
	if err == nil || ctx.Err() != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: the error %q has no %q", what, err, p)
		}
	}
}

// A node that is admitted has an identity of the cluster, and knows the members.
func TestJoin(t *testing.T) {
	m := newMember(t)
	cfg := m.config(m.token(time.Hour))
	cfg.Members = []string{"127.0.0.1:1", m.at} // the first one does not answer
	id, members, err := Join(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if id.Node != 2 || id.Cluster != m.id.Cluster || id.Name != "n2" || len(members) != 2 || members[2].Key != id.Key() || members[1].Key != m.id.Key() {
		t.Errorf("%+v, %+v", id, members)
	}
	if fresh, formed, err := id.Fresh(); !fresh || formed || err != nil {
		t.Error(fresh, formed, err)
	}
	refused(t, "joining again", cfg, "identity of a node already")
}

// What a cluster does not want is refused, with the reason and what to do, and leaves the token as it was.
func TestRefusals(t *testing.T) {
	m, other := newMember(t), newMember(t)
	good := m.token(time.Hour)
	change := func(f func(*Config)) Config {
		cfg := m.config(good)
		f(&cfg)
		return cfg
	}
	refused(t, "no token", change(func(c *Config) { c.Token = "" }), "begins with aeon-join-")
	refused(t, "half a token", change(func(c *Config) { c.Token = good[:40] }), "copy all of it")
	refused(t, "no member", change(func(c *Config) { c.Members = nil }), "no address")
	refused(t, "a token of another cluster", change(func(c *Config) { c.Token = other.token(time.Hour) }), "no member of the token's cluster", m.id.Cluster)
	unknown := m.id.NewToken(time.Now().Add(time.Hour))
	refused(t, "a token that is not known", change(func(c *Config) { c.Token = unknown.Text() }), "used already, or unknown", "`aeond join-token`", "`aeond remove`")
	expired := m.id.NewToken(time.Now().Add(-time.Minute))
	refused(t, "a token that has expired", change(func(c *Config) { c.Token = expired.Text() }), "expired at", "1m", "`aeond join-token`")
	refused(t, "another program", change(func(c *Config) { c.Program = "shop" }), "runs the program bank, and the node has shop")
	refused(t, "a name that is none", change(func(c *Config) { c.Name = "N 2" }), `"N 2" is no name of a node`)
	refused(t, "the name of a member", change(func(c *Config) { c.Name = "n1" }), "n1 is the name of node 1")
	refused(t, "no address", change(func(c *Config) { c.Address = "" }), "has no address")
	refused(t, "a slow clock", change(func(c *Config) { c.Clock = func() time.Time { return time.Now().Add(-3 * time.Minute) } }), "node 1 does not admit the node: its clock is 3m0", "behind that of this node", "may be off by 5s")
	refused(t, "a fast clock", change(func(c *Config) { c.Clock = func() time.Time { return time.Now().Add(time.Hour) } }), "ahead of that of this node", "time service")
	if _, _, err := Join(t.Context(), m.config(good)); err != nil {
		t.Error("after all that the token is not good:", err)
	}
	again := m.config(good)
	again.Name = "n3"
	refused(t, "a token that was used", again, "used already")
}

// Of several nodes with one token exactly one joins.
func TestOneTokenIsOneNode(t *testing.T) {
	m := newMember(t)
	token := m.token(time.Hour)
	const nodes = 4
	errs := make(chan error, nodes)
	for i := range nodes {
		cfg := m.config(token)
		cfg.Name = fmt.Sprint("x", i)
		go func() {
			_, _, err := Join(t.Context(), cfg)
			errs <- err
		}()
	}
	joined := 0
	for range nodes {
		err := <-errs
		if told := (*RefusedError)(nil); err == nil {
			joined++
		} else if !errors.As(err, &told) || !strings.Contains(err.Error(), "used") {
			t.Error(err)
		}
	}
	if joined != 1 {
		t.Errorf("%d nodes have joined with one token", joined)
	}
}

// A node that was admitted and has no answer asks again, with its key, and is answered: whether the answer was lost at the member, or the node
// has crashed before it was written. Without its directory it is another node.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	m := newMember(t)
	cfg := m.config(m.token(time.Hour))
	m.cluster.fails = errors.New("leadership lost while committing log")
	id, _, err := Join(t.Context(), cfg)
	if err != nil || id.Node != 2 {
		t.Fatal(id, err)
	}

	cfg = m.config(m.token(time.Hour))
	cfg.Name = "n3"
	proxy := cutting(t, m.at)
	at := cfg.Members
	cfg.Members = []string{proxy}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, _, err = Join(short, cfg)
	if err == nil || !strings.Contains(err.Error(), "may have joined: join again with the same directory and token") {
		t.Fatal(err)
	}
	if s, _ := m.Current(t.Context()); len(s.Members) != 3 {
		t.Fatalf("there are %d members: the answer was not what was lost", len(s.Members))
	}
	if _, err := identity.Load(cfg.Dir); !errors.Is(err, identity.ErrNone) {
		t.Error(err)
	}
	cfg.Members = at
	lost := cfg
	lost.Dir = filepath.Join(t.TempDir(), "data")
	refused(t, "a node that has lost its directory", lost, "used already", "remove that node")
	id, members, err := Join(t.Context(), cfg)
	if err != nil || id.Node != 3 || len(members) != 3 {
		t.Error(id, members, err)
	}

	// One that is removed meanwhile does not come back.
	gone := m.config(m.token(time.Hour))
	gone.Name = "n4"
	gone.Members = []string{proxy}
	short, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := Join(short, gone); err == nil {
		t.Fatal("the answer was not lost")
	}
	if _, err := m.Propose(t.Context(), placement.Command{Remove: &placement.Remove{Node: 4}}); err != nil {
		t.Fatal(err)
	}
	gone.Members = at
	refused(t, "a node that was removed", gone, "node 4, n4", "was removed", "empty directory")
	if err := os.RemoveAll(gone.Dir); err != nil {
		t.Fatal(err)
	}
	gone.Token = m.token(time.Hour)
	if id, _, err := Join(t.Context(), gone); err != nil || id.Node != 5 {
		t.Error(id, err)
	}
}

// A node that has sent its request to no address is not told that it may have joined: the address is wrong, or no member runs there.
func TestNoMemberIsReached(t *testing.T) {
	m := newMember(t)
	cfg := m.config(m.token(time.Hour))
	cfg.Members = []string{"127.0.0.1:1"} // where nothing listens
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Logger = slog.New(slog.NewTextHandler(writer(cancel), nil)) // it says so when an address has not answered
	_, _, err := Join(ctx, cfg)
	if err == nil || strings.Contains(err.Error(), "may have joined") || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, part := range []string{"no member was reached", "127.0.0.1:1: connect: connection refused", "is each address right, and does a member run there?"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q has no %q", err, part)
		}
	}
}

// writer is called for what is written.
type writer func()

func (w writer) Write(b []byte) (int, error) {
	w()
	return len(b), nil
}

// cutting is a proxy that closes each connection when the answer to the join comes: what is larger than what the member has said before.
func cutting(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			asked := make(chan struct{})
			wg.Go(func() { // what the node says: its hello, the end of the handshake, the request
				var once sync.Once
				b := make([]byte, 64<<10)
				for sum := 0; ; {
					n, err := in.Read(b)
					if err != nil {
						_ = out.Close()
						return
					}
					if sum += n; sum > 1800 {
						once.Do(func() { close(asked) }) // before the member can answer
					}
					if _, err := out.Write(b[:n]); err != nil {
						return
					}
				}
			})
			wg.Go(func() {
				r := bufio.NewReader(out)
				b := make([]byte, 64<<10)
				for {
					n, err := r.Read(b)
					select {
					case <-asked: // so this is the answer
						err = io.EOF
					default:
					}
					if err == nil {
						_, err = in.Write(b[:n])
					}
					if err != nil {
						_, _ = in.Close(), out.Close()
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// A key that the node does not have, and messages that are none, admit nothing.
func TestForgedRequests(t *testing.T) {
	m := newMember(t)
	text := m.token(time.Hour)
	token, err := identity.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	for what, forge := range map[string]func(q *request){
		"no proof":                   func(q *request) { q.Proof = nil },
		"the proof of another":       func(q *request) { q.Proof[3]++ },
		"no key":                     func(q *request) { q.Key = nil },
		"half a key":                 func(q *request) { q.Key = q.Key[:16] },
		"a format of the next years": func(q *request) { q.Format++ },
	} {
		c, err := port.DialJoin(t.Context(), m.at, token)
		if err != nil {
			t.Fatal(err)
		}
		candidate, err := identity.Prepare(filepath.Join(t.TempDir(), "data"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := challenge(c)
		if err != nil {
			t.Fatal(err)
		}
		q := request{format, text, "bank", "n2", "b", candidate.Public(), candidate.Sign(b), time.Now()}
		forge(&q)
		var r reply
		if err := errors.Join(send(c, &q), receive(c, replyMax, &r)); err != nil || r.Refusal == "" || r.Admission != nil {
			t.Errorf("%s: %+v, error %v", what, r, err)
		}
		_ = c.Close()
	}
	c, err := port.DialJoin(t.Context(), m.at, token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(within))
	if b, err := io.ReadAll(c); len(b) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("garbage is answered %q, error %v", b, err)
	}
	_ = c.Close()
	if s, _ := m.Current(t.Context()); len(s.Members) != 1 {
		t.Error("a forged request was admitted")
	}
}

// Connections from which no request comes hold up no node that wants to join, and there are never many of them.
func TestSilentConnections(t *testing.T) {
	m := newMemberOf(t, func(c *ServerConfig) { c.Request = within })
	text := m.token(time.Hour)
	conns := silent(t, m.at, text, silentMax+3*answeredMax)
	if _, _, err := Join(t.Context(), m.config(text)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, len(conns))
	for _, c := range conns {
		go func() {
			_, _ = c.Read(make([]byte, 1))
			ended <- struct{}{}
		}()
	}
	for n := range 3*answeredMax + 1 { // that of the node that has joined was one, too
		select {
		case <-ended:
		case <-time.After(within / 2):
			t.Fatalf("%d of %d silent connections are closed", n, len(conns))
		}
	}
	select {
	case <-ended:
		t.Error("more are closed than have to be")
	case <-time.After(10 * time.Millisecond):
	}
}

// A connection from which no request comes is closed after a time.
func TestASilentConnectionIsClosed(t *testing.T) {
	m := newMemberOf(t, func(c *ServerConfig) { c.Request = 20 * time.Millisecond })
	c := silent(t, m.at, m.token(time.Hour), 1)[0]
	_ = c.SetReadDeadline(time.Now().Add(within))
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it stays")
	}
}

// silent opens connections and says nothing.
func silent(t *testing.T, at, text string, count int) (conns []net.Conn) {
	t.Helper()
	token, err := identity.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	for range count {
		c, err := port.DialJoin(t.Context(), at, token)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		conns = append(conns, c)
	}
	return conns
}

// stuck is a placement that does not answer.
type stuck struct{ Cluster }

func (s stuck) Current(ctx context.Context) (*placement.State, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// While a placement does not answer, so many nodes wait, and others are told at once to ask again.
func TestManyNodesAsk(t *testing.T) {
	t.Parallel()
	m := newMemberOf(t, func(c *ServerConfig) { c.Cluster = stuck{c.Cluster} })
	text := m.token(time.Hour)
	token, err := identity.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	candidate, err := identity.Prepare(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	const more = 5
	replies := make(chan reply)
	var conns []net.Conn
	var wg sync.WaitGroup
	ended := make(chan struct{})
	defer func() {
		close(ended)
		for _, c := range conns {
			_ = c.Close()
		}
		wg.Wait()
	}()
	for range answeredMax + waitingMax + more {
		c, err := port.DialJoin(t.Context(), m.at, token)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		b, err := challenge(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := send(c, &request{format, text, "bank", "n2", "b", candidate.Public(), candidate.Sign(b), time.Now()}); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			var r reply
			if receive(c, replyMax, &r) == nil {
				select {
				case replies <- r:
				case <-ended:
				}
			}
		})
	}
	for range more {
		select {
		case r := <-replies:
			if !strings.Contains(r.Retry, "72 nodes ask to join") {
				t.Errorf("a node is told %+v", r)
			}
		case <-time.After(answerMax / 2):
			t.Fatal("a node waits that is one too many")
		}
	}
}

// Three nodes that have nothing but a token for each become a cluster of three voters.
func TestClusterOfThree(t *testing.T) {
	type node struct {
		*raftnode.Node
		port   *port.Port
		server *Server
	}
	var all []node
	start := func(id *identity.Identity, dir string, told map[event.NodeID]placement.Member, l *port.Port, members *raftnode.Members) node {
		cfg := raftnode.Config{Identity: id, Port: l, Members: members, Log: memengine.New(), Dir: filepath.Join(dir, "placement"), LookEvery: 20 * time.Millisecond,
			Fatal: func(err error) { t.Error(err) }}
		if id.Node == 1 {
			cfg.Form = &placement.Form{Program: "bank", Stores: 2, Partitions: 4, Replicas: 3, First: placement.Member{Address: l.Addr().String()}}
		}
		n, err := raftnode.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		started := node{n, l, Serve(ServerConfig{Port: l, Cluster: n})}
		t.Cleanup(func() {
			if err := errors.Join(started.server.Close(), n.Close(), l.Close()); err != nil {
				t.Error(err)
			}
		})
		all = append(all, started)
		return started
	}
	listen := func(id *identity.Identity, address string, told map[event.NodeID]placement.Member) (*port.Port, *raftnode.Members) {
		members := raftnode.NewMembers(told)
		l, err := port.Listen(port.Config{Address: address, Identity: id, Verify: members.Verify})
		if err != nil {
			t.Fatal(err)
		}
		return l, members
	}
	dir := filepath.Join(t.TempDir(), "data")
	id, err := identity.Form(dir, "n1")
	if err != nil {
		t.Fatal(err)
	}
	l, members := listen(id, "127.0.0.1:0", nil)
	first := start(id, dir, nil, l, members)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for changed := first.Watch(); first.State().Cluster == ""; changed = first.Watch() {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the cluster is not formed")
		}
	}
	for _, name := range []string{"n2", "n3"} {
		token := id.NewToken(time.Now().Add(time.Hour))
		if _, err := first.Propose(ctx, placement.Command{Token: &placement.Token{Hash: token.Hash(), Expires: token.Expires}}); err != nil {
			t.Fatal(err)
		}
		free, err := net.Listen("tcp", "127.0.0.1:0") // where the node will listen, which it says when it joins
		if err != nil {
			t.Fatal(err)
		}
		address := free.Addr().String()
		_ = free.Close()
		dir := filepath.Join(t.TempDir(), "data")
		by := all[len(all)-1].port.Addr().String() // the youngest member, which leads nothing
		joined, told, err := Join(ctx, Config{Dir: dir, Token: token.Text(), Members: []string{by}, Name: name, Address: address, Program: "bank"})
		if err != nil {
			t.Fatal(err)
		}
		l, members := listen(joined, address, told)
		start(joined, dir, told, l, members)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for votes := 0; votes < 9; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("three nodes do not vote")
		}
		votes = 0
		for _, n := range all {
			votes += len(n.Voters())
		}
	}
}
