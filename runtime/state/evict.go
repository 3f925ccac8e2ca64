package state

import (
	"math"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A system with a store keeps the states of actors in memory for as long as there is room.
// When the heap, without the memory of the engines, comes near Config.MemoryMax, the evictor goes round the loaded
// states, as the CLOCK algorithm does: it drops a state that no event has used since its last round. The next event that
// uses the actor reads the state again. The evictor tries each actor's lock and never waits for it, so that no event
// waits for the evictor either. The store is current as soon as a commit has its place in the journal; the handle keeps
// the position that answers have to wait for.

// resident lists the actors whose states are loaded. Deleted actors stay until the evictor comes by, or the list has
// doubled, as there may be no evictor.
type resident struct {
	turn   atomic.Uint32 // the shard where Unload begins
	shards shard.Set[residentShard]
}

type residentShard struct {
	mu struct {
		sync.Mutex
		list    []*order.Handle
		next    int // where the evictor is
		pruneAt int // at this length deleted actors are looked for
	}
}

// residentMin is the least length at which deleted actors are looked for.
const residentMin = 4

// add notes that the state of h is in memory.
func (r *resident) add(h *order.Handle) {
	sh := &r.shards.Of(h.ID.Serial).mu
	sh.Lock()
	defer sh.Unlock()
	if sh.list = append(sh.list, h); len(sh.list) > max(sh.pruneAt, residentMin) {
		sh.list = slices.DeleteFunc(sh.list, func(h *order.Handle) bool { return h.Is(order.Deleted) })
		sh.pruneAt = 2 * len(sh.list)
	}
}

// count returns how many states are in memory.
func (r *resident) count() (n int) {
	for shard := range r.shards.All {
		sh := &shard.mu
		sh.Lock()
		n += len(sh.list)
		sh.Unlock()
	}
	return n
}

// Loaded returns how many states are in memory.
func (s *State) Loaded() int { return s.resident.count() }

// Unload drops about a share, from 0 to 1, of the states that are in memory, those first that were not
// used for long. States of actors that an event holds stay. It returns how many it has dropped.
func (s *State) Unload(share float64) (dropped int) {
	r := &s.resident
	want := int(math.Ceil(share * float64(r.count())))
	first := r.turn.Add(1)
	for i := range uint32(shard.Count) {
		dropped += s.unloadShard(int((first+i)%shard.Count), share, want-dropped)
	}
	s.detachSome()
	return dropped
}

// unloadShard goes round one shard, twice at most: in the first round it finds out which actors
// are used. It drops a share, but no more than most. The shard is not locked while a state is
// dropped: an event that waited for the actor then goes on, and may load another actor of the shard.
func (s *State) unloadShard(shard int, share float64, most int) (dropped int) {
	sh := &s.resident.shards.At(shard).mu
	sh.Lock()
	defer sh.Unlock()
	want := min(most, int(math.Ceil(share*float64(len(sh.list)))))
	for looks := 2 * len(sh.list); looks > 0 && dropped < want && len(sh.list) > 0; looks-- {
		if sh.next >= len(sh.list) {
			sh.next = 0
		}
		h := sh.list[sh.next]
		if h.Has(order.MarkUsed) && !h.Is(order.Deleted) {
			h.Mark(order.MarkUsed, false)
			sh.next++
			continue
		}
		last := len(sh.list) - 1
		sh.list[sh.next], sh.list[last] = sh.list[last], nil
		sh.list = sh.list[:last]
		sh.Unlock()
		gone := s.unload(h)
		sh.Lock()
		if gone {
			dropped++
		} else {
			sh.list = append(sh.list, h)
		}
	}
	if cap(sh.list) > 64 && len(sh.list) < cap(sh.list)/4 {
		sh.list = append(make([]*order.Handle, 0, 2*len(sh.list)), sh.list...)
	}
	return dropped
}

// unload drops the state of h if no event holds h. It reports whether there is none in memory now.
func (s *State) unload(h *order.Handle) bool {
	if h.Is(order.Deleted) {
		return true
	}
	if !h.Seize() {
		return false
	}
	mu := s.loads.Of(h.ID.Serial)
	mu.Lock()
	gone := h.Is(order.Deleted | order.Unloaded) // an event that holds it cannot be deleting it
	if h.State.Load() == order.Created {
		mu.retired.Drop(h)
		h.Object = nil
		h.Set(order.Unloaded)
		gone = true
	}
	mu.Unlock()
	h.Free(s.host)
	return gone
}

// Reread has the state of h, which the caller holds for writing, be read from the store: an event of an earlier start has changed it there.
func (s *State) Reread(h *order.Handle) {
	mu := s.loads.Of(h.ID.Serial)
	mu.Lock()
	defer mu.Unlock()
	if h.Object != nil {
		mu.retired.Drop(h)
		h.Object = nil
	}
	h.Set(order.Unloaded)
}

// Memory keeps the heap below Config.MemoryMax. It is also the budget of containers, which come into memory once they
// were read from the store often enough.
type Memory struct {
	state  *State
	Max    uint64 // bytes that the heap may have; 0: there is no limit
	stop   chan struct{}
	done   chan struct{}
	warned bool

	// Measure returns the bytes of the heap after the last garbage collection, and how many collections there were. Tests
	// set it.
	Measure func() (live, cycles uint64)

	// engines is how many bytes the engines of the process held after garbage collection number weighedAt, which belongs to Look.
	engines   atomic.Int64
	weighedAt uint64

	mu     sync.Mutex // guards what follows
	cycles uint64     // the number of the last collection that has found too much
	// taken is the bytes of loads that go on. settled is those of loads that have ended since garbage collection number
	// settledAt.
	taken, settled int64
	settledAt      uint64
}

// init is called before any state is read.
func (m *Memory) init(s *State, max int64) {
	m.state, m.Max, m.Measure = s, uint64(max), m.liveHeap
}

// liveHeap is Measure for production: the bytes of the heap without those of the engines.
func (m *Memory) liveHeap() (live, cycles uint64) {
	live, cycles = collected()
	return live - min(live, uint64(m.engines.Load())), cycles
}

// collected returns the bytes that the last garbage collection has left, and how many there were.
func collected() (live, cycles uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}

// weigh asks the engines after a garbage collection. It takes too long for an event that loads a container: an engine may be waiting for its disk.
func (m *Memory) weigh() {
	if _, cycles := collected(); cycles != m.weighedAt {
		m.engines.Store(store.EngineBytes())
		m.weighedAt = cycles
	}
}

// Take implements value.Budget: containers that come into memory must not make the evictor run.
func (m *Memory) Take(bytes int64) bool {
	if m.Max == 0 {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	live, cycles := m.Measure()
	if cycles != m.settledAt {
		m.settled, m.settledAt = 0, cycles
	}
	if float64(live)+float64(m.taken+m.settled+bytes) > memoryLow*float64(m.Max) {
		return false
	}
	m.taken += bytes
	return true
}

// Settle implements value.Budget. The next garbage collection measures the true size.
func (m *Memory) Settle(bytes int64) {
	if m.Max == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken -= bytes
	m.settled += bytes
}

// Reserved returns how many bytes the loads have taken that go on, and how many those that have ended since the last
// garbage collection. It is for tests.
func (m *Memory) Reserved() (taken, settled int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken, m.settled
}

const (
	memoryInterval = 20 * time.Millisecond
	// Above memoryHigh of the budget the evictor runs, until memoryLow.
	memoryHigh, memoryLow = 0.8, 0.7
	// shareMin is how much of the states is dropped at least: a garbage collection has to
	// come before the next look means anything.
	shareMin = 0.05
)

// Start lets a goroutine look at the heap until Close, if there is a limit.
func (m *Memory) Start() {
	if m.Max > 0 {
		m.Run(m.loop)
	}
}

// Run runs loop in a goroutine until Close, which closes stop and waits for its end.
func (m *Memory) Run(loop func(stop <-chan struct{})) (done <-chan struct{}) {
	m.stop, m.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.done)
		loop(m.stop)
	}()
	return m.done
}

// Close ends what Start or Run has started.
func (m *Memory) Close() {
	if m.stop != nil {
		close(m.stop)
		<-m.done
	}
}

func (m *Memory) loop(stop <-chan struct{}) {
	t := time.NewTicker(memoryInterval)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			m.Look()
		}
	}
}

// found returns the bytes of the heap, and whether a garbage collection since the last call has found too much.
func (m *Memory) found() (live uint64, tooMuch bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live, cycles := m.Measure()
	if cycles == m.cycles || float64(live) < memoryHigh*float64(m.Max) {
		return live, false
	}
	m.cycles = cycles
	return live, true
}

// Look runs the evictor if a garbage collection has found too much since the last look.
func (m *Memory) Look() {
	m.weigh()
	live, tooMuch := m.found()
	if !tooMuch {
		return
	}
	share := max(shareMin, (float64(live)-memoryLow*float64(m.Max))/float64(live))
	if m.state.Unload(share) == 0 && !m.warned && live > m.Max {
		m.warned = true
		m.state.cfg.Log.Warn("more memory is in use than allowed, and no actor's state can be dropped",
			"used", live, "allowed", m.Max, "states in memory", m.state.resident.count())
	}
}
