package row

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Name says which actor has a name, or had it last. The row stays when the actor is deleted, so that the next actor of
// the name gets another id.
type Name struct {
	Incarnation uint32 // counts the deletions before
	Dead        bool
}

// Append appends the payload.
func (n Name) Append(b []byte) []byte {
	return AppendBool(binary.AppendUvarint(b, uint64(n.Incarnation)), n.Dead)
}

// ReadName reads the row under a key.
func ReadName(key, row []byte) (n Name, err error) {
	payload, err := store.Payload(key, row)
	if err != nil {
		return n, err
	}
	in := Read(payload)
	n = Name{Incarnation: uint32(in.Uint()), Dead: in.Bool()}
	return n, Damage(key, in.End())
}

// NameKey returns the key of a name of a class, which is given with its package.
func NameKey(class, name string, partitions int) []byte {
	return AppendNameKey(nil, class, name, partitions)
}

// AppendNameKey appends NameKey.
func AppendNameKey(k []byte, class, name string, partitions int) []byte {
	k = store.AppendSection(k, event.NamedActor(class, name, 0, partitions).Birth, store.Names)
	return append(append(append(k, class...), 0), name...)
}
