package order

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/sched"
)

var acrossEvents = flag.Int("across.events", 1000, "how many events TestAttemptsOverStores makes in each of its worlds")

// A stores is some hosts in one process, each of which is a store, and the network between them, which delivers in any order. It has of events what
// the locks need to know, and of the commit nothing: all stores end an attempt together.
type stores struct {
	t     *testing.T
	hosts []*storeHost
	top   struct {
		sync.Mutex
		sent  []uint64
		place uint64
	}
	events, ended, withdrawn, wide, lost, grown, further atomic.Int64
	unordered, alone, numbers                            atomic.Int64 // parts of unordered attempts, and events that have ended as one
	anyOrder                                             bool         // planted: stores take their parts as these come
	failed                                               atomic.Bool
}

type storeHost struct {
	of     *stores
	host   Host
	id     event.StoreID
	actors []*Handle
	stubs  map[event.ActorID]*Handle
	cells  map[*Handle]*cell

	mu    sync.Mutex
	turns lock.Turns[func()]
	parts map[partKey]*storePart
}

type partKey struct {
	home  *Attempt
	token uint32
}

// storePart is the part of an attempt in another store.
type storePart struct {
	Attempt
	taken chan struct{} // closed when it has its turn
	over  bool
}

// cell counts the events that hold an actor, as their code sees it.
type cell struct{ holders atomic.Int32 } // readers, or -1

func (c *cell) enter(mode Mode) bool {
	if mode == Write {
		return c.holders.CompareAndSwap(0, -1)
	}
	return c.holders.Add(1) > 0
}

func (c *cell) leave(mode Mode) {
	if mode == Write {
		c.holders.Store(0)
		return
	}
	c.holders.Add(-1)
}

var treeShape = &Shape{Package: "test", Name: "Node", Fields: []Field{{Name: "kids", Owning: true}}}

func newStores(t *testing.T, n, actors int, r *rand.Rand) *stores {
	w := &stores{t: t}
	w.top.sent = make([]uint64, n)
	for i := range n {
		h := &storeHost{of: w, id: event.StoreID(i), stubs: make(map[event.ActorID]*Handle), cells: make(map[*Handle]*cell), parts: make(map[partKey]*storePart)}
		workers := &sched.Workers{}
		workers.Open(2, nil)
		h.host.Init(HostConfig{Partitions: 2, Workers: workers, DepthMax: 1 << 20, MoveID: func() event.EventID { return event.EventID{} }})
		h.host.Join(h)
		for k := range actors {
			a := h.host.NewHandle(treeShape, event.ActorID{Birth: event.PartitionID(i), Serial: uint64(i*1000 + k + 1)}, Created)
			if k > 1 && r.IntN(3) > 0 {
				h.host.Graph.NewChild(&h.actors[r.IntN(k)].Node, &a.Node)
			} else {
				h.host.Graph.NewRoot(&a.Node, &h.host.Partitions[r.IntN(2)].Node)
			}
			h.actors = append(h.actors, a)
			h.cells[a] = &cell{}
		}
		w.hosts = append(w.hosts, h)
	}
	for _, h := range w.hosts {
		for _, o := range w.hosts {
			for _, a := range o.actors {
				if o != h {
					stub := &Handle{ID: a.ID, Shape: a.Shape}
					stub.State.Store(Elsewhere)
					h.stubs[a.ID] = stub
				}
			}
		}
	}
	return w
}

// StoreOf implements Above.
func (h *storeHost) StoreOf(id event.ActorID) event.StoreID { return event.StoreID(id.Birth) }

// Label implements Above.
func (h *storeHost) Label(event.ActorID) string { return "" }

// Order implements Above: it goes to TOP by a message, and from there to each store.
func (h *storeHost) Order(a *Attempt, token uint32, parts []Part) (away bool, err error) {
	w := h.of
	w.post(func() {
		w.top.Lock()
		defer w.top.Unlock()
		w.top.place++
		own, place := w.number(h.id), Ordered|w.top.place
		w.post(func() { h.take(own, func() { a.Take(token, place) }) })
		for _, p := range parts {
			n := w.number(p.Store)
			w.post(func() { w.hosts[p.Store].begin(a, token, n, place, p.Wanted, func() { a.Taken(token) }) })
		}
	})
	return false, nil
}

