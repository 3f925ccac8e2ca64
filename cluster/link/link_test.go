package link

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
)

// A net connects the links of nodes. What they send is delivered by turn, in order between two nodes.
type net struct {
	mu    sync.Mutex
	nodes map[event.NodeID]*Links
	wire  map[[2]event.NodeID][][]byte // of the sessions that there are
}

func newNet(nodes ...event.NodeID) *net {
	n := &net{nodes: make(map[event.NodeID]*Links), wire: make(map[[2]event.NodeID][][]byte)}
	for _, id := range nodes {
		n.nodes[id] = New(Config{Node: id, Send: func(to event.NodeID, m []byte) {
			n.mu.Lock()
			defer n.mu.Unlock()
			if w, up := n.wire[[2]event.NodeID{id, to}]; up {
				n.wire[[2]event.NodeID{id, to}] = append(w, m)
			}
		}})
	}
	return n
}

func (n *net) connect(a, b event.NodeID) {
	n.mu.Lock()
	n.wire[[2]event.NodeID{a, b}], n.wire[[2]event.NodeID{b, a}] = nil, nil
	n.mu.Unlock()
	n.nodes[a].Up(b)
	n.nodes[b].Up(a)
}

func (n *net) cut(a, b event.NodeID) {
	n.mu.Lock()
	delete(n.wire, [2]event.NodeID{a, b})
	delete(n.wire, [2]event.NodeID{b, a})
	n.mu.Unlock()
	n.nodes[a].Down(b)
	n.nodes[b].Down(a)
}

// deliver delivers all that is under way, and what follows from it.
func (n *net) deliver(t *testing.T, r *rand.Rand) {
	t.Helper()
	for {
		n.mu.Lock()
		var some [][2]event.NodeID
		for ends, w := range n.wire {
			if len(w) > 0 {
				some = append(some, ends)
			}
		}
		if len(some) == 0 {
			n.mu.Unlock()
			return
		}
		slices.SortFunc(some, func(a, b [2]event.NodeID) int { return slices.Compare(a[:], b[:]) })
		ends := some[r.IntN(len(some))]
		m := n.wire[ends][0]
		n.wire[ends] = n.wire[ends][1:]
		n.mu.Unlock()
		if err := n.nodes[ends[1]].Message(ends[0], m); err != nil {
			t.Fatal(err)
		}
	}
}

// store notes what a Local tells it.
type store struct {
	mu    sync.Mutex
	now   map[event.StoreID]uint64 // sessions
	saw   []string
	args  [][]byte // of calls
	wrong string
}

func (s *store) note(format string, args ...any) { s.saw = append(s.saw, fmt.Sprintf(format, args...)) }

func (s *store) Up(id event.StoreID, session uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now[id] != 0 || session == 0 {
		s.wrong = fmt.Sprintf("session %d with store %d begins in session %d", session, id, s.now[id])
	}
	s.now[id] = session
}

func (s *store) Lost(id event.StoreID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now[id] == 0 {
		s.wrong = fmt.Sprintf("a session with store %d ends that has not begun", id)
	}
	delete(s.now, id)
}

func (s *store) Receive(from event.StoreID, session uint64, m *across.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session != s.now[from] {
		s.wrong = fmt.Sprintf("a message of session %d with store %d comes in %d", session, from, s.now[from])
	}
	s.note("%d from %d", m.Number, from)
	if m.Call != nil {
		s.args = append(s.args, m.Call.Args)
	}
}

func (s *store) sessions() map[event.StoreID]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[event.StoreID]uint64)
	for id, n := range s.now {
		all[id] = n
	}
	return all
}

func open(l *Links, id event.StoreID, term uint64) (*Local, *store) {
	x, s := l.Open(id, term), &store{now: make(map[event.StoreID]uint64)}
	x.Ready(s)
	return x, s
}

// told waits until all that is in an inbox was told.
func (x *Local) told() {
	done := make(chan struct{})
	x.inbox.put(func(Store) { close(done) })
	<-done
}

