package archive

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// NodeRows calls emit for all rows of a view, as classes want them, in the order of their keys.
// A damaged row ends it.
func NodeRows(view store.Reader, o *Overrides, emit func(key, row []byte) error) error {
	if o != nil {
		return o.node(emit)
	}
	return row.Each(view, nil, row.EndOfKeys, func(key, row, _ []byte) error { return emit(key, row) })
}

// Cut is an actor and everything that it reaches, in a view of a store.
type Cut struct {
	Root event.ActorID
	// Overrides changes what Rows emits of fields; it is of the same view.
	Overrides *Overrides

	view       store.Reader
	partitions int
	members    map[event.ActorID]bool
	sorted     []event.ActorID
	names      [][]byte // keys, sorted
	outside    []event.ActorID
}

// CutAt finds what the actor root reaches in a view. It reads the headers and edges of all
// actors, and no fields.
func CutAt(view store.Reader, root event.ActorID) (*Cut, error) {
	partitions, err := store.PartitionsOf(view)
	if err != nil {
		return nil, err
	}
	c := &Cut{Root: root, view: view, partitions: partitions, members: map[event.ActorID]bool{root: true}}
	if there, err := c.isThere(root); err != nil || !there {
		return nil, cmp.Or[error](err, &NoActorError{ID: root})
	}
	units, err := c.ownership()
	if err != nil {
		return nil, err
	}
	c.sorted = []event.ActorID{root}
	for i := 0; i < len(c.sorted); i++ {
		owner := c.sorted[i]
		first, _ := slices.BinarySearchFunc(units, owner, func(o owning, id event.ActorID) int { return o.owner.Compare(id) })
		for _, o := range units[first:] {
			if o.owner != owner {
				break
			}
			if !c.members[o.child] {
				c.members[o.child] = true
				c.sorted = append(c.sorted, o.child)
			}
		}
	}
	for _, o := range units {
		if !c.members[o.child] || o.child == root || c.members[o.owner] {
			continue
		}
		there, err := c.isThere(o.owner)
		if err != nil {
			return nil, err
		}
		if there {
			c.outside = append(c.outside, o.child)
		}
	}
	slices.SortFunc(c.sorted, event.ActorID.Compare)
	return c, nil
}

// Label names the root to the user, as traces do: Class/name, or Class:id if it has no name, with the package
// of the class unless that is the program's.
func (c *Cut) Label(program string) (string, error) {
	h, err := c.readHeader(c.Root)
	if err != nil {
		return "", err
	}
	schema, err := store.ReadSchema(c.view)
	if err != nil {
		return "", err
	}
	_, class := schema.ByNumber(h.Layout)
	class = strings.TrimPrefix(class, program+".")
	if c.Root.Named() {
		return class + "/" + h.Name, nil
	}
	return class + ":" + c.Root.String(), nil
}

// Actors returns how many actors there are, the root among them.
func (c *Cut) Actors() int { return len(c.sorted) }

// owning says that an actor, which may have been deleted, owns another, which exists. There may be one for every actor of
// the store.
type owning struct{ owner, child event.ActorID }

