package exec

import (
	"errors"
	"slices"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// What a part has prepared is in doubt until its home decides, also if this store starts anew meanwhile. So its row has all that the
// commit needs, and a later start makes from it what the part was: an event that holds its locks, and that Apply carries out as any
// other (activation, Prepared). What is numbered in the order of the commits gets its numbers there.

// reread has the states of actors that the part has changed be read from the store: the batch at pos has the changes.
func (x *proxy) reread(pos store.Position) {
	ev := x.ev
	for _, list := range [...][]*order.Handle{x.held, ev.Fresh} {
		for _, h := range list {
			if h.Is(order.Deleted) {
				continue
			}
			h.Stored(pos)
			if h.Is(order.Created) {
				ev.sys.durable.Reread(h)
			}
		}
	}
}

// inDoubt reads what was decided here, and what was prepared, which has its locks before any event runs; and the chains of requests of several stores.
func (r *recovery) inDoubt() error {
	return r.d.Rows(store.InDoubt, row.InDoubtKeyMin, func(_ event.PartitionID, rest, payload []byte) error {
		k, err := row.ReadInDoubtKey(rest)
		switch {
		case err != nil:
			return err
		case r.s.across == nil:
			return errors.New("it is of an event over several stores, and the store was opened as the only one")
		}
		name := commit.Name{Event: k.Event, Number: k.Number}
		switch k.Kind {
		case row.KindAway:
			return r.away(k.Event, payload)
		case row.KindEnded:
			r.ends = append(r.ends, k.Event)
			return nil
		case row.KindDecided:
			at, stores, err := row.ReadDecision(payload)
			if err == nil {
				r.s.decided(1)
				r.live++
				r.s.across.RestoreDecision(name, at, stores)
			}
			return err
		}
		p, err := row.ReadPrepared(slices.Clone(payload))
		if err != nil {
			return err
		}
		x := &proxy{row: true, changes: p.Changes, restored: true}
		r.s.across.RestorePart(name, k.Home, p.Chain, func(part *across.Part) (across.Proxy, *order.Attempt) {
			err = r.restore(x, part, &p)
			return x, &x.ev.Attempt
		})
		r.live++
		return err
	})
}

// away has the request of a chain wait which goes on in another store.
func (r *recovery) away(first event.EventID, payload []byte) error {
	of, err := row.ReadAway(payload)
	if err != nil {
		return err
	}
	ch, err := r.chain(&event.SubEvent{Chain: event.Chain{First: first}, Request: of})
	if err == nil {
		r.s.abroad.chains[first] = ch
	}
	return err
}

// methodPrepared stands for the method of an event whose code has run in an earlier start.
var methodPrepared = Method{Name: "prepared"}

// restore makes x what it was when the row was written.
func (r *recovery) restore(x *proxy, part *across.Part, p *row.Prepared) (err error) {
	s, d := r.s, r.d
	ev := s.takeEvent(s.inner, part.Name().Event, nil, &methodPrepared, nil)
	x.ev = ev
	x.wide.Part = part
	ev.SetWide(&x.wide)
	ev.TracePart(true)
	ev.Begin()
	s.live.Add(1)
	attached := func(ids []event.ActorID) (list []*order.Handle) {
		for _, id := range ids {
			h := d.Handle(id)
			if a := d.Attach(h); err == nil {
				err = a
			}
			list = append(list, h)
		}
		return list
	}
	x.held = attached(p.Held)
	ev.RestorePart(part.Home(), x.held, attached(p.Reads))
	if err == nil {
		err = r.regain(ev, p)
	}
	if len(ev.Deletes) > 0 {
		x.over = s.dying.Add(ev.Deletes)
	}
	return err
}

// regain makes the changes of an event that holds its locks again.
func (r *recovery) regain(ev *Event, p *row.Prepared) error {
	d := r.d
	for _, m := range p.Fresh {
		h, err := d.Remake(m.ID, m.Layout)
		if err != nil {
			return err
		}
		ev.Creates(h)
		ev.Announce(h)
	}
	for _, id := range p.Born {
		ev.Constructs(d.Handle(id))
	}
	for _, id := range p.Deletes {
		ev.Delete(d.Handle(id))
	}
	for _, e := range p.Edges {
		owner, child := d.Handle(e.Owner), d.Handle(e.Child)
		if child.Is(order.Detached) {
			if err := d.Attach(child); err != nil {
				return err
			}
		}
		ev.ChangeEdge(owner, child, e.Units)
	}
	for _, e := range p.Abroad {
		ev.ChangeAbroad(d.Handle(e.Owner), d.Handle(e.Child), e.Units)
	}
	w := ev.preparation()
	for i := range p.Issues {
		o, err := r.issue(&p.Issues[i])
		if err != nil {
			return err
		}
		o.Encoded[0] = uint32(len(w.args))
		w.args = append(w.args, p.Issues[i].Args...)
		o.Encoded[1] = uint32(len(w.args))
		ev.Root.Ops = append(ev.Root.Ops, o)
	}
	return nil
}

// issue returns the op that was stored. One whose method the program cannot read any more is counted with the calls that wait.
func (r *recovery) issue(s *row.Issue) (o activation.Op, err error) {
	if o = activation.Issued(s, r.d.Handle); o.Kind == activation.OpCancel {
		return o, nil
	}
	c, err := r.timed(s.Signature, s.Args)
	o.Method, o.Object, o.Call, o.Args = c.Method, c.Object, c.Call, c.Args
	return o, err
}