// Stores on one node and on several have one session each, in which messages of any size arrive, in order; leaders that go end them.
func TestSessions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	n := newNet(1, 2)
	n.connect(1, 2)
	a, sa := open(n.nodes[1], 0, 5)
	b, sb := open(n.nodes[2], 1, 7)
	c, sc := open(n.nodes[2], 2, 3)
	n.deliver(t, r)
	for _, x := range []*Local{a, b, c} {
		x.told()
	}
	for _, p := range []struct {
		a, b   *store
		ia, ib event.StoreID
	}{{sa, sb, 0, 1}, {sa, sc, 0, 2}, {sb, sc, 1, 2}} {
		if x, y := p.a.sessions()[p.ib], p.b.sessions()[p.ia]; x == 0 || x != y {
			t.Errorf("stores %d and %d: sessions %d and %d", p.ia, p.ib, x, y)
		}
	}
	large := &across.Message{Kind: across.Called, Call: &across.Call{Method: "m", Args: []byte(strings.Repeat("x", 3*partMax))}}
	a.Send(1, sa.sessions()[1], large)
	for i := range 3 {
		a.Send(1, sa.sessions()[1], &across.Message{Kind: across.Turn, Number: uint64(10 + i)})
		b.Send(2, sb.sessions()[2], &across.Message{Kind: across.Turn, Number: uint64(20 + i)})
	}
	a.Send(1, 99, &across.Message{Kind: across.Turn, Number: 1}) // of no session
	a.Send(0, 0, &across.Message{Kind: across.Turn, Number: 30})
	n.deliver(t, r)
	for _, x := range []*Local{a, b, c} {
		x.told()
	}
	if got := fmt.Sprint(sb.saw, sc.saw, sa.saw); got != "[0 from 0 10 from 0 11 from 0 12 from 0] [20 from 1 21 from 1 22 from 1] [30 from 0]" {
		t.Error(got)
	}
	if list := n.nodes[2].Sessions(1); !slices.Equal(list, []event.StoreID{0, 2}) {
		t.Error(list)
	}
	b.Close()
	n.deliver(t, r)
	a.told()
	c.told()
	if sa.sessions()[1] != 0 || sc.sessions()[1] != 0 {
		t.Error("sessions with a store go on that nothing leads")
	}
	for _, s := range []*store{sa, sb, sc} {
		if s.wrong != "" {
			t.Error(s.wrong)
		}
	}
	a.Close()
	c.Close()
}

// Messages that wait to be sent stay as they are, of whatever lengths they and those behind them are.
func TestMessagesThatWait(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	n := newNet(1, 2)
	n.connect(1, 2)
	a, sa := open(n.nodes[1], 0, 1)
	b, sb := open(n.nodes[2], 1, 1)
	n.deliver(t, r)
	a.told()
	b.told()
	var sent [][]byte
	for i := range 2000 {
		length := r.IntN(chunkMin)
		if i%20 == 0 {
			length = r.IntN(3 * chunkLen)
		}
		args := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 1+length/2)
		sent = append(sent, args)
		a.Send(1, sa.sessions()[1], &across.Message{Kind: across.Called, Call: &across.Call{Method: "m", Args: args}})
	}
	n.deliver(t, r)
	b.told()
	if !slices.EqualFunc(sb.args, sent, bytes.Equal) {
		t.Errorf("%d messages of %d arrive, or they are others", len(sb.args), len(sent))
	}
	a.Close()
	b.Close()
}

// Whatever leads and is connected, in the end any two stores whose leaders are connected are in one session, and never in two.
func TestSessionsAreFound(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := newNet(1, 2, 3)
		up := make(map[[2]event.NodeID]bool)
		locals, stores, at, terms := make(map[event.StoreID]*Local), make(map[event.StoreID]*store), make(map[event.StoreID]event.NodeID), make(map[event.StoreID]uint64)
		zombies, stands := make(map[event.StoreID]*Local), make(map[event.StoreID]event.NodeID) // leaders that are not, and where
		close := func(id event.StoreID) {
			if x := locals[id]; x != nil {
				x.Close()
				if w := stores[id].wrong; w != "" {
					t.Errorf("seed %d: store %d: %s", seed, id, w)
				}
				delete(locals, id)
			}
		}
		for range 40 {
			switch id := event.StoreID(r.IntN(4)); r.IntN(4) {
			case 0:
				a := event.NodeID(1 + r.IntN(2))
				ends := [2]event.NodeID{a, a + 1 + event.NodeID(r.IntN(3-int(a)))}
				if up[ends] = !up[ends]; up[ends] {
					n.connect(ends[0], ends[1])
				} else {
					n.cut(ends[0], ends[1])
				}
			case 1:
				close(id)
			case 2:
				node := event.NodeID(1 + r.IntN(3))
				if x := locals[id]; x != nil && node != at[id] && zombies[id] == nil && r.IntN(2) == 0 {
					zombies[id], stands[id] = x, at[id] // it has not noticed
				} else {
					close(id)
				}
				if z := zombies[id]; z != nil && stands[id] == node {
					z.Close()
					delete(zombies, id)
				}
				at[id] = node
				terms[id]++
				locals[id], stores[id] = open(n.nodes[at[id]], id, terms[id])
			case 3:
				if r.IntN(2) == 0 {
					n.deliver(t, r)
				}
			}
		}
		for _, ends := range [][2]event.NodeID{{1, 2}, {1, 3}, {2, 3}} {
			if !up[ends] {
				n.connect(ends[0], ends[1])
			}
		}
		n.deliver(t, r)
		for a, x := range locals {
			x.told()
			for b := range locals {
				if a == b {
					continue
				}
				locals[b].told()
				if p, q := stores[a].sessions()[b], stores[b].sessions()[a]; p == 0 || p != q {
					t.Errorf("seed %d: stores %d and %d, at nodes %d and %d: sessions %d and %d", seed, a, b, at[a], at[b], p, q)
				}
			}
		}
		for id := range locals {
			close(id)
		}
		for _, z := range zombies {
			z.Close()
		}
	}
}
