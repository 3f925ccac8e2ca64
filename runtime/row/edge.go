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
const EdgeKeyMin = 2 * store.ActorSize

// ReadEdge reads an edge from the part of its key behind the section, and its payload.
func ReadEdge(rest, payload []byte) (Edge, error) {
	in := Read(payload)
	e := Edge{Owner: store.ActorInKey(rest[store.ActorSize:]), Child: store.ActorInKey(rest), Units: int(in.Uint())}
	return e, in.End()
}

// AppendEdge appends the payload.
func AppendEdge(b []byte, units int) []byte { return binary.AppendUvarint(b, uint64(units)) }

// AppendEdgesKey appends the common beginning of the keys of the edges to an actor.
func AppendEdgesKey(k []byte, child event.ActorID) []byte {
	return store.AppendOf(k, store.Edges, child)
}

// AppendEdgeKey appends the key of an edge.
func AppendEdgeKey(k []byte, owner, child event.ActorID) []byte {
	return store.AppendActor(AppendEdgesKey(k, child), owner)
}
