package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
)

// consistent checks that the rows of the nodes of a workload agree: whatever a field refers to is
// there or was deleted, and is owned as often as it is referred to.
func consistent(from store.Reader, layout *store.Layout) error {
	headers := map[event.ActorID]headerRow{}
	units := map[[2]event.ActorID]uint64{}
	scan := func(section store.Section, f func(p event.PartitionID, key, payload []byte)) error {
		for p := range 4 {
			it := from.Scan(store.SectionRange(event.PartitionID(p), section))
			for it.Next() {
				payload, err := store.Payload(it.Key(), it.Value())
				if err != nil {
					return err
				}
				f(event.PartitionID(p), it.Key()[sectionPrefix:], payload)
			}
			if err := it.Close(); err != nil {
				return err
			}
		}
		return nil
	}
	err := scan(store.Headers, func(p event.PartitionID, key, payload []byte) {
		var r headerRow
		if err := r.read(payload); err != nil {
			panic(err)
		}
		id := event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(key)}
		headers[id] = r
		if r.units > 0 {
			units[[2]event.ActorID{r.parent, id}] = uint64(r.units)
		}
	})
	if err != nil {
		return err
	}
	err = scan(store.Edges, func(p event.PartitionID, key, payload []byte) {
		child := event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(key)}
		n, _ := binary.Uvarint(payload)
		units[[2]event.ActorID{actorInKey(key[8:]), child}] += n
	})
	if err != nil {
		return err
	}
	want := map[[2]event.ActorID]uint64{}
	reader := &System{durable: &durable{}} // ids are all that it needs to know
	for id, r := range headers {
		if r.flags&headerUnborn != 0 {
			continue
		}
		in := image.NewReader(from, id, layout, reader)
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
