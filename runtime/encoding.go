package runtime

import (
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// PutVector appends a vector whose elements put writes.
func PutVector[T any](e *Encoder, v Vector[T], put func(*Encoder, T)) { codec.PutVector(e, v, put) }

// PutSet appends a set in key order.
func PutSet[K comparable](e *Encoder, s Set[K], put func(*Encoder, K)) { codec.PutSet(e, s, put) }

// PutMap appends a map in key order.
func PutMap[K comparable, V any](e *Encoder, m Map[K, V], putKey func(*Encoder, K), putValue func(*Encoder, V)) {
	codec.PutMap(e, m, putKey, putValue)
}

// PutOpt appends an optional value.
func PutOpt[T any](e *Encoder, o Opt[T], put func(*Encoder, T)) { codec.PutOpt(e, o, put) }

// PutBox appends an optional value of a recursive class.
func PutBox[T any](e *Encoder, b Box[T], put func(*Encoder, T)) { codec.PutBox(e, b, put) }

// PutInt appends a signed integer of any width.
func PutInt[T value.Signed](e *Encoder, n T) { codec.PutInt(e, n) }

// PutUint appends an unsigned integer of any width.
func PutUint[T value.Unsigned](e *Encoder, n T) { codec.PutUint(e, n) }

// PutBytesKey appends bytes in their form as a key.
func PutBytesKey(e *Encoder, k BytesKey) { codec.PutBytesKey(e, k) }

// GetVector reads a vector whose elements get reads.
func GetVector[T any](d *Decoder, get func(*Decoder) T) Vector[T] { return codec.GetVector(d, get) }

// GetSet reads a set.
func GetSet[K comparable](d *Decoder, get func(*Decoder) K) Set[K] { return codec.GetSet(d, get) }

// GetMap reads a map.
func GetMap[K comparable, V any](d *Decoder, getKey func(*Decoder) K, getValue func(*Decoder) V) Map[K, V] {
	return codec.GetMap(d, getKey, getValue)
}

// GetOpt reads an optional value.
func GetOpt[T any](d *Decoder, get func(*Decoder) T) Opt[T] { return codec.GetOpt(d, get) }

// GetBox reads an optional value of a recursive class.
func GetBox[T any](d *Decoder, get func(*Decoder) T) Box[T] { return codec.GetBox(d, get) }

// GetInt reads a signed integer of any width.
func GetInt[T value.Signed](d *Decoder) T { return codec.GetInt[T](d) }

// GetUint reads an unsigned integer of any width.
func GetUint[T value.Unsigned](d *Decoder) T { return codec.GetUint[T](d) }

// GetBytesKey reads bytes in their form as a key.
func GetBytesKey(d *Decoder) BytesKey { return codec.GetBytesKey(d) }
