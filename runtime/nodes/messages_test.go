package nodes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/examples/bank"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// replicated is an engine whose syncs and confirmations take a round trip, as with three replicas.
type replicated struct {
	*memengine.Engine
	trip time.Duration
}

// Sync implements store.Engine.
func (e replicated) Sync() error {
	<-time.After(e.trip)
	return e.Engine.Sync()
}

// Confirm implements store.Confirming.
func (e replicated) Confirm() error {
	<-time.After(e.trip)
	return nil
}

// A placed is a bank whose accounts are known to be in certain stores: those at home are in that of the bank, there and beyond in two others.
type placed struct {
	c           *nodes.Cluster
	cl          *aeonrt.Client
	b           bank.Bank_Ref
	home, there []string
	beyond      []string

	payer, payee, other bank.Account_Ref // at home, there and beyond, without an owner
}

func newPlaced(t testing.TB, delay time.Duration, engine func() store.Engine) *placed {
	c, err := nodes.Open(nodes.Config{
		System: aeonrt.Config{Classes: aeonrt.AllClasses(&bank.AeonPackage)}, Stores: 3, Partitions: 12, Spread: true, Delay: under(delay),
		Open:  func(event.StoreID) (store.Engine, error) { return engine(), nil },
		Fatal: func(err error) { panic(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &placed{c: c}
	for s, name := event.StoreID(0), "b"; p.cl == nil; s++ {
		cl := c.System(s).Client()
		if ref := aeonrt.Named(cl, &bank.AeonClassBank_, name); c.System(s).Across().IsHere(ref.ID()) {
			p.cl, p.b = cl, bank.Bank_Ref{Ref: ref}
		}
	}
	lists := [...]*[]string{&p.home, &p.there, &p.beyond}
	for i := 0; len(p.home) < 2 || len(p.there) < 2 || len(p.beyond) < 2; i++ {
		if err := p.b.Open(p.cl, owner(i), deposit); err != nil {
			t.Fatal(err)
		}
		c.Settle()
		at := 0
		for _, s := range c.Systems() {
			if s.Across().IsHere(p.b.ID()) {
				continue
			}
			at++
			before := s.Across().Counts().Calls
			if _, err := p.b.Balance(p.cl, owner(i)); err != nil {
				t.Fatal(err)
			}
			if s.Across().Counts().Calls > before {
				*lists[at] = append(*lists[at], owner(i))
				at = len(lists)
				break
			}
		}
		if at < len(lists) {
			p.home = append(p.home, owner(i))
		}
	}
	for i := 0; p.payer.ID().IsNull() || p.payee.ID().IsNull() || p.other.ID().IsNull(); i++ {
		a, err := bank.NewAccount_(p.cl, owner(i), deposit)
		if err != nil {
			t.Fatal(err)
		}
		switch own := c.Systems()[0].Across().StoreOf(p.b.ID()); c.Systems()[0].Across().StoreOf(a.ID()) {
		case own:
			p.payer = a
		case (own + 1) % 3:
			p.payee = a
		default:
			p.other = a
		}
	}
	return p
}

// costs returns how many messages an event costs when others like it have been before, and how long its client waits.
func (p *placed) costs(t *testing.T, do func() error) (messages int64, wait time.Duration) {
	for range 6 { // more than it takes to learn which answers are the last ones
		p.c.Settle()
		before, start := p.c.Counts(), time.Now()
		err := do()
		wait = time.Since(start)
		if err != nil {
			t.Error(err)
		}
		p.c.Settle()
		after := p.c.Counts()
		if messages = after.Messages - before.Messages; after.Withdrawn > before.Withdrawn {
			t.Error("an event that meets no other is withdrawn")
		}
	}
	return messages, wait
}

func (p *placed) transfer(from, to []string) func() error {
	i := 0
	return func() error {
		i++
		return p.b.Transfer(p.cl, from[i%2], to[(i+1)%2], 1)
	}
}

// Events cost the messages that are told here, the decision and its acknowledgement included, and their clients wait as long as told here in trips of 10 ms,
// with one replica and with three.
func TestMessagesOfEvents(t *testing.T) {
	const link = 10 * time.Millisecond
	for name, engine := range map[string]func() store.Engine{
		"one replica":    func() store.Engine { return memengine.New() },
		"three replicas": func() store.Engine { return replicated{memengine.New(), 2 * link} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlaced(t, link, engine)
				for _, e := range []struct {
					event    string
					do       func() error
					messages int64
					one      time.Duration // with one replica
					three    time.Duration
				}{
					{"the bank alone", func() error { _ = p.b.Open(p.cl, p.there[0], 1); return nil }, 0, 0, 20},
					{"two accounts at home", p.transfer(p.home, p.home), 0, 0, 20},
					{"a reader of one account there", func() error { _, err := p.b.Balance(p.cl, p.there[0]); return err }, 2, 20, 60},
					{"one account there", p.transfer(p.home, p.there), 4, 20, 60},
					{"two accounts there, in one store", p.transfer(p.there, p.there), 6, 40, 80},
					{"two accounts there, in two stores", p.transfer(p.there, p.beyond), 8, 40, 100},
					{"a payment to an account there", func() error { _, err := p.payer.PayToEvent(p.cl, p.payee, 1).Await(); return err }, 4, 20, 60},
					{"a payment between two accounts there", func() error { _, err := p.payee.PayToEvent(p.cl, p.other, 1).Await(); return err }, 10, 60, 120},
				} {
					messages, wait := p.costs(t, e.do)
					want := e.one
					if name == "three replicas" {
						want = e.three
					}
					t.Logf("%s: %d messages, %v", e.event, messages, wait)
					if messages != e.messages || wait != want*time.Millisecond {
						t.Errorf("%s: %d messages, and a wait of %v; wanted %d and %v", e.event, messages, wait, e.messages, want*time.Millisecond)
					}
				}
				if err := p.c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What such events cost in processor time and memory, in all stores together, without a network.
func BenchmarkMessagesOfEvents(b *testing.B) {
	p := newPlaced(b, 0, func() store.Engine { return memengine.New() })
	// there and back, as much of each account
	both := func(from, to []string) func() error {
		n, there, back := 0, p.transfer(from, to), p.transfer(to, from)
		return func() error {
			if n++; n%4 < 2 {
				return there()
			}
			return back()
		}
	}
	for _, e := range []struct {
		event string
		do    func() error
	}{
		{"two accounts at home", p.transfer(p.home, p.home)},
		{"a reader there", func() error { _, err := p.b.Balance(p.cl, p.there[0]); return err }},
		{"a writer there", both(p.home, p.there)},
		{"two writers in two stores", both(p.there, p.beyond)},
	} {
		b.Run(e.event, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := e.do(); err != nil {
					b.Fatal(err)
				}
			}
			p.c.Settle()
		})
	}
	if err := p.c.Close(); err != nil {
		b.Error(err)
	}
}
