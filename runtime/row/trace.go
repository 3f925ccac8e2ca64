package row

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Version is what the trace of a run keeps of an actor for the next run.
type Version struct {
	Epoch   uint64 // number of the run with which the trace began; versions of another trace mean nothing
	Version uint64
	Label   string // of a deleted actor, of which nothing else is left; else empty
}

// versionField is the number of the row that holds an actor's version, behind all fields.
const versionField = 1<<16 - 1

// AppendVersionKey appends the key of an actor's version.
func AppendVersionKey(k []byte, id event.ActorID) []byte {
	return store.AppendField(k, id, versionField)
}

// Append appends the payload.
func (v Version) Append(b []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, v.Epoch), v.Version), v.Label...)
}

// GetVersion reads the version of an actor, the zero Version if there is none. The error is one of the engine, or a
// *store.CorruptError.
func GetVersion(view store.Reader, id event.ActorID) (v Version, err error) {
	key := AppendVersionKey(nil, id)
	in, found, err := get(view, key)
	if err != nil || !found {
		return v, err
	}
	v = Version{Epoch: in.Uint(), Version: in.Uint(), Label: string(in.Rest())}
	return v, Damage(key, in.End())
}

// Traced says how far a trace has come: the last of its events that has left something in the store.
type Traced struct {
	Order int64  // of that event; 0 if there is none, or if there was a run since that was not traced
	Epoch uint64 // number of the run with which the trace began
}

// TracedKey returns the key of the one row of this kind.
func TracedKey() []byte { return store.MetaKey("trace") }

// Append appends the payload.
func (x Traced) Append(b []byte) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, x.Order), x.Epoch)
}

// GetTraced reads how far the trace has come. The error is one of the engine, or a *store.CorruptError.
func GetTraced(view store.Reader) (x Traced, err error) {
	key := TracedKey()
	in, found, err := get(view, key)
	if err != nil || !found {
		return x, err
	}
	x = Traced{Order: in.Int(), Epoch: in.Uint()}
	return x, Damage(key, in.End())
}
