package runtime

import (
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Writer and Reader store the fields of actors; package image documents them.
type (
	Writer                       = image.Writer
	Reader                       = image.Reader
	Entries[K comparable, V any] = image.Entries[K, V]
	Members[K comparable]        = image.Members[K]
	Elems[T any]                 = image.Elems[T]
)

// SaveMap writes a field that is a map.
func SaveMap[K comparable, V any](w *Writer, m *Map[K, V], how *Entries[K, V]) {
	image.SaveMap(w, m, how)
}

// SaveSet writes a field that is a set.
func SaveSet[K comparable](w *Writer, s *Set[K], how *Members[K]) { image.SaveSet(w, s, how) }

// SaveVector writes a field that is a vector.
func SaveVector[T any](w *Writer, v *Vector[T], how *Elems[T]) { image.SaveVector(w, v, how) }

// LoadMap reads a field that is a map.
func LoadMap[K comparable, V any](r *Reader, field int, m *Map[K, V], how *Entries[K, V]) {
	image.LoadMap(r, field, m, how)
}

// LoadSet reads a field that is a set.
func LoadSet[K comparable](r *Reader, field int, s *Set[K], how *Members[K]) {
	image.LoadSet(r, field, s, how)
}

// LoadVector reads a field that is a vector.
func LoadVector[T any](r *Reader, field int, v *Vector[T], how *Elems[T]) {
	image.LoadVector(r, field, v, how)
}

// PutKeyInt appends a signed integer so that keys sort by it.
func PutKeyInt[T value.Signed](e *Encoder, n T) { codec.PutKeyInt(e, n) }

// PutKeyUint appends an unsigned integer so that keys sort by it.
func PutKeyUint[T value.Unsigned](e *Encoder, n T) { codec.PutKeyUint(e, n) }

// PutKeyBool appends a truth value.
func PutKeyBool(e *Encoder, b bool) { codec.PutKeyBool(e, b) }

// PutKeyString appends a string, or bytes as a key, so that keys sort by it.
func PutKeyString[T ~string](e *Encoder, s T) { codec.PutKeyString(e, s) }

// PutKeyRef appends a reference to an actor so that keys sort by it.
func PutKeyRef(e *Encoder, r Ref) {
	id := r.ID()
	codec.PutKeyUint(e, uint32(id.Birth))
	codec.PutKeyUint(e, id.Serial)
}

// GetKeyInt reads a signed integer.
func GetKeyInt[T value.Signed](d *Decoder) T { return codec.GetKeyInt[T](d) }

// GetKeyUint reads an unsigned integer.
func GetKeyUint[T value.Unsigned](d *Decoder) T { return codec.GetKeyUint[T](d) }

// GetKeyBool reads a truth value.
func GetKeyBool(d *Decoder) bool { return codec.GetKeyBool(d) }

// GetKeyString reads a string, or bytes as a key.
func GetKeyString[T ~string](d *Decoder) T { return codec.GetKeyString[T](d) }

// GetKeyRef reads a reference to an actor.
func GetKeyRef(d *Decoder) Ref {
	birth := codec.GetKeyUint[uint32](d)
	return resolve(d, ActorID{Birth: event.PartitionID(birth), Serial: codec.GetKeyUint[uint64](d)})
}
