package row

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Edge says that an actor is owned by another than its parent in the sequencing tree. An edge from the parent is in the
// header.
type Edge struct {
	Owner, Child event.ActorID
	Units        int // how many references there are
}

// EdgeKeyMin is how many bytes the key of an edge has behind its section.
const EdgeKeyMin = 8 + 10

// ReadEdge reads an edge to an actor of partition p from the rest of its key and its payload.
func ReadEdge(p event.PartitionID, rest, payload []byte) (Edge, error) {
	in := Read(payload)
	e := Edge{Owner: ActorInKey(rest[8:]), Child: event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(rest)}, Units: int(in.Uint())}
	return e, in.End()
}

// AppendEdge appends the payload.
func AppendEdge(b []byte, units int) []byte { return binary.AppendUvarint(b, uint64(units)) }

// AppendEdgesKey appends the common beginning of the keys of the edges to an actor.
func AppendEdgesKey(k []byte, child event.ActorID) []byte {
	return store.AppendSerial(store.AppendSection(k, child.Birth, store.Edges), child.Serial)
}

// AppendEdgeKey appends the key of an edge.
func AppendEdgeKey(k []byte, owner, child event.ActorID) []byte {
	return store.AppendActor(AppendEdgesKey(k, child), owner)
}

// ActorInKey reads an id as store.AppendActor writes it.
func ActorInKey(key []byte) event.ActorID {
	return event.ActorID{Birth: event.PartitionID(binary.BigEndian.Uint16(key)), Serial: binary.BigEndian.Uint64(key[2:])}
}
