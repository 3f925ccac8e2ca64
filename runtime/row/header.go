package row

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Header is what a store keeps of an actor besides its fields.
type Header struct {
	Unborn      bool // the actor has a name, and its constructor has not run
	Layout      uint32
	Named       bool
	Incarnation uint32 // of the name
	Name        string
	Parent      event.ActorID // in the sequencing tree, perhaps of an actor that was deleted; of a partition the serial is 0
	Top         bool          // the parent is TOP
	Units       uint32        // of the edge from the parent, if that is an owner; else 0
}

// Flags of a header.
const (
	headerUnborn = 1 << iota
	headerNamed
)

// What the parent of a header is.
const (
	parentTop = iota
	parentPartition
	parentActor
)

// Append appends the payload.
func (h *Header) Append(b []byte) []byte {
	var flags byte
	if h.Unborn {
		flags |= headerUnborn
	}
	if h.Named {
		flags |= headerNamed
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(h.Layout))
	if h.Named {
		b = binary.AppendUvarint(b, uint64(h.Incarnation))
		b = AppendText(b, h.Name)
	}
	switch {
	case h.Top:
		b = append(b, parentTop)
	case h.Parent.Serial == 0:
		b = binary.AppendUvarint(append(b, parentPartition), uint64(h.Parent.Birth))
	default:
		b = AppendActor(append(b, parentActor), h.Parent)
	}
	return binary.AppendUvarint(b, uint64(h.Units))
}

// Read reads a payload.
func (h *Header) Read(payload []byte) error {
	p := Read(payload)
	flags := p.Byte()
	*h = Header{Unborn: flags&headerUnborn != 0, Named: flags&headerNamed != 0, Layout: uint32(p.Uint())}
	if h.Named {
		h.Incarnation = uint32(p.Uint())
		h.Name = p.Text()
	}
	switch p.Byte() {
	case parentTop:
		h.Top = true
	case parentPartition:
		h.Parent.Birth = event.PartitionID(p.Uint())
	case parentActor:
		h.Parent = p.Actor()
	default:
		p.fail()
	}
	h.Units = uint32(p.Uint())
	return p.End()
}

// Encode returns the whole row of the header of actor id, and its key.
func (h *Header) Encode(id event.ActorID) (key, row []byte) {
	key = store.HeaderKey(id)
	return key, store.EndRow(h.Append(store.BeginRow(nil)), 0, key)
}

// GetHeader reads the header of an actor. An actor that was deleted has none. The error is one of the engine, or a
// *store.CorruptError.
func GetHeader(view store.Reader, id event.ActorID) (h Header, found bool, err error) {
	key := store.HeaderKey(id)
	in, found, err := get(view, key)
	if err != nil || !found {
		return h, false, err
	}
	err = Damage(key, h.Read(in.Rest()))
	return h, err == nil, err
}

// AppendHeaderKey appends the key of an actor's header.
func AppendHeaderKey(k []byte, id event.ActorID) []byte {
	return store.AppendOf(k, store.Headers, id)
}

// AppendFieldsKey appends the common beginning of the keys of an actor's fields.
func AppendFieldsKey(k []byte, id event.ActorID) []byte {
	return store.AppendOf(k, store.Fields, id)
}
