package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/event"
)

// The kinds of calls between nodes, which are their first byte.
const (
	callBrief    = 'b' // what the node is doing
	callTransfer = 't' // give a store to another node
	callStay     = 'k' // keep a store that this node leads, or is to lead next
	callSnapshot = 's' // do something for a snapshot of several stores
)

// brief is what a node tells of itself.
type brief struct {
	PID    int    `json:"pid"`
	Listen string `json:"listen"`
	Open   bool   `json:"open"` // it asks clients neither for TLS nor for tokens
	Ends   bool   `json:"ends"` // it was told to end, and leads nothing any more
	Asks   string `json:"asks"` // what it asks clients for, as status.Node has it
	// Interface is that of the version of the program that the node runs (aeonrt.InterfaceOf).
	Interface string         `json:"interface"`
	Sync      time.Duration  `json:"sync"` // of its log; the mean of the last second
	Stores    []storeBrief   `json:"stores"`
	Hears     []event.NodeID `json:"hears"` // the other nodes that it has a session with
	// Snapshot is when the last snapshot of the cluster was taken that it knows; the zero time: it knows none.
	Snapshot time.Time `json:"snapshot,omitzero"`
	// Followed are stores that it leads, whose members are those of a version of their list, and up to date.
	Followed map[placement.StoreID]uint64 `json:"followed"`
}

// storeBrief is what a node tells of a store that it keeps.
type storeBrief struct {
	ID     placement.StoreID `json:"id"`
	Term   uint64            `json:"term"`
	Leads  bool              `json:"leads"`
	Serves bool              `json:"serves"` // its system is open
	Failed bool              `json:"failed"` // it could not open that lately
	// Cannot is why it could not open that when it led the store last; "": it could, or has not led it.
	Cannot string `json:"cannot,omitempty"`
	// Identity is the id of the store, which snapshots are of. Only a node whose system is open tells it.
	Identity string `json:"identity,omitempty"`
	// Progress are the members that its leader knows, as of an entry: the last one that is committed and was handed to the state.
	Progress   []replica.Progress `json:"progress,omitempty"`
	Commit     uint64             `json:"commit"`     // the entry's index
	CommitTerm uint64             `json:"commitTerm"` // and its term; 0: an earlier version of aeond does not tell it
	Timings    Timings            `json:"timings"`
	Load       Load               `json:"load"`
}

// heard is what a node has told, and when.
type heard struct {
	brief brief
	at    time.Time
}

const (
	askInterval = 300 * time.Millisecond
	askMax      = 300 * time.Millisecond
	staleAfter  = 2 * time.Second
	silentAfter = 3 * time.Second
)

// Call implements transport.Handler.
func (h handler) Call(ctx context.Context, _ event.NodeID, request []byte) ([]byte, error) {
	n := h.n
	if !n.isReady() || len(request) == 0 {
		return nil, errStarting
	}
	switch body := request[1:]; request[0] {
	case callBrief:
		return json.Marshal(n.tell())
	case callTransfer:
		var t transfer
		if err := json.Unmarshal(body, &t); err != nil {
			return nil, err
		}
		return nil, n.driver.Transfer(replica.Group(t.Store), t.To)
	case callStay:
		var s stay
		if err := json.Unmarshal(body, &s); err != nil {
			return nil, err
		}
		return nil, n.letStay(s)
	case callSnapshot:
		return n.servePart(ctx, body)
	}
	return nil, fmt.Errorf("this node knows no call of the kind %q: it is of an older version", request[0])
}

// transfer asks that a store is given to another node.
type transfer struct {
	Store placement.StoreID `json:"store"`
	To    event.NodeID      `json:"to"`
}

// tell tells what this node is doing.
func (n *node) tell() brief {
	b := brief{PID: os.Getpid(), Ends: n.ends.Load(), Listen: n.c.Listen.Address, Open: n.c.Listen.Cert == "" && n.c.Listen.Tokens == "", Asks: status.AsksNothing, Interface: n.clients.calls, Sync: n.disk.measure(n.driver.Syncs()), Stores: []storeBrief{}, Snapshot: n.c.Snapshots.Last()}
	if n.clients.tokens != nil {
		b.Asks = status.AsksTokens
	}
	s := n.placement.State()
	for id := range s.Members {
		if id != n.id.Node && n.transport.Heard(id).Up {
			b.Hears = append(b.Hears, id)
		}
	}
	for id := range s.Stores {
		g := replica.Group(id)
		if !n.driver.Has(g) {
			continue
		}
		role := n.driver.Leader(g)
		st := storeBrief{ID: placement.StoreID(id), Term: role.Term, Leads: role.Leader == n.id.Node}
		if st.Leads {
			var asOf replica.Position
			st.Progress, asOf = n.driver.Progress(g)
			st.Commit, st.CommitTerm = asOf.Index, asOf.Term
		}
		h := n.holders.of(n, st.ID)
		_, at, timings := h.known()
		st.Serves, st.Failed, st.Cannot, st.Timings, st.Load = at.Here != nil, h.hasFailed(), h.whyNot(), timings, h.measure()
		if s := h.runs(); s != nil {
			st.Identity = s.Store.Identity().Store
		}
		b.Stores = append(b.Stores, st)
	}
	n.stores.mu.Lock()
	b.Followed = n.stores.followed
	n.stores.mu.Unlock()
	return b
}

// askOthers asks the other members what they are doing, again and again.
func (n *node) askOthers() {
	t := time.NewTicker(askInterval)
	defer t.Stop()
	for {
		n.askAll()
		select {
		case <-n.stop:
			return
		case <-t.C:
		}
	}
}

// askAll asks all other members at once, and waits for the answers for a short time.
func (n *node) askAll() {
	s := n.placement.State()
	var group sync.WaitGroup
	for id, m := range s.Members {
		if id == n.id.Node || m.Membership == placement.Removed {
			continue
		}
		group.Go(func() { n.askNode(id) })
	}
	group.Wait()
}

// askNode asks another member what it is doing, and reports whether it has answered in a short time.
func (n *node) askNode(id event.NodeID) bool {
	ctx, cancel := context.WithTimeout(context.Background(), askMax)
	defer cancel()
	reply, err := n.transport.Call(ctx, id, []byte{callBrief})
	var b brief
	if err != nil || json.Unmarshal(reply, &b) != nil {
		return false
	}
	n.mu.Lock()
	n.brief[id] = heard{b, time.Now()}
	n.mu.Unlock()
	n.learn(id, b)
	return true
}

// learn takes what another node says of snapshots, and of the stores that it leads. A raft group tells its leader to its members alone: a node that has no replica of a
// store, or has one that the group has not admitted yet, would know nowhere to send requests to.
func (n *node) learn(from event.NodeID, b brief) {
	n.c.Snapshots.Note(b.Snapshot)
	for _, st := range b.Stores {
		if g := replica.Group(st.ID); st.Leads && n.driver.Leader(g).Leader == 0 {
			n.turn(replica.Role{Group: g, Term: st.Term, Leader: from})
		}
		if st.Serves {
			n.holders.of(n, st.ID).served(st.Term)
		}
	}
}

// heard implements placement.View.Heard.
func (n *node) heard(id event.NodeID) bool {
	return id == n.id.Node || time.Since(n.transport.Heard(id).At) < silentAfter
}
