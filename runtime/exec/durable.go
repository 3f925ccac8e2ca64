package exec

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// durable is what only a system with a store has. It is the host's residence.
type durable struct {
	state.State
	sys         *System
	answersWait bool // answers to clients of this process are gated, too
	signatures  state.Signatures[*Method]
	seq         store.Numbers
	sessions    outbox.Sessions[*client]
	keyed       outbox.Keyed
	ends        outbox.Ends
	dead        outbox.DeadLetters
	archive     archive.Live
	found       state.Restored
}

// ErrNoStore refuses sessions, requests with keys, and snapshots of a system that keeps nothing.
var ErrNoStore = errors.New("the system keeps its state in memory only; sessions, requests with keys and snapshots need a store")

// nextSeq returns a number that is larger than all before it, of earlier runs, too.
func (d *durable) nextSeq() uint64 { return d.seq.Next() }

// Moved implements order.Residence.
func (d *durable) Moved(c, old *order.Handle) {
	at("move", "move")
	d.State.Moved(c, old)
	at("moved", "move")
}

// references resolves the references in stored values, for their decoder.
type references struct {
	*System
	resolve func(event.ActorID) order.Ref
}

// Resolve returns the reference to an actor.
func (r references) Resolve(id event.ActorID) order.Ref { return r.resolve(id) }

func (s *System) references(resolve func(event.ActorID) order.Ref) any { return references{s, resolve} }

// Resolve returns the reference to the actor of an id, which may have been deleted.
func (s *System) Resolve(id event.ActorID) order.Ref { return s.durable.Resolve(id) }

// Find returns the actor of an id, null if there is none. The error says why that is not known.
func (s *System) Find(id event.ActorID) (order.Ref, error) {
	if s.durable == nil || !s.durable.Visit() {
		return order.Ref{}, event.ErrClosed
	}
	defer s.durable.Leave()
	r := s.Resolve(id)
	if h := order.HandleOf(r); h == nil || h.Is(order.Detached) && h.Host.Attach(h) != nil || h.Shape == nil && !h.Is(order.Elsewhere) {
		return order.Ref{}, s.durable.WaitAll() // a former leader does not know what its successors have created
	}
	return r, nil
}

// ClassOf returns the path of the class of an actor that Find has returned, "" if that is in another store and not there. The error says why that store
// has not answered.
func (s *System) ClassOf(ctx context.Context, r order.Ref) (string, error) {
	if h := order.HandleOf(r); !h.Is(order.Elsewhere) {
		return h.Shape.Path(), nil
	}
	q, err := s.across.Ask(ctx, s.across.StoreOf(r.ID()), across.Question{Actor: r.ID()})
	return q.Class, err
}

// States returns the states of all actors of a system with a store, as state.State does.
func (s *System) States() ([]state.ActorState, error) {
	if s.durable == nil {
		return nil, ErrNoStore
	}
	return s.durable.States()
}

// Unload drops about a share, from 0 to 1, of the states that are in memory. States that were not used for
// long go first; a state that an event holds stays. It returns how many it has dropped.
func (s *System) Unload(share float64) (dropped int) {
	if s.durable == nil {
		return 0
	}
	return s.durable.Unload(share)
}

// Restored returns what Recover has found in the store of the system, nothing if it has none.
func (s *System) Restored() state.Restored {
	if s.durable == nil {
		return state.Restored{}
	}
	return s.durable.found
}
