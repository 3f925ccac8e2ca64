package exec

import (
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Restored counts what Recover has found in a store.
type Restored struct {
	Actors        int
	SubEvents     int
	Continuations int // tail calls
	Timers        int
}

// restored counts rows by section while they are read.
type restored [256]atomic.Int64

// Restored returns what Recover has found in the store of the system, nothing if it has none.
func (s *System) Restored() Restored {
	d := s.durable
	if d == nil {
		return Restored{}
	}
	n := func(section store.Section) int { return int(d.found[section].Load()) }
	return Restored{Actors: n(store.Headers), SubEvents: n(store.Outbox), Continuations: n(store.Continuations), Timers: n(store.Timers)}
}

// Header is what the header of a stored actor says to who looks at a store from outside.
type Header struct {
	Layout uint32 // of its class
	Alive  bool   // it was neither deleted nor only named yet
}

// ReadHeader reads the payload of the row of a header.
func ReadHeader(payload []byte) (Header, error) {
	var row headerRow
	if err := row.read(payload); err != nil {
		return Header{}, err
	}
	return Header{row.layout, row.flags&(headerDead|headerUnborn) == 0}, nil
}
