package lock

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// This file is a small driver in one process, with goroutines and real latches, as the
// package comment asks. It shows under the race detector that the latching suffices: the
// balances of accounts are plain fields.

type actor struct {
	mu      sync.Mutex
	q       *Queue[*transfer, *actor] // nil when idle
	parent  *actor
	serial  int // order in which latches of several roots are taken
	balance int
}

// transfer is an event: from -> to, below bank or between roots; or an audit of all
// accounts of the bank, which acquires them lazily.
type transfer struct {
	mu       sync.Mutex // guards home
	home     Home[*transfer, *actor]
	wake     chan struct{}
	top      *actor
	bank     *actor // nil: from and to are roots
	accounts []*actor
	kids     []*actor // what the bank expands to, or the roots
	refs     [2]Ref
	entries  []entered // to be released
	audit    bool
	out      []Effect[*transfer, *actor]
}

// entered is an enqueue that a transfer has made itself.
type entered struct {
	x   *actor
	ref Ref
}

type bankView struct{}

func (bankView) Footprint(x *actor, id ID[*transfer]) Want[*actor] {
	e := id.Event
	switch {
	case x == e.bank:
		return Want[*actor]{Mode: Read, Below: true}
	case e.audit:
		return Want[*actor]{Mode: Read}
	}
	return Want[*actor]{Mode: Write}
}

func (bankView) Expand(_ *actor, id ID[*transfer], _ Mode, children []*actor) Expansion[*actor] {
	if id.Event.audit {
		return Expansion[*actor]{Lazy: true}
	}
	return Expansion[*actor]{Children: append(children, id.Event.kids...)}
}
func (bankView) Parent(x *actor) *actor            { return x.parent }
func (bankView) Toward(_, y *actor) (*actor, bool) { return y, true }
func (bankView) Remote(_, _ *actor) bool           { return false }

var (
	theView   View[*transfer, *actor] = bankView{}
	queuePool                         = sync.Pool{New: func() any { return &Queue[*transfer, *actor]{} }}
)

// latch latches x and gives it a queue.
func (x *actor) latch() *Queue[*transfer, *actor] {
	x.mu.Lock()
	if x.q == nil {
		x.q = queuePool.Get().(*Queue[*transfer, *actor])
		x.q.Reset(x)
	}
	return x.q
}

func (x *actor) unlatch() {
	if x.q.Idle() {
		queuePool.Put(x.q)
		x.q = nil
	}
	x.mu.Unlock()
}

// process executes the effects of a step at x from start on, with x latched.
func (e *transfer) process(x *actor, start int) {
	end := len(e.out)
	for i := start; i < end; i++ {
		switch f := e.out[i]; f.Kind {
		case Enqueue:
			n := len(e.out)
			var ref Ref
			ref, e.out = f.To.latch().Enqueue(theView, Sent[*actor]{From: x, Acquired: f.Lazy}, f.ID, e.out)
			e.process(f.To, n)
			f.To.unlatch()
			x.q.Bind(f.Ref, f.Edge, ref)
		case Admitted:
			f.ID.Event.note(e.out[i:])
		case Bounced, Refused:
			panic(fmt.Sprint("nothing changes, but ", f))
		}
	}
}

