package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// consistent checks that the rows of the nodes of a workload agree: an actor that a field refers to is
// there or was deleted, and is owned as often as it is referred to.
func consistent(from store.Reader, layout *store.Layout) error {
	headers := map[event.ActorID]row.Header{}
	units := map[[2]event.ActorID]uint64{}
	scan := func(section store.Section, f func(key, payload []byte)) error {
		for p := range 4 {
			err := row.Section(from, event.PartitionID(p), section, store.ActorSize, func(_, rest, _, payload []byte) error {
				f(rest, payload)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := scan(store.Headers, func(key, payload []byte) {
		var r row.Header
		if err := r.Read(payload); err != nil {
			panic(err)
		}
		id := store.ActorInKey(key)
		headers[id] = r
		if r.Units > 0 {
			units[[2]event.ActorID{r.Parent, id}] = uint64(r.Units)
		}
	})
	if err != nil {
		return err
	}
	err = scan(store.Edges, func(key, payload []byte) {
		child := store.ActorInKey(key)
		n, _ := binary.Uvarint(payload)
		units[[2]event.ActorID{store.ActorInKey(key[store.ActorSize:]), child}] += n
	})
	if err != nil {
		return err
	}
	want := map[[2]event.ActorID]uint64{}
	refs := copiedReferences(func(id event.ActorID) order.Ref { return order.RefOf(&order.Handle{ID: id}) })
	for id, r := range headers {
		if r.Unborn {
			continue
		}
		in := image.NewReader(from, id, layout, refs)
		var n wnode
		n.LoadFields(in)
		if err := in.Err(); err != nil {
			return err
		}
		for _, k := range n.kids.Items() {
			if _, ok := headers[k.ID()]; ok {
				want[[2]event.ActorID{id, k.ID()}]++
			}
		}
	}
	for e, n := range want {
		if units[e] != n {
			return fmt.Errorf("%v refers to %v %d times and owns it %d times", e[0], e[1], n, units[e])
		}
	}
	for e, n := range units {
		if _, ok := headers[e[0]]; ok && want[e] != n {
			return fmt.Errorf("%v owns %v %d times and refers to it %d times", e[0], e[1], n, want[e])
		}
	}
	return nil
}
