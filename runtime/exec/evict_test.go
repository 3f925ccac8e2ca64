package exec

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Clients transfer and audit while the evictor drops every state it can, as fast as it can. They see
// the same; states are read again.
func TestStatesComeAndGoWhileEventsRun(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", 200)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r, cl := rand.New(rand.NewPCG(uint64(i), 1)), n.sys.Client()
			for k := 0; k < 1000; k++ {
				var err error
				switch r.IntN(40) {
				case 0:
					var sum int64
					if sum, err = b.Audit(cl); err == nil && sum != 200_000 {
						err = fmt.Errorf("the accounts have %d", sum)
					}
				case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20:
					_, err = list[r.IntN(200)].Balance(cl)
				default:
					err = b.Transfer(cl, fmt.Sprint("a", r.IntN(200)), fmt.Sprint("a", r.IntN(200)), int64(r.IntN(5)))
				}
				if err != nil && !isAbort(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	dropped := 0
	evicted := make(chan struct{})
	go func() {
		defer close(evicted)
		for !stop.Load() {
			dropped += n.sys.Unload(1)
			runtime.Gosched()
		}
	}()
	wg.Wait()
	stop.Store(true)
	<-evicted
	if dropped < 200 {
		t.Errorf("only %d states were dropped", dropped)
	}
	if sum := n.audit("one"); sum != 200_000 {
		t.Errorf("the accounts have %d", sum)
	}
	n.reopen()
	if sum := n.audit("one"); sum != 200_000 {
		t.Errorf("reopened, the accounts have %d", sum)
	}
	n.close()
}

// The evictor drops states that no event has used since it last came by. A dropped state is
// read again when it is used.
func TestTheEvictorSparesWhatIsUsed(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "one", 64)
	n.sys.Unload(0.001) // finds out that all have been used
	all := n.sys.durable.Loaded()
	if all < 40 {
		t.Fatalf("%d states are in memory", all)
	}
	hot := list[7]
	for range 10 {
		_, err := hot.Deposit(n.cl, 1)
		mustNot(t, err)
		n.sys.Unload(0.05)
	}
	if order.HandleOf(hot.Bare()).Is(order.Unloaded) {
		t.Error("the actor that is used all the time was dropped")
	}
	if left := n.sys.durable.Loaded(); left > 3*all/4 {
		t.Errorf("%d of %d states are left", left, all)
	}
	if dropped := n.sys.Unload(1); dropped == 0 || n.sys.durable.Loaded() != 0 {
		t.Errorf("%d dropped, %d are left", dropped, n.sys.durable.Loaded())
	}
	if got, err := hot.Balance(n.cl); got != 1010 || err != nil {
		t.Errorf("the account has %d, %v", got, err)
	}
	if got := n.sys.durable.Loaded(); got != 1 {
		t.Errorf("%d states are in memory after one was used", got)
	}
	n.close()
}

// The evictor goes round all the time while states are read back: neither blocks the other for ever.
func TestTheEvictorAndReadersDoNotBlockEachOther(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "one", 2000)
	stop := again(func(int) { n.sys.Unload(1) })
	for i := range lessIfShort(20_000) {
		_, err := list[i%len(list)].Deposit(n.cl, 1)
		mustNot(t, err)
	}
	stop()
	n.close()
}

// What an event holds stays, and what it has written and not committed is not lost.
func TestTheEvictorTakesNothingFromAnEvent(t *testing.T) {
	n := startNode(t, Config{})
	d := newDesk(t, n.cl)
	n.sys.Unload(1)
	mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) {
		self.setN(cx, 7)
		n.sys.Unload(1)
		if order.HandleOf(self.Ref()).Is(order.Unloaded) || order.HandleOf(self.Ref()).Object != order.Object(self) {
			t.Error("the state of a running event was dropped")
		}
		kid := self.hire(cx)
		n.sys.Unload(1)
		kid.do(cx, func(cx *Cx, k *desk) { k.setN(cx, 8) })
	}))
	if err := d.await(n.cl, func(cx *Cx, self *desk) {
		self.setN(cx, 9)
		n.sys.Unload(1)
		Abort(cx, "no")
	}); err == nil {
		t.Error("the event has committed")
	}
	n.sys.Unload(1)
	if got := d.see(t, n.cl); got != 7 {
		t.Errorf("n is %d", got)
	}
	n.close()
}

