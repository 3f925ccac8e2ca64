package order

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
)

// parked lists the events that wait for a lock or a chain now, in rings: an event that parks for a microsecond should not pay for a map.
type parked struct{ shard.Set[parkedShard] }

type parkedShard struct {
	mu struct {
		sync.Mutex
		first *Attempt
		n     int
	}
}

// add lists a once more: several branches of one event may wait.
func (p *parked) add(a *Attempt) {
	sh := p.Of(a.ID.Seq)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.mu.n++
	a.Waits++
	if a.parkCount++; a.parkCount > 1 {
		return
	}
	a.parkPrev, a.parkNext = nil, sh.mu.first
	if sh.mu.first != nil {
		sh.mu.first.parkPrev = a
	}
	sh.mu.first = a
}

func (p *parked) remove(a *Attempt) {
	sh := p.Of(a.ID.Seq)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.mu.n--
	if a.parkCount--; a.parkCount > 0 {
		return
	}
	if a.parkPrev != nil {
		a.parkPrev.parkNext = a.parkNext
	} else {
		sh.mu.first = a.parkNext
	}
	if a.parkNext != nil {
		a.parkNext.parkPrev = a.parkPrev
	}
	a.parkPrev, a.parkNext = nil, nil
}

// has reports whether a is listed.
func (p *parked) has(a *Attempt) bool {
	sh := p.Of(a.ID.Seq)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return a.parkCount > 0
}

// Waiting returns how many events wait for a lock, or for a chain to leave an actor, now.
func (s *Host) Waiting() (n int) {
	for sh := range s.parked.All {
		sh.mu.Lock()
		n += sh.mu.n
		sh.mu.Unlock()
	}
	return n
}
