package value

import (
	"bytes"
	"strings"
)

// Bytes is the value bytes. The zero Bytes is empty. Copy it with Share.
type Bytes struct{ v Vector[byte] }

// BytesKey is what bytes are as a key of a map or set: comparable, and ordered as bytes.
type BytesKey string

// Compare implements Ordered.
func (k BytesKey) Compare(other BytesKey) int { return strings.Compare(string(k), string(other)) }

// Bytes returns the key as a value of its own.
func (k BytesKey) Bytes() Bytes { return BytesOf([]byte(k)) }

// BytesOf returns bytes with the content b, which it takes over.
func BytesOf(b []byte) Bytes { return Bytes{v: VectorOf(b...)} }

// Key returns b as a key.
func (b Bytes) Key() BytesKey { return BytesKey(b.v.Items()) }

// Data returns the content for reading.
func (b Bytes) Data() []byte { return b.v.Items() }

// Vector returns the content as a vector, through which it may be written.
func (b *Bytes) Vector() *Vector[byte] { return &b.v }

// Share returns a copy of b in O(1).
func (b Bytes) Share() Bytes {
	b.v.MarkShared()
	return b
}

// MarkShared implements Sharer.
func (b Bytes) MarkShared() { b.v.MarkShared() }

// Size returns the number of bytes.
func (b Bytes) Size() int64 { return b.v.Size() }

// At returns byte i, or faults.
func (b Bytes) At(i int64) uint8 { return b.v.At(i) }

// Slice returns a copy of the bytes from i to j, j excluded, or faults.
func (b Bytes) Slice(i, j int64) Bytes { return Bytes{v: SliceOf(b.v, i, j)} }

// Equal reports whether both have the same content.
func (b Bytes) Equal(c Bytes) bool { return bytes.Equal(b.Data(), c.Data()) }

// Compare implements Ordered.
func (b Bytes) Compare(c Bytes) int { return bytes.Compare(b.Data(), c.Data()) }

// Str returns the content as a string.
func (b Bytes) Str() string { return string(b.Data()) }

// BytesVector returns keys as values of their own.
func BytesVector(keys Vector[BytesKey]) Vector[Bytes] {
	list := make([]Bytes, 0, keys.Size())
	for _, k := range keys.Items() {
		list = append(list, k.Bytes())
	}
	return VectorOf(list...)
}
