package raftnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is three nodes on loopback. What one tells another first is its id.
type world struct {
	t       *testing.T
	mu      sync.Mutex
	nodes   map[event.NodeID]*Node
	engines map[event.NodeID]*memengine.Engine
	dirs    map[event.NodeID]string
	where   map[event.NodeID]string
}

func newWorld(t *testing.T) *world {
	return &world{t: t, nodes: make(map[event.NodeID]*Node), engines: make(map[event.NodeID]*memengine.Engine), dirs: make(map[event.NodeID]string), where: make(map[event.NodeID]string)}
}

func (w *world) node(id event.NodeID) *Node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[id]
}

func (w *world) start(id event.NodeID) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.where[id] = l.Addr().String()
	first := w.engines[id] == nil
	if first {
		w.engines[id], w.dirs[id] = memengine.New(), w.t.TempDir()
	} else {
		w.engines[id] = w.engines[id].Reopen()
	}
	engine, dir := w.engines[id], w.dirs[id]
	w.mu.Unlock()
	n, err := Open(Config{
		Node: id, Engine: engine, Dir: dir, Listener: l, Forms: id == 1 && first, Logger: slog.New(slog.DiscardHandler),
		Dial: func(ctx context.Context, to event.NodeID) (net.Conn, error) {
			w.mu.Lock()
			at := w.where[to]
			w.mu.Unlock()
			var d net.Dialer
			return d.DialContext(ctx, "tcp", at)
		},
		Call: func(_ context.Context, to event.NodeID, request []byte) ([]byte, error) {
			n := w.node(to)
			if n == nil {
				return nil, errors.New("it is down")
			}
			return n.Handle(request)
		},
		Heard: func(n event.NodeID) bool { return w.node(n) != nil }, Settled: func(placement.StoreID) bool { return true },
		Fatal: func(err error) { w.t.Error(err) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.nodes[id] = n
	w.mu.Unlock()
}

func (w *world) stop(id event.NodeID) {
	n := w.node(id)
	w.mu.Lock()
	delete(w.nodes, id)
	w.mu.Unlock()
	if n != nil {
		if err := n.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

func print(n byte) (f placement.Fingerprint) { f[0] = n; return f }

func (w *world) propose(by event.NodeID, c placement.Command) (placement.Result, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	return w.node(by).Propose(ctx, c)
}

// until waits until the state that a node knows is as it should be.
func (w *world) until(id event.NodeID, what string, is func(*placement.State, *Node) bool) {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		s, changed := w.node(id).State()
		if is(s, w.node(id)) {
			return
		}
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond): // the leader and the voters change by themselves
		case <-deadline:
			w.t.Fatalf("%s: node %d knows %+v, voters %v", what, id, s, w.node(id).Voters())
		}
	}
}

// Nodes join and become voters, stores get replicas, a leader that is gone is replaced, and what was agreed on stays.
func TestNodesAgree(t *testing.T) {
	w := newWorld(t)
	defer func() {
		for id := range event.NodeID(4) {
			w.stop(id)
		}
	}()
	w.start(1)
	form := placement.Command{Form: &placement.Form{Cluster: "c", Program: "p", Stores: 1, Partitions: 4, Replicas: 3, First: placement.Member{Name: "n1", Address: "a1", Key: print(1)}}}
	if _, err := w.propose(1, form); err != nil {
		t.Fatal(err)
	}
	var refused *placement.Refusal
	if _, err := w.propose(1, form); !errors.As(err, &refused) {
		t.Fatalf("a cluster is formed twice: %v", err)
	}
	for id := event.NodeID(2); id <= 3; id++ {
		w.start(id)
		if _, err := w.propose(1, placement.Command{Token: &placement.Token{Hash: print(byte(100 + id)), Expires: time.Now().Add(time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		r, err := w.propose(1, placement.Command{Join: &placement.Join{Token: print(byte(100 + id)), Program: "p", Address: fmt.Sprint("a", id), Key: print(byte(id))}})
		if err != nil || r.Node != id {
			t.Fatalf("node %d joins as %d (%v)", id, r.Node, err)
		}
	}
	for id := event.NodeID(1); id <= 3; id++ {
		w.until(id, "three vote, and keep the store", func(s *placement.State, n *Node) bool {
			return len(n.Voters()) == 3 && len(s.Stores) == 1 && slices.Equal(s.Stores[0].Replicas, []event.NodeID{1, 2, 3})
		})
	}
	var took []time.Duration
	for round := range 5 {
		leader := w.node(1).Leader()
		by := leader%3 + 1
		w.stop(leader)
		began := time.Now()
		err := ErrUnknown
		for errors.Is(err, ErrUnknown) { // the old leader was asked, and it is unknown what it did
			_, err = w.propose(by, placement.Command{Policy: &placement.Policy{Text: fmt.Sprint("policy ", round)}})
		}
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		w.start(leader)
		for id := event.NodeID(1); id <= 3; id++ {
			w.until(id, "all know the policy", func(s *placement.State, _ *Node) bool { return s.Policy == fmt.Sprint("policy ", round) })
		}
		w.until(1, "a node leads", func(_ *placement.State, n *Node) bool { return n.Leader() != 0 })
	}
	slices.Sort(took)
	t.Logf("a command after the loss of the leader: median %v, longest %v", took[2], took[4])
	if took[2] > 4*time.Second {
		t.Errorf("it takes %v until another one leads", took[2])
	}
}

// slow is an engine whose disk hangs.
type slow struct {
	store.Engine
	hangs chan struct{}
}

func (s *slow) Sync() error {
	<-s.hangs
	return s.Engine.Sync()
}

func TestADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &slow{memengine.New(), make(chan struct{})}
		told := make(chan error, 1)
		l := &log{e, time.Minute, func(err error) { told <- err }}
		done := make(chan error)
		go func() { done <- l.StoreLog(&raft.Log{Index: 1}) }()
		time.Sleep(59 * time.Second)
		select {
		case err := <-told:
			t.Fatalf("told early: %v", err)
		default:
		}
		<-told
		close(e.hangs)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := l.SetUint64([]byte("n"), 7); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		if len(told) > 0 {
			t.Error("a sync that has ended is told")
		}
	})
}

func TestLog(t *testing.T) {
	e := memengine.New()
	l := &log{e, time.Minute, func(err error) { t.Error(err) }}
	if err := l.StoreLogs([]*raft.Log{{Index: 3, Term: 1, Data: []byte("a")}, {Index: 4, Term: 2, Data: []byte("b")}, {Index: 256, Term: 2}}); err != nil {
		t.Fatal(err)
	}
	if err := l.DeleteRange(3, 3); err != nil {
		t.Fatal(err)
	}
	again := &log{e.Reopen(), time.Minute, func(err error) { t.Error(err) }}
	first, err1 := again.FirstIndex()
	last, err2 := again.LastIndex()
	var entry raft.Log
	if err := errors.Join(err1, err2, again.GetLog(4, &entry)); err != nil || first != 4 || last != 256 || string(entry.Data) != "b" || entry.Term != 2 {
		t.Errorf("%d to %d, %+v (%v)", first, last, entry, err)
	}
	if err := again.GetLog(3, &entry); err != raft.ErrLogNotFound {
		t.Error(err)
	}
	if n, err := again.GetUint64([]byte("none")); n != 0 || err != nil {
		t.Error(n, err)
	}
}
