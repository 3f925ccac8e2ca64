package outbox

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/order"
)

// LaneKey says which lane a sub-event waits in.
type LaneKey struct {
	Issuer, Target *order.Handle
	Firing         bool // the firings of the issuer's timers, which wait only for each other
}

// Lane is the queue of the sub-events of one issuer to one target. A sub-event is admitted
// when the one before it has ended. A lane exists while it holds any.
type Lane[E any] struct {
	Key   LaneKey
	queue []E // guarded by its shard
	head  int
}

// Lanes holds all lanes. A lane is filled by events that hold the issuer, so its order
// is their commit order, then program order.
//
// Invariant: one goroutine drains a lane, the one that was told to start it.
type Lanes[E any] struct{ shards shard.Set[laneShard[E]] }

type laneShard[E any] struct {
	mu struct {
		sync.Mutex
		byKey map[LaneKey]*Lane[E]
	}
}

func (ls *Lanes[E]) shard(k LaneKey) *laneShard[E] {
	return ls.shards.Of(k.Issuer.ID.Serial + k.Target.ID.Serial*0x9e3779b9)
}

// Push appends a sub-event. It returns the lane if the caller has to start draining it.
func (ls *Lanes[E]) Push(k LaneKey, e E) (start *Lane[E]) {
	sh := ls.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	l := sh.mu.byKey[k]
	if l == nil {
		l = &Lane[E]{Key: k}
		if sh.mu.byKey == nil {
			sh.mu.byKey = make(map[LaneKey]*Lane[E])
		}
		sh.mu.byKey[k] = l
		start = l
	}
	if l.head > len(l.queue)/2 { // the lane of a busy target may never be empty
		n := copy(l.queue, l.queue[l.head:])
		clear(l.queue[n:])
		l.queue, l.head = l.queue[:n], 0
	}
	l.queue = append(l.queue, e)
	return start
}

// Next takes the head of the lane; it drops an empty lane.
func (ls *Lanes[E]) Next(l *Lane[E]) (e E, ok bool) {
	sh := ls.shard(l.Key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if l.head == len(l.queue) {
		sh.drop(l)
		return e, false
	}
	e = l.queue[l.head]
	var none E
	l.queue[l.head] = none
	if l.head++; l.head == len(l.queue) {
		l.queue, l.head = l.queue[:0], 0
	}
	return e, true
}

// More reports whether the lane holds anything; it drops an empty lane.
func (ls *Lanes[E]) More(l *Lane[E]) bool {
	sh := ls.shard(l.Key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if l.head < len(l.queue) {
		return true
	}
	sh.drop(l)
	return false
}

// drop forgets an empty lane. Caller holds mu.
func (sh *laneShard[E]) drop(l *Lane[E]) {
	// Else two lanes of one issuer and target would be drained at once, in no order.
	assert.That(sh.mu.byKey[l.Key] == l, "outbox: a lane is drained after its end")
	delete(sh.mu.byKey, l.Key)
}