// ownership returns the edges of ownership, by owner.
func (c *Cut) ownership() (list []owning, err error) {
	var header row.Header
	var ids []event.ActorID // of the actors of a partition, ascending
	for p := range c.partitions {
		part := event.PartitionID(p)
		ids = ids[:0]
		err := c.section(part, store.Headers, store.ActorSize, func(key, rest, _, payload []byte) error {
			id := store.ActorInKey(rest)
			if err := header.Read(payload); err != nil {
				return row.Damage(key, err)
			}
			ids = append(ids, id)
			if header.Units > 0 {
				list = append(list, owning{header.Parent, id})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		err = c.section(part, store.Edges, row.EdgeKeyMin, func(_, rest, _, _ []byte) error {
			child := store.ActorInKey(rest)
			if _, there := slices.BinarySearchFunc(ids, child, event.ActorID.Compare); there {
				list = append(list, owning{store.ActorInKey(rest[store.ActorSize:]), child})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b owning) int { return a.owner.Compare(b.owner) })
	return list, nil
}

// isThere reports whether an actor has a header.
func (c *Cut) isThere(id event.ActorID) (bool, error) {
	_, ok, err := c.view.Get(store.HeaderKey(id), nil)
	return ok, err
}

// section calls f for the rows of a section of a partition.
func (c *Cut) section(p event.PartitionID, s store.Section, keyMin int, f func(key, rest, row, payload []byte) error) error {
	return row.Section(c.view, p, s, keyMin, f)
}

// Rows calls emit for the rows of the actors, in the order of their keys, so that these rows
// make a store of their own. They are the node's own rows and the schema; headers, which name the
// partition where the T-parent is not among the actors; edges between the actors, names, fields;
// the timers that the actors have set, and the sub-events that are on their way between them.
// Chains of tail calls and outcomes of requests are left out: they belong to the client that waits
// for them.
func (c *Cut) Rows(emit func(key, row []byte) error) error {
	plain := func(key, row, _ []byte) error { return emit(key, row) }
	from, to := store.MetaRange()
	if err := row.Each(c.view, from, to, plain); err != nil {
		return err
	}
	if err := c.listNames(); err != nil {
		return err
	}
	for p := range c.partitions {
		if err := c.partition(event.PartitionID(p), emit); err != nil {
			return err
		}
	}
	from, to = store.SchemaRange()
	return row.Each(c.view, from, to, plain)
}

// partition emits the rows of one partition, section by section in the order of the keys.
func (c *Cut) partition(p event.PartitionID, emit func(key, row []byte) error) error {
	members := c.in(p)
	for _, id := range members {
		prefix := row.AppendEdgesKey(nil, id)
		err := row.Each(c.view, prefix, store.After(prefix), func(key, value, _ []byte) error {
			if len(key) == len(prefix)+store.ActorSize && c.members[store.ActorInKey(key[len(prefix):])] {
				return emit(key, value)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, id := range members {
		if err := c.header(id, emit); err != nil {
			return err
		}
	}
	prefix := store.AppendSection(nil, p, store.Names)
	for _, key := range c.names {
		if bytes.HasPrefix(key, prefix) {
			if err := c.row(key, emit); err != nil {
				return err
			}
		}
	}
	if err := c.work(p, emit); err != nil {
		return err
	}
	for _, id := range members {
		if err := c.fields(id, emit); err != nil {
			return err
		}
	}
	return nil
}

// fields emits the rows of an actor's fields.
func (c *Cut) fields(id event.ActorID, emit func(key, row []byte) error) error {
	if c.Overrides != nil {
		h, err := c.readHeader(id)
		if err != nil {
			return err
		}
		_, class, err := c.Overrides.layoutOf(&h)
		if err != nil {
			return err
		}
		if class != nil {
			return c.Overrides.fields(id, &h, emit)
		}
	}
	from, to := store.FieldsRange(id)
	return row.Each(c.view, from, to, func(key, row, _ []byte) error { return emit(key, row) })
}

// in returns the actors of a partition.
func (c *Cut) in(p event.PartitionID) []event.ActorID {
	lo, _ := slices.BinarySearchFunc(c.sorted, event.ActorID{Birth: p}, event.ActorID.Compare)
	hi, _ := slices.BinarySearchFunc(c.sorted, event.ActorID{Birth: p + 1}, event.ActorID.Compare)
	return c.sorted[lo:hi]
}

// row emits the row under a key, if there is one.
func (c *Cut) row(key []byte, emit func(key, row []byte) error) error {
	row, ok, err := c.view.Get(key, nil)
	if err != nil || !ok {
		return err
	}
	if _, err := store.Payload(key, row); err != nil {
		return err
	}
	return emit(key, row)
}

// readHeader returns the header of an actor of the cut.
func (c *Cut) readHeader(id event.ActorID) (row.Header, error) {
	h, found, err := row.GetHeader(c.view, id)
	if err == nil && !found {
		err = &store.CorruptError{Key: store.HeaderKey(id), Reason: "it is missing"}
	}
	return h, err
}

// header emits the header of an actor.
func (c *Cut) header(id event.ActorID, emit func(key, row []byte) error) error {
	h, err := c.readHeader(id)
	if err != nil {
		return err
	}
	if h.Top || h.Parent.Serial != 0 && !c.members[h.Parent] {
		h.Parent, h.Top, h.Units = event.ActorID{Birth: id.Birth}, false, 0
	}
	return emit(h.Encode(id))
}

// listNames finds the keys of the names of the actors.
func (c *Cut) listNames() error {
	c.names = nil
	schema, err := store.ReadSchema(c.view)
	if err != nil {
		return err
	}
	for _, id := range c.sorted {
		if !id.Named() {
			continue
		}
		h, err := c.readHeader(id)
		if err != nil {
			return err
		}
		_, class := schema.ByNumber(h.Layout) // a schema without a program has no layout, only the class
		c.names = append(c.names, row.NameKey(class, h.Name, c.partitions))
	}
	slices.SortFunc(c.names, bytes.Compare)
	return nil
}

// work emits the sub-events between the actors, and the actors' timers.
func (c *Cut) work(p event.PartitionID, emit func(key, row []byte) error) error {
	err := c.section(p, store.Outbox, row.OutboxKeyMin, func(key, rest, value, payload []byte) error {
		issuer, target, _ := row.ReadOutboxKey(rest)
		if e, err := row.ReadSubEvent(payload); err != nil || e.Step || !c.members[issuer] || !c.members[target] {
			return row.Damage(key, err)
		}
		return emit(key, value)
	})
	if err != nil {
		return err
	}
	return c.section(p, store.Timers, row.TimerKeyMin, func(key, rest, value, _ []byte) error {
		if _, issuer, _ := row.ReadTimerKey(rest); !c.members[issuer] {
			return nil
		}
		return emit(key, value)
	})
}
