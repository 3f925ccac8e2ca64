package archive

import (
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Divided returns what one of several stores begins with if a store that was the only one is divided among them: the rows of the partitions that of gives
// to it, and those of the store itself. counted is called for each, with the number of those so far.
//
// What is kept elsewhere if there are several stores goes there. An edge of ownership between two stores is a row of the owner's, and the child hangs in the
// sequencing tree where the owners in its own store put it. A chain that is for a request of another store has a row there.
func Divided(r store.Reader, id event.StoreID, of func(event.PartitionID) event.StoreID, counted func(rows int)) RowSource {
	return func(f func(key, row []byte) error) error {
		n := 0
		d := division{view: r, id: id, of: of, emit: func(key, row []byte) error {
			n++
			counted(n)
			return f(key, row)
		}}
		return d.run()
	}
}

// division is one reading of a store that is divided.
type division struct {
	view       store.Reader
	id         event.StoreID
	of         func(event.PartitionID) event.StoreID
	emit       func(key, row []byte) error
	partitions int
	beside     map[event.ActorID][]row.Edge // by child: its edges from owners beside its T-parent
}

// isHere reports whether an actor is to be in the store.
func (d *division) isHere(id event.ActorID) bool { return d.of(id.Birth) == d.id }

func (d *division) run() (err error) {
	if d.partitions, err = store.PartitionsOf(d.view); err != nil {
		return err
	}
	plain := func(key, row, _ []byte) error { return d.emit(key, row) }
	from, to := store.MetaRange()
	if err := row.Each(d.view, from, to, plain); err != nil {
		return err
	}
	d.beside = make(map[event.ActorID][]row.Edge)
	err = d.sections(store.Edges, row.EdgeKeyMin, func(key, rest, _, payload []byte) error {
		e, err := row.ReadEdge(rest, payload)
		d.beside[e.Child] = append(d.beside[e.Child], e)
		return row.Damage(key, err)
	})
	if err != nil {
		return err
	}
	for _, step := range []func() error{d.owned, d.chains, d.others} {
		if err := step(); err != nil {
			return err
		}
	}
	from, to = store.SchemaRange()
	return row.Each(d.view, from, to, plain)
}

// sections calls f for the rows of a section, in all partitions.
func (d *division) sections(s store.Section, keyMin int, f func(key, rest, value, payload []byte) error) error {
	for p := range d.partitions {
		if err := row.Section(d.view, event.PartitionID(p), s, keyMin, f); err != nil {
			return err
		}
	}
	return nil
}

// owned emits the headers and the edges of ownership.
func (d *division) owned() error {
	return d.sections(store.Headers, store.ActorSize, func(key, rest, _, payload []byte) error {
		child := store.ActorInKey(rest)
		var h row.Header
		if err := h.Read(payload); err != nil {
			return row.Damage(key, err)
		}
		owners := d.beside[child]
		if h.Units > 0 {
			_, there, err := d.view.Get(store.HeaderKey(h.Parent), nil)
			if err != nil {
				return err
			}
			if there { // else it was deleted, and owns nothing
				owners = append(owners, row.Edge{Owner: h.Parent, Child: child, Units: int(h.Units)})
			}
		}
		var near, here []row.Edge // from the store of the child, and from this one
		for _, e := range owners {
			if d.of(e.Owner.Birth) == d.of(child.Birth) {
				near = append(near, e)
			}
			if d.isHere(e.Owner) {
				here = append(here, e)
			}
		}
		if d.isHere(child) {
			switch h.Parent, h.Top, h.Units = (event.ActorID{Birth: child.Birth}), false, 0; len(near) {
			case 0:
			case 1:
				h.Parent, h.Units = near[0].Owner, uint32(near[0].Units)
				here = nil // the header has it
			default:
				h.Top = true // which is above all; the graph finds what is nearer
			}
			if err := d.emit(h.Encode(child)); err != nil {
				return err
			}
		}
		for _, e := range here {
			if err := d.put(row.AppendEdgeKey(nil, e.Owner, e.Child), row.AppendEdge(nil, e.Units)); err != nil {
				return err
			}
		}
		return nil
	})
}

// chains emits the steps of chains, and what a store keeps of a request whose chain goes on in another one.
func (d *division) chains() error {
	step := func(at event.ActorID, key, value, payload []byte) error {
		e, err := row.ReadSubEvent(payload)
		if err != nil {
			return row.Damage(key, err)
		}
		if r := e.Request; r != nil && d.of(r.Target.Birth) != d.of(at.Birth) {
			if d.isHere(r.Target) {
				if err := d.put(row.AppendChainKey(nil, row.KindAway, d.first(), e.Chain.First), row.AppendRequest(nil, r)); err != nil {
					return err
				}
			}
			e.Request, e.Chain.Store, e.Chain.Waits = nil, d.of(r.Target.Birth), event.RequestWaits
			value = store.AppendRow(nil, key, row.AppendSubEvent(nil, &e))
		}
		if !d.isHere(at) {
			return nil
		}
		return d.emit(key, value)
	}
	err := d.sections(store.Continuations, row.ContinuationKeyMin, func(key, rest, value, payload []byte) error {
		target, _ := row.ReadContinuationKey(rest)
		return step(target, key, value, payload)
	})
	if err != nil {
		return err
	}
	return d.sections(store.Outbox, row.OutboxKeyMin, func(key, rest, value, payload []byte) error {
		issuer, _, _ := row.ReadOutboxKey(rest)
		return step(issuer, key, value, payload)
	})
}

// first returns the first partition of the store, which has the rows of what several stores have to end.
func (d *division) first() event.PartitionID {
	p := event.PartitionID(0)
	for d.of(p) != d.id {
		p++
	}
	return p
}

// others emits the rows of all other sections. Each store may be asked by each session.
func (d *division) others() error {
	for p := range d.partitions {
		p := event.PartitionID(p)
		from, to := store.AppendSection(nil, p, 0), store.AppendSection(nil, p+1, 0)
		err := row.Each(d.view, from, to, func(key, value, _ []byte) error {
			switch _, section, _ := store.SectionOf(key); {
			case section == store.Headers, section == store.Edges, section == store.Outbox, section == store.Continuations:
				return nil
			case section == store.InDoubt:
				return row.Damage(key, errors.New("it is of an event over several stores, and the store was the only one"))
			case section != store.Sessions && d.of(p) != d.id:
				return nil
			}
			return d.emit(key, value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *division) put(key, payload []byte) error {
	return d.emit(key, store.AppendRow(nil, key, payload))
}
