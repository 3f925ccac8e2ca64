package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/aeon-lang/aeon/runtime/order"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Recover opens a system on cfg.Store with everything that is in it: actors, ownership, the
// sequencing tree, sessions, sub-events that have not ended, timers. The states of actors are
// read when they are used. Events run from then on. An error means that nothing has run and
// nothing was changed; it is an error of the store, a *store.CorruptError, or it says what of the store the
// program cannot read: it wraps ErrClass for a class, a *store.SchemaError for each field and a *store.CallError
// for each method.
//
// The caller closes the system, then the store.
func Recover(cfg Config) (*System, error) {
	s := newSystem(cfg)
	d, err := newDurable(s, &s.cfg)
	if err == nil {
		s.durable = d
		if s.tracer != nil {
			s.tracer.resume(d)
		}
		r := recovery{d: d, s: s}
		err = r.run()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if cfg.MemoryMax > 0 && s.scheduler == nil {
		d.memory.start()
	}
	return s, nil
}

// recovery is one reading of a store.
type recovery struct {
	d      *durable
	s      *System
	placed []dominator.Placed
	heads  []headerRow            // of those in placed
	taken  map[*order.Handle]bool // those in placed
	lanes  []*lane
	timers map[uint64]*timer // by generation: those that are set
	steps  []tailStep        // of chains that keep their actors
	chains []*chain          // theirs
	live   int               // how much of that the system counts as issued
}

func (r *recovery) run() error {
	for _, step := range []func() error{r.classes, r.count, r.graph, r.sessions, r.setTimers, r.continuations, r.outbox, r.unread} {
		if err := step(); err != nil {
			r.s.live.Add(-r.live) // it will not run, and closing the system waits for what does
			return err
		}
	}
	r.d.layouts.tell(r.s.log)
	r.d.store.WriteSchema(r.d.layouts.schema)
	if r.s.tracer == nil {
		r.d.untraced()
	}
	r.d.ready.Store(true)
	for i, ch := range r.chains {
		r.s.workers.Run(func() { ch.proceed(r.steps[i]) })
	}
	for _, l := range r.lanes {
		r.s.workers.Run(func() { r.s.drain(l) })
	}
	r.s.timers.wake()
	r.s.host.Tighten()
	return nil
}

// unread refuses a store in which calls wait that the program cannot read.
func (r *recovery) unread() error { return r.d.signatures.unread(r.d.layouts.schema) }

// classes refuses a store with actors of a class that the program has no more.
func (r *recovery) classes() error { return r.d.layouts.lost(r.d.store) }

// errCounted ends the counting.
var errCounted = errors.New("there are enough")

// count counts the actors, up to a number that takes no time.
func (r *recovery) count() error {
	n := &r.d.found.Actors
	err := r.headers(func(_ event.ActorID, row *headerRow) error {
		if row.flags&headerUnborn == 0 {
			*n++
		}
		if *n > RestoredMax {
			return errCounted
		}
		return nil
	})
	if errors.Is(err, errCounted) {
		return nil
	}
	return err
}

// headers calls f for the header of every actor until f returns an error.
func (r *recovery) headers(f func(id event.ActorID, row *headerRow) error) error {
	var row headerRow
	for p := range r.s.host.Partitions {
		err := r.rows(event.PartitionID(p), store.Headers, 8, func(key, payload []byte) error {
			if err := row.read(payload); err != nil {
				return err
			}
			return f(event.ActorID{Birth: event.PartitionID(p), Serial: binary.BigEndian.Uint64(key)}, &row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// graph attaches the actors that have an owner besides their T-parent, their owners, and
// what is above them in the tree. All others are attached when they are used.
func (r *recovery) graph() error {
	r.taken = make(map[*order.Handle]bool)
	edges, err := r.edges()
	if err != nil {
		return err
	}
	for i := 0; i < len(r.placed); i++ { // it grows
		p := &r.placed[i]
		at, err := r.d.parent(r.s.host.HandleOf(p.Node).ID, &r.heads[i])
		if err == nil && !at.Is(order.Virtual) {
			err = r.take(at)
			p = &r.placed[i]
		}
		if err != nil {
			return err
		}
		if at.Is(order.Deleted) {
			at, p.Units = r.s.host.Partitions[r.s.host.HandleOf(p.Node).ID.Birth], 0
		}
		p.Parent = r.s.host.NodeOf(at)
	}
	if err := r.s.host.Graph.Restore(r.placed, edges); err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	r.placed, r.heads, r.taken = nil, nil, nil
	return nil
}

// edges reads the edges whose owner is not the T-parent.
func (r *recovery) edges() (list []dominator.Edit, err error) {
	for p := range r.s.host.Partitions {
		err := r.rows(event.PartitionID(p), store.Edges, 18, func(key, payload []byte) error {
			in := payloadReader{rest: payload}
			units := in.uint()
			if err := in.end(); err != nil {
				return err
			}
			child := r.d.resolve(event.ActorID{Birth: event.PartitionID(p), Serial: binary.BigEndian.Uint64(key)})
			owner := r.d.resolve(actorInKey(key[8:]))
			if err := errors.Join(r.take(child), r.take(owner)); err != nil {
				return err
			}
			switch {
			case child.Is(order.Deleted):
				return fmt.Errorf("the owned actor %v is missing", child.ID)
			case owner.Is(order.Deleted):
				return fmt.Errorf("the owner %v is missing", owner.ID)
			}
			list = append(list, dominator.Edit{Owner: &owner.Node, Child: &child.Node, Units: int(units)})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// take lists h, which is detached, among those to be placed, unless it is there already or was
// deleted.
func (r *recovery) take(h *order.Handle) error {
	if r.taken[h] || h.Is(order.Deleted) {
		return nil
	}
	var row headerRow
	found, err := r.d.header(h.ID, &row)
	if err != nil {
		return err
	}
	state := order.Created | order.Deleted
	if found {
		if state, err = r.d.describe(h, &row); err != nil {
			return err
		}
		r.taken[h] = true
		r.d.actors.keep(h)
		r.placed = append(r.placed, dominator.Placed{Node: &h.Node, Units: row.units})
		r.heads = append(r.heads, row)
	}
	h.State.Store(state)
	return nil
}

// actorInKey reads an id as store.AppendActor writes it.
func actorInKey(key []byte) event.ActorID {
	return event.ActorID{Birth: event.PartitionID(binary.BigEndian.Uint16(key)), Serial: binary.BigEndian.Uint64(key[2:])}
}

// sectionPrefix is how long the common part of the keys of a section is.
const sectionPrefix = 4

// rows calls f for every row of a section, in order, with the rest of its key, which has at
// least keyMin bytes. Errors of f are damage of that row, unless they say otherwise.
func (r *recovery) rows(p event.PartitionID, section store.Section, keyMin int, f func(key, payload []byte) error) error {
	it := r.d.store.Scan(store.SectionRange(p, section))
	var err error
	for err == nil && it.Next() {
		var payload []byte
		if payload, err = store.Payload(it.Key(), it.Value()); err != nil {
			break
		}
		if len(it.Key()) < sectionPrefix+keyMin {
			err = r.corrupt(it.Key(), fmt.Errorf("its key is too short"))
		} else if e := f(it.Key()[sectionPrefix:], payload); e != nil {
			err = r.corrupt(it.Key(), e)
		}
	}
	if closed := it.Close(); err == nil {
		err = closed
	}
	return err
}

// corrupt names the row that an error is about.
func (r *recovery) corrupt(key []byte, err error) error {
	key = append([]byte(nil), key...)
	var known *store.CorruptError
	if errors.As(err, &known) || errors.Is(err, errCounted) {
		return err
	}
	if isClass(err) {
		return fmt.Errorf("%s: %w", store.DescribeKey(key), err)
	}
	return &store.CorruptError{Key: key, Reason: err.Error()}
}
