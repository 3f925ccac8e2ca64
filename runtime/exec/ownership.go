package exec

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Ownership is the graph of owners in a store, and the sequencing tree, all of it: what a system attaches
// bit by bit.
type Ownership struct {
	graph      *dominator.Graph
	partitions []dominator.Node
	nodes      map[event.ActorID]*dominator.Node
}

// ReadOwnership reads the headers and edges of all actors and checks that they are an ownership
// graph and a tree. The error is a *store.CorruptError that names the row, or wraps
// dominator.ErrRestore.
func ReadOwnership(from store.Reader) (*Ownership, error) {
	n, err := store.PartitionsOf(from)
	if err != nil {
		return nil, err
	}
	o := &Ownership{graph: dominator.New(), partitions: make([]dominator.Node, n), nodes: make(map[event.ActorID]*dominator.Node)}
	var placed []dominator.Placed
	var ids []event.ActorID
	var rows []headerRow
	for p := range o.partitions {
		o.graph.NewPartition(&o.partitions[p])
		err := o.section(from, event.PartitionID(p), store.Headers, 8, func(key, payload []byte) error {
			var row headerRow
			if err := row.read(payload); err != nil {
				return err
			}
			id := event.ActorID{Birth: event.PartitionID(p), Serial: binary.BigEndian.Uint64(key)}
			node := &dominator.Node{ID: id.Serial}
			o.nodes[id] = node
			placed, ids, rows = append(placed, dominator.Placed{Node: node, Units: row.units}), append(ids, id), append(rows, row)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range placed {
		if err := o.below(&placed[i], ids[i], &rows[i]); err != nil {
			return nil, &store.CorruptError{Key: store.HeaderKey(ids[i]), Reason: err.Error()}
		}
	}
	edges, err := o.edges(from)
	if err != nil {
		return nil, err
	}
	err = o.graph.Restore(placed, edges)
	return o, err
}

// section calls f for the rows of a section of a partition; its errors are damage.
func (o *Ownership) section(from store.Reader, p event.PartitionID, s store.Section, keyMin int, f func(key, payload []byte) error) error {
	lo, hi := store.SectionRange(p, s)
	return eachRowOf(from, lo, hi, func(key, _, payload []byte) error {
		err := fmt.Errorf("its key is too short")
		if len(key) >= sectionPrefix+keyMin {
			err = f(key[sectionPrefix:], payload)
		}
		if err != nil {
			return &store.CorruptError{Key: bytes.Clone(key), Reason: err.Error()}
		}
		return nil
	})
}

// below sets the T-parent of an actor.
func (o *Ownership) below(p *dominator.Placed, id event.ActorID, row *headerRow) error {
	if row.top {
		p.Parent = o.graph.TOP()
		return nil
	}
	if row.parent.Serial == 0 {
		if int(row.parent.Birth) >= len(o.partitions) {
			return fmt.Errorf("there is no partition %d", row.parent.Birth)
		}
		p.Parent = &o.partitions[row.parent.Birth]
		return nil
	}
	if p.Parent = o.nodes[row.parent]; p.Parent == nil { // it was deleted
		p.Parent, p.Units = &o.partitions[id.Birth], 0
	}
	return nil
}

// edges reads the edges whose owner is not the T-parent.
func (o *Ownership) edges(from store.Reader) (list []dominator.Edit, err error) {
	for p := range o.partitions {
		err := o.section(from, event.PartitionID(p), store.Edges, 18, func(key, payload []byte) error {
			in := payloadReader{rest: payload}
			units := in.uint()
			if err := in.end(); err != nil {
				return err
			}
			child, owner := event.ActorID{Birth: event.PartitionID(p), Serial: binary.BigEndian.Uint64(key)}, actorInKey(key[8:])
			e := dominator.Edit{Owner: o.nodes[owner], Child: o.nodes[child], Units: int(units)}
			switch {
			case e.Child == nil:
				return fmt.Errorf("the owned actor %v is missing", child)
			case e.Owner == nil:
				return fmt.Errorf("the owner %v is missing", owner)
			}
			list = append(list, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