// number returns the next number of a store. Caller holds the mutex of top.
func (w *stores) number(s event.StoreID) uint64 {
	w.top.sent[s]++
	return w.top.sent[s]
}

// reach gets an attempt that has entered a part in one more store, and reports whether it does.
func (w *stores) reach(a *Attempt, token uint32, s event.StoreID) bool {
	if a.hasPart(s) && (a.turn >= Ordered || slices.Contains(a.places, s)) {
		return true
	}
	if rand.IntN(4) == 0 || a.turn == 0 && !a.MayGoOut() {
		return false
	}
	if a.turn == 0 {
		a.GoOut(uint64(w.numbers.Add(1)), s)
	}
	if a.unordered() {
		turn := a.turn
		w.post(func() { w.hosts[s].begin(a, token, 0, turn, nil, func() {}) })
		w.unordered.Add(1)
		a.AddPlace(s)
		return true
	}
	place, came := a.turn, false
	w.post(func() {
		w.top.Lock()
		defer w.top.Unlock()
		n := w.number(s)
		w.post(func() {
			w.hosts[s].begin(a, token, n, place, nil, func() { a.Notify(token, func() { came = true }) })
		})
	})
	if !a.AwaitNews(func() bool { return came }) {
		return false
	}
	w.further.Add(1)
	a.AddPlace(s)
	return true
}

// post delivers a message, after a while.
func (w *stores) post(deliver func()) {
	if d := rand.IntN(200); d > 20 {
		time.AfterFunc(time.Duration(d)*time.Microsecond, deliver)
		return
	}
	go deliver()
}

// Withdrawn implements Above.
func (h *storeHost) Withdrawn(a *Attempt, token uint32) { h.endAll(a, token) }

// endAll ends the parts of an attempt in other stores.
func (h *storeHost) endAll(a *Attempt, token uint32) {
	for _, o := range h.of.hosts {
		if o != h {
			h.of.post(func() { o.end(a, token) })
		}
	}
}

func (h *storeHost) take(number uint64, take func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inTurn(number, take)
}

// inTurn calls take in its turn, or at once if it has none. Caller holds mu.
func (h *storeHost) inTurn(number uint64, take func()) {
	if h.of.anyOrder || number == 0 {
		take()
		return
	}
	h.turns.Take(number, take, func(take func()) { take() })
}

// part returns a part, which may not have begun, nor end before it does.
func (h *storeHost) part(key partKey) *storePart {
	p := h.parts[key]
	if p == nil {
		p = &storePart{taken: make(chan struct{})}
		h.parts[key] = p
	}
	return p
}

// Handle implements Finder.
func (h *storeHost) Handle(id event.ActorID) *Handle { return h.actors[id.Serial%1000-1] }

// refused is a Refused.
type refused func()

func (f refused) Refused() { f() }

// begin begins the part of an attempt, in its turn; number 0: it has none.
func (h *storeHost) begin(a *Attempt, token uint32, number, place uint64, wanted []Wanted, taken func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := partKey{a, token}
	p := h.part(key)
	h.inTurn(number, func() {
		if p.over {
			delete(h.parts, key)
			close(p.taken)
			return
		}
		if rand.IntN(40) == 0 { // the store loses it, and has not said that it has taken it
			p.over = true
			close(p.taken)
			h.of.lost.Add(1)
			h.of.post(func() { a.Break(token, nil, NoAccess) })
			return
		}
		p.Open(&h.host)
		p.Host, p.ID, p.Effects, p.Work = &h.host, a.ID, a.Effects, a.Work
		p.StartPart(0, place, wanted, h, refused(func() { h.of.post(func() { a.Break(token, nil, NoAccess) }) }))
		p.TakePart()
		close(p.taken)
		h.of.post(taken)
	})
}