// The states in memory stay within their budget, though all states together are several times as
// large. The test counts the states itself, as the heap of a test also holds the engine.
func TestStateLargerThanMemory(t *testing.T) {
	const actors, each, rest, budget = 200, 1 << 20, 10 << 20, 50 << 20
	n := startNode(t, Config{})
	m, looks := &n.sys.durable.Memory, uint64(0)
	m.Max, m.Measure = budget, func() (live, cycles uint64) {
		looks++
		return uint64(n.sys.durable.Loaded())*each + rest, looks
	}
	var list []deskRef
	use := func(i int, f work) {
		t.Helper()
		mustNot(t, list[i].await(n.cl, f))
		m.Look()
		if live, _ := m.Measure(); live > budget {
			t.Fatalf("%d bytes are in memory", live)
		}
	}
	for i := range actors {
		list = append(list, newDesk(t, n.cl))
		use(i, func(cx *Cx, self *desk) { self.setN(cx, int64(i)) })
	}
	for range 2 {
		for i := range list {
			use(i, func(_ *Cx, self *desk) {
				if self.n != int64(i) {
					t.Errorf("desk %d has %d", i, self.n)
				}
			})
		}
	}
	n.close()
}

// The notes of dropped actors go with the copies of their containers, also if the actors are not read again.
func TestNotesOfCopiesGoWithThem(t *testing.T) {
	n := startNode(t, Config{})
	const half = 2 * state.RetiredMin
	var desks []deskRef
	for range 2 * half {
		d := newDesk(t, n.cl)
		mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) {
			for i := range 200 { // more than is read at once
				undo.MapSet(cx.UndoLog(), &self.Self, 5, &self.names, "a name like many others "+itoa(i), int64(i))
			}
		}))
		desks = append(desks, d)
	}
	n.sys.Unload(1)
	var notes state.Retired
	var copies []value.Map[string, int64]
	copyAll := func(list []deskRef) {
		for _, d := range list {
			mustNot(t, d.await(n.cl, func(_ *Cx, self *desk) { copies = append(copies, self.names.Share()) }))
			notes.Drop(order.HandleOf(d.Bare()))
		}
		n.sys.Unload(1)
	}
	copyAll(desks[:half])
	if len(notes.Copies) != half {
		t.Fatalf("%d actors of %d are noted", len(notes.Copies), half)
	}
	copies = nil
	runtime.GC()
	copyAll(desks[half:])
	if len(notes.Copies) != half {
		t.Errorf("%d actors are noted, of which %d have copies", len(notes.Copies), half)
	}
	runtime.KeepAlive(copies)
	n.close()
}

// What engines hold is not taken for states, whichever engines these are: states stay in memory though engines hold more than the budget.
func TestEnginesTakeNothingFromTheStates(t *testing.T) {
	n := startNode(t, Config{})
	for range 50 {
		newDesk(t, n.cl)
	}
	m, all := &n.sys.durable.Memory, n.sys.durable.Loaded()
	runtime.GC()
	live, _ := m.Measure()
	m.Max = 2*live + 64<<20
	held := make([]byte, 2*m.Max)
	runtime.GC()
	end := store.CountMemory(func() int64 { return int64(len(held)) })
	m.Look()
	if left := n.sys.durable.Loaded(); left != all {
		t.Errorf("engines hold %d bytes, and %d of %d states are left", len(held), left, all)
	}
	end()
	runtime.GC()
	m.Look()
	if left := n.sys.durable.Loaded(); left == all {
		t.Errorf("%d bytes that no engine holds let all states stay", len(held))
	}
	runtime.KeepAlive(held)
	n.close()
}

// The goroutine that looks at the heap runs the evictor, and ends with the system.
func TestHeapIsWatched(t *testing.T) {
	n := startNode(t, Config{MemoryMax: 1})
	for range 50 {
		newDesk(t, n.cl)
	}
	until(func() bool {
		runtime.GC()
		return n.sys.durable.Loaded() < 10
	})
	n.close()
}
