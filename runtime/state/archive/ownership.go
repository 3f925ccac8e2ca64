package archive

import (
	"fmt"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Ownership is the whole graph of owners in a store, and the whole sequencing tree. A system attaches them
// bit by bit.
type Ownership struct {
	Graph      *dominator.Graph
	Partitions []dominator.Node
	Nodes      map[event.ActorID]*dominator.Node

	elsewhere map[event.PartitionID]bool // partitions that another store may have
}

// ReadOwnership reads the headers and edges of all actors and checks that they are an ownership
// graph and a tree. If part is true the store is one of several: an actor may own one that another store
// has. The error is a *store.CorruptError that names the row, or wraps dominator.ErrRestore.
func ReadOwnership(from store.Reader, part bool) (*Ownership, error) {
	n, err := store.PartitionsOf(from)
	if err != nil {
		return nil, err
	}
	o := &Ownership{Graph: dominator.New(), Partitions: make([]dominator.Node, n), Nodes: make(map[event.ActorID]*dominator.Node), elsewhere: make(map[event.PartitionID]bool)}
	var placed []dominator.Placed
	var ids []event.ActorID
	var headers []row.Header
	for p := range o.Partitions {
		o.Graph.NewPartition(&o.Partitions[p])
		o.elsewhere[event.PartitionID(p)] = part
		err := row.Section(from, event.PartitionID(p), store.Headers, store.ActorSize, func(key, rest, _, payload []byte) error {
			var h row.Header
			if err := h.Read(payload); err != nil {
				return row.Damage(key, err)
			}
			id := store.ActorInKey(rest)
			o.elsewhere[id.Birth] = false
			node := &dominator.Node{ID: id.Serial}
			o.Nodes[id] = node
			placed, ids, headers = append(placed, dominator.Placed{Node: node, Units: h.Units}), append(ids, id), append(headers, h)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range placed {
		if err := o.below(&placed[i], ids[i], &headers[i]); err != nil {
			return nil, row.Damage(store.HeaderKey(ids[i]), err)
		}
	}
	edges, err := o.edges(from)
	if err != nil {
		return nil, err
	}
	err = o.Graph.Restore(placed, edges)
	return o, err
}

// below sets the T-parent of an actor.
func (o *Ownership) below(p *dominator.Placed, id event.ActorID, h *row.Header) error {
	if h.Top {
		p.Parent = o.Graph.TOP()
		return nil
	}
	if h.Parent.Serial == 0 {
		if int(h.Parent.Birth) >= len(o.Partitions) {
			return fmt.Errorf("there is no partition %d", h.Parent.Birth)
		}
		p.Parent = &o.Partitions[h.Parent.Birth]
		return nil
	}
	if p.Parent = o.Nodes[h.Parent]; p.Parent == nil { // it was deleted
		p.Parent, p.Units = &o.Partitions[id.Birth], 0
	}
	return nil
}

// edges reads the edges whose owner is not the T-parent. Those to actors of other stores are no part of the graph, as in a system.
func (o *Ownership) edges(from store.Reader) (list []dominator.Edit, err error) {
	for p := range o.Partitions {
		err := row.Section(from, event.PartitionID(p), store.Edges, row.EdgeKeyMin, func(key, rest, _, payload []byte) error {
			e, err := row.ReadEdge(rest, payload)
			edit := dominator.Edit{Owner: o.Nodes[e.Owner], Child: o.Nodes[e.Child], Units: e.Units}
			switch {
			case err != nil:
			case edit.Owner == nil:
				err = fmt.Errorf("the owner %v is missing", e.Owner)
			case o.elsewhere[e.Child.Birth]:
				return nil
			case edit.Child == nil:
				err = fmt.Errorf("the owned actor %v is missing", e.Child)
			}
			list = append(list, edit)
			return row.Damage(key, err)
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