// end ends the part of an attempt.
func (h *storeHost) end(a *Attempt, token uint32) {
	h.mu.Lock()
	p := h.part(partKey{a, token})
	p.over = true
	begun := false
	select {
	case <-p.taken:
		begun = true
		delete(h.parts, partKey{a, token})
	default:
	}
	h.mu.Unlock()
	if begun && p.Host != nil {
		h.of.grown.Add(int64(len(p.TakeGrown())))
		p.EndPart(true)
	}
}

// access is one that an event makes.
type access struct {
	h    *Handle
	at   *storeHost
	mode Mode
	stub *Handle // at the home; nil: it is there
}

// call has the part of an attempt access an actor.
func (h *storeHost) call(a *Attempt, token uint32, x access) error {
	answer := make(chan error, 1)
	h.of.post(func() {
		h.mu.Lock()
		p := h.part(partKey{a, token})
		h.mu.Unlock()
		<-p.taken
		var err error
		func() {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(Withdrawal); !ok {
						panic(r)
					}
					err = errMissing
				}
			}()
			if p.over {
				err = errLost
				return
			}
			p.Hold(x.h, x.mode)
		}()
		h.of.post(func() { answer <- err })
	})
	return <-answer
}

var (
	errMissing = errors.New("the part does not cover the actor")
	errLost    = errors.New("the part is lost")
)

// run performs an event to its end.
func (h *storeHost) run(a *Attempt, list []access, effects *Effects) {
	w := h.of
	a.Host, a.ID, a.Target, a.Effects, a.Work = &h.host, event.EventID{Origin: uint64(h.id) + 1, Seq: uint64(w.events.Add(1))}, list[0].h, effects, event.EventID{}
	a.Reroutes = new(atomic.Uint64)
	a.Start()
	for {
		if err := a.Enter(); err != nil {
			w.t.Error(err)
			return
		}
		token := a.Token()
		var held []access
		out, ok := func() (out Withdrawal, ok bool) {
			defer func() {
				if r := recover(); r != nil {
					if out, ok = r.(Withdrawal); !ok {
						panic(r)
					}
					ok = false
				}
			}()
			for _, x := range list {
				if x.stub == nil {
					a.Hold(x.h, x.mode)
				} else {
					if !w.reach(a, token, x.at.id) {
						Missing(x.stub, x.mode, false)
					}
					switch err := x.at.call(a, token, x); err {
					case errMissing:
						Missing(x.stub, x.mode, false)
					case errLost:
						a.Break(token, nil, NoAccess)
					}
				}
				if a.Broken() {
					panic(Withdrawal{})
				}
				if !x.at.cells[x.h].enter(x.mode) {
					w.failed.Store(true)
				}
				held = append(held, x)
			}
			return out, true
		}()
		for _, x := range held {
			x.at.cells[x.h].leave(x.mode)
		}
		if ok {
			if a.IsWide() {
				w.wide.Add(1)
				if a.unordered() {
					w.alone.Add(1)
				}
				a.Ended()
				a.Learn(func(s event.StoreID) bool {
					return slices.ContainsFunc(list, func(x access) bool { return x.at.id == s })
				})
				h.endAll(a, token)
			}
			a.Release(false)
			w.ended.Add(1)
			a.Reset()
			return
		}
		w.withdrawn.Add(1)
		a.Retry(out)
	}
}

// live has goroutines make events until there were so many, and reports whether all have ended: not if none ends for as long as patience.
func (w *stores) live(seed uint64, events int64, patience time.Duration) bool {
	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(events)
	for g := range 8 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(g)+10))
			for left.Add(-1) >= 0 {
				h := w.hosts[r.IntN(len(w.hosts))]
				list := w.draw(h, r)
				e := &Effects{Self: list[0].mode, Below: Below(r.IntN(2)) * Any, BelowMode: Write, Touches: []ClassMode{{treeShape, Write}}}
				if r.IntN(2) == 0 { // known before
					e.ArgRefs = func(_ Args, f *Footprint) {
						for _, x := range list[1:] {
							if x.stub != nil {
								f.Add(RefOf(x.stub), x.mode)
							} else {
								f.Add(RefOf(x.h), x.mode)
							}
						}
					}
				}
				a := &Attempt{}
				a.Open(&h.host)
				h.run(a, list, e)
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }() // a world that does not go on leaves it behind
	for before := int64(-1); ; {
		select {
		case <-done:
			return true
		case <-time.After(patience):
			now := w.ended.Load()
			if now == before {
				return false
			}
			before = now
		}
	}
}

