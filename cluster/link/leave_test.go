package link

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/examples/bank"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/settings"
	stores "github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A pair is two nodes, each of which leads a store: node n store n-1.
type pair struct {
	t       *testing.T
	engines [2]*memengine.Engine
	links   [2]*Links
	locals  [2]*Local
	led     [2]*aeonrt.Led
	wires   [2]chan []byte // to a node
	tasks   sync.WaitGroup
	term    uint64

	lost atomic.Bool // decisions are lost on their way
}

// open opens the systems, in the next term.
func (p *pair) open() {
	p.term++
	p.lost.Store(false)
	for i := range p.links {
		p.wires[i] = make(chan []byte, 1000)
	}
	for i := range p.links {
		p.links[i] = New(Config{Node: event.NodeID(i + 1), Send: func(to event.NodeID, m []byte) {
			if !p.lost.Load() || !isDecision(m) {
				p.wires[to-1] <- m
			}
		}})
	}
	for i, l := range p.links {
		other := event.NodeID(2 - i)
		l.Up(other)
		p.tasks.Go(func() {
			for m := range p.wires[i] {
				if err := l.Message(other, m); err != nil {
					p.t.Error(err)
				}
			}
		})
	}
	c := aeonrt.ClusterConfig{Package: &bank.AeonPackage, State: settings.State{Durability: stores.Sync()}, Clock: sched.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	for i, l := range p.links {
		id := event.StoreID(i)
		p.locals[i] = l.Open(id, p.term)
		among := &aeonrt.Across{Store: id, Of: func(p event.PartitionID) event.StoreID { return event.StoreID(p % 2) }, Network: p.locals[i]}
		var err error
		if p.led[i], err = c.Recover(event.NodeID(i+1), p.engines[i], id, among, func(error) {}); err != nil {
			p.t.Fatal(err)
		}
		p.locals[i].Ready(p.led[i].System.Across())
	}
}

// isDecision reports whether a frame has one.
func isDecision(f []byte) bool {
	if f[0] != messageFrame {
		return false
	}
	in := row.Read(f[1:])
	for range 4 {
		in.Uint()
	}
	var m across.Message
	return m.Read(in.Rest()) == nil && m.Kind == across.Commit && m.Commit.Kind == commit.Decision
}

// close ends the systems as nodes do that are told to end, the one of node 1 first.
func (p *pair) close() {
	for i := range p.led {
		p.locals[i].Close()
		if err := p.led[i].Close(); err != nil {
			p.t.Error(err)
		}
		p.engines[i] = p.engines[i].Reopen()
	}
	for _, w := range p.wires {
		close(w)
	}
	p.tasks.Wait()
}

// An event is committed when its client is answered, also in a store that has not heard of that when its node ends.
func TestWhatIsInDoubtOutlivesItsNode(t *testing.T) {
	p := &pair{t: t, engines: [2]*memengine.Engine{memengine.New(), memengine.New()}}
	p.open()
	var ids [2]event.ActorID
	for i, led := range p.led {
		a, err := bank.NewAccount_(led.System.Client(), "a", 10)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = a.ID()
	}
	account := func(i int) bank.Account_Ref { return bank.Account_Ref{Ref: p.led[0].System.Resolve(ids[i])} }
	cl := p.led[0].System.Client()
	p.lost.Store(true)
	if _, err := account(0).PayToEvent(cl, account(1), 2).Await(); err != nil {
		t.Fatal(err)
	}
	if n := p.led[1].System.Across().InDoubt(); n != 1 {
		t.Fatalf("%d parts are in doubt where the event is not known to have committed", n)
	}
	p.close()
	p.open()
	defer p.close()
	cl = p.led[0].System.Client()
	for i, want := range []int64{8, 12} {
		if got, err := account(i).BalanceNow(cl); err != nil || got != want {
			t.Errorf("account %d has %d after its node has ended, expected %d (%v)", i, got, want, err)
		}
	}
}

// A store that is to be quiesced decides nothing that another one would have to carry out, for a limited time, and says which store has not carried out what it has decided.
func TestAStoreIsQuiescedForSomeTime(t *testing.T) {
	const limit = 200 * time.Millisecond
	p := &pair{t: t, engines: [2]*memengine.Engine{memengine.New(), memengine.New()}}
	p.open()
	defer p.close()
	var all [2]bank.Account_Ref
	for i, led := range p.led {
		a, err := bank.NewAccount_(led.System.Client(), "a", 10)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = bank.Account_Ref{Ref: p.led[0].System.Resolve(a.ID())}
	}
	pay := func() {
		t.Helper()
		if _, err := all[0].PayToEvent(p.led[0].System.Client(), all[1], 2).Await(); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	if err := p.led[0].Quiesce(t.Context(), limit); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(100*limit, func() {
		t.Error("a store is quiesced for ever")
		p.led[0].GoOn()
	})
	defer late.Stop()
	if pay(); time.Since(begun) < limit {
		t.Error("an event over two stores is decided by one that is quiesced")
	}
	p.lost.Store(true)
	pay()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.led[0].Quiesce(ctx, limit); err == nil || !strings.Contains(err.Error(), "stores [1] have not carried out") {
		t.Errorf("store 1 has not heard of a decision, and store 0 is quiesced: %v", err)
	}
	p.led[0].GoOn()
}