// note tells a home, and wakes it if the report is not its own.
func (e *transfer) note(report []Effect[*transfer, *actor]) {
	e.mu.Lock()
	e.home.Deliver(report)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// enter enqueues the event at its sequencer; roots are latched in order, and entered
// together, past the virtual node above them.
func (e *transfer) enter() {
	e.out = e.out[:0]
	e.mu.Lock()
	e.home.Start(e)
	id := e.home.ID()
	e.mu.Unlock()
	if e.bank != nil {
		q := e.bank.latch()
		var ref Ref
		ref, e.out = q.Enter(theView, id, e.out)
		e.process(e.bank, 0)
		e.bank.unlatch()
		e.made(e.bank, ref)
		return
	}
	a, b := e.kids[0], e.kids[1]
	if a.serial > b.serial {
		a, b = b, a
	}
	a.latch()
	b.latch()
	var refs [2]Ref
	for i, x := range []*actor{a, b} {
		n := len(e.out)
		refs[i], e.out = x.q.Enqueue(theView, Sent[*actor]{From: e.top}, id, e.out)
		e.process(x, n)
	}
	b.unlatch()
	a.unlatch()
	e.made(a, refs[0])
	e.made(b, refs[1])
}

func (e *transfer) made(x *actor, ref Ref) {
	e.mu.Lock()
	e.home.Enter(x, ref)
	e.mu.Unlock()
	e.entries = append(e.entries, entered{x, ref})
}

// need waits until the event may access y.
func (e *transfer) need(y *actor, m Mode) {
	for {
		e.mu.Lock()
		d := e.home.Access(e, y, m)
		id := e.home.ID()
		e.mu.Unlock()
		switch d.Act {
		case Run:
			return
		case Wait:
			<-e.wake
		case Ask:
			n := len(e.out)
			q := d.At.latch()
			e.out = q.Acquire(theView, d.Ref, id, y, e.out)
			e.process(d.At, n)
			d.At.unlatch()
		case Withdraw:
			panic(fmt.Sprint("nothing changes, but ", d))
		}
	}
}

// Parent implements Router.
func (e *transfer) Parent(x *actor) *actor { return x.parent }

// leave releases all, following the enqueues.
func (e *transfer) leave() {
	for _, m := range e.entries {
		e.release(m.x, m.ref)
	}
	e.entries = e.entries[:0]
}

func (e *transfer) release(x *actor, ref Ref) {
	start := len(e.out)
	e.out = x.latch().Release(theView, ref, false, e.out)
	end := len(e.out)
	e.process(x, start)
	x.unlatch()
	for i := start; i < end; i++ {
		if f := e.out[i]; f.Kind == Release {
			e.release(f.To, f.Ref)
		}
	}
}

func (e *transfer) run(amount int) (sum int) {
	e.enter()
	if e.audit {
		e.need(e.bank, Read)
		for _, a := range e.accounts {
			e.need(a, Read)
			sum += a.balance
		}
		e.leave()
		return sum
	}
	for _, a := range e.kids {
		e.need(a, Write)
	}
	e.kids[0].balance -= amount
	e.kids[1].balance += amount
	e.leave()
	return 0
}

// newAccounts makes n accounts below a bank, or n roots (bank nil).
func newAccounts(n int, banked bool) (top, bank *actor, accounts []*actor) {
	top = &actor{}
	parent := top
	if banked {
		bank = &actor{parent: top}
		parent = bank
	}
	for i := range n {
		accounts = append(accounts, &actor{parent: parent, serial: i})
	}
	return top, bank, accounts
}

// TestLatches runs transfers and audits on many goroutines: every audit must see no money
// made or lost, and the race detector no access without a hold.
func TestLatches(t *testing.T) {
	for _, banked := range []bool{true, false} {
		top, bank, accounts := newAccounts(5, banked)
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 1))
				e := &transfer{wake: make(chan struct{}, 1), top: top, bank: bank, accounts: accounts}
				for i := range 1500 {
					e.audit = banked && i%10 == g%10
					a := r.IntN(5)
					e.kids = append(e.kids[:0], accounts[a], accounts[(a+1+r.IntN(4))%5])
					if sum := e.run(1 + i%7); sum != 0 {
						t.Errorf("an audit sees %d", sum)
						return
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			for i, a := range accounts {
				a.mu.Lock()
				if a.q != nil {
					a.q.Waits(func(w WaitEdge[*transfer]) bool {
						t.Logf("account %d: %p waits for %p: %v", i, w.Waiter.Event, w.For.Event, w.Why)
						return true
					})
				}
				a.mu.Unlock()
			}
			t.Fatal("the transfers do not end")
		}
		sum := 0
		for _, a := range accounts {
			sum += a.balance
			if a.q != nil {
				t.Error("a queue is left")
			}
		}
		if sum != 0 {
			t.Errorf("the accounts sum up to %d", sum)
		}
	}
}

// BenchmarkTransfers has 64 goroutines transfer between accounts of one bank or between
// roots, uniformly over 10 000 accounts, or nine times of ten among ten (hot).
func BenchmarkTransfers(b *testing.B) {
	for _, banked := range []bool{true, false} {
		for _, hot := range []bool{false, true} {
			b.Run(fmt.Sprintf("bank=%v/hot=%v", banked, hot), func(b *testing.B) {
				top, bank, accounts := newAccounts(10_000, banked)
				var seed atomic.Uint64
				b.SetParallelism(32)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					r := rand.New(rand.NewPCG(seed.Add(1), 2))
					e := &transfer{wake: make(chan struct{}, 1), top: top, bank: bank, accounts: accounts}
					for pb.Next() {
						n := len(accounts)
						if hot && r.IntN(10) > 0 {
							n = 10
						}
						i := r.IntN(n)
						e.kids = append(e.kids[:0], accounts[i], accounts[(i+1+r.IntN(n-1))%n])
						e.run(1)
					}
				})
			})
		}
	}
}