// draw draws what an event accesses, its target first.
func (w *stores) draw(h *storeHost, r *rand.Rand) (list []access) {
	seen := map[*Handle]bool{}
	for len(list) == 0 || len(list) < 4 && r.IntN(3) > 0 {
		o := w.hosts[r.IntN(len(w.hosts))]
		if len(list) == 0 {
			o = h
		}
		x := access{h: o.actors[r.IntN(len(o.actors))], at: o, mode: Read + Mode(r.IntN(2))}
		if seen[x.h] {
			continue
		}
		if seen[x.h] = true; o != h {
			x.stub = h.stubs[x.h.ID]
		}
		list = append(list, x)
	}
	return list
}

// Attempts over several stores are alone where they write, and none waits for ever, whatever they know of what they will want, and though stores lose
// parts of them.
func TestAttemptsOverStores(t *testing.T) {
	t.Parallel() // it waits for messages
	for seed := range uint64(3) {
		w := newStores(t, 2+int(seed), 4+2*int(seed), rand.New(rand.NewPCG(seed, 1)))
		if !w.live(seed, int64(*acrossEvents), 30*time.Second) {
			t.Fatalf("seed %d: nothing goes on", seed)
		}
		if w.failed.Load() {
			t.Errorf("seed %d: an event was not alone", seed)
		}
		t.Logf("seed %d: %d events, %d over several stores, %d withdrawn while they ran, %d actors taken later, %d parts later, %d parts lost, %d without a place, %d of these to the end", seed, w.events.Load(), w.wide.Load(), w.withdrawn.Load(), w.grown.Load(), w.further.Load(), w.lost.Load(), w.unordered.Load(), w.alone.Load())
		if w.wide.Load() < w.events.Load()/4 || w.withdrawn.Load() < w.events.Load()/10 || w.lost.Load() == 0 || w.alone.Load() < w.events.Load()/50 {
			t.Errorf("seed %d: too little has happened", seed)
		}
	}
}

// If stores take their parts as these come, events wait for each other for ever.
func TestStoresThatTakePartsInAnyOrder(t *testing.T) {
	t.Parallel() // it waits until nothing goes on
	w := newStores(t, 3, 4, rand.New(rand.NewPCG(1, 1)))
	w.anyOrder = true
	if w.live(1, 10_000, time.Second) {
		t.Error("all events have ended")
	}
}

// attaching is a residence with one actor that is detached: nothing is known of it but its id.
type attaching struct {
	Residence
	owner, h *Handle
}

func (r *attaching) Handle(event.ActorID) *Handle { return r.h }

func (r *attaching) Attach(h *Handle) error {
	h.Shape = treeShape
	h.Host.Graph.NewChild(&r.owner.Node, &h.Node)
	h.State.Store(Created)
	return nil
}

// A part is to cover what is below an actor, and its store learns what can be there as it attaches the actor.
func TestAPartCoversWhatIsBelowAnActorThatWasDetached(t *testing.T) {
	s := newHost(t)
	r := &attaching{owner: s.root(0, 1), h: &Handle{ID: event.ActorID{Serial: 2}, Host: s}}
	r.h.State.Store(Detached)
	s.Reside(r)
	p := &Attempt{}
	p.Open(s)
	p.Host, p.Effects, p.Work = s, &Effects{Below: Any, BelowMode: Write}, event.EventID{}
	p.StartPart(1, Ordered|1, []Wanted{{Actor: r.h.ID, Mode: Write, Tree: true}}, r, nil)
	if !p.members.members[0].tree || !p.reaching {
		t.Errorf("the part enters for %v alone", r.h.ID)
	}
	p.TakePart()
	p.EndPart(false)
}
