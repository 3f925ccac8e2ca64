// Package codec turns values into bytes and back, without reflection: generated code
// calls one method per field.
//
// A message starts with the version of the format. Integers are varints, lengths stand
// before what they measure, and the fields of classes and actors are keyed by name. So
// a program reads what an older version of it wrote: a field it does not know is
// skipped, one that is missing keeps its default.
//
// The encoding is canonical: equal values give equal bytes (maps are written in key
// order).
package codec

import (
	"encoding/binary"
	"math"

	"github.com/aeon-lang/aeon/runtime/value"
)

// Version is the format that this package writes, and the newest that it reads.
const Version = 1

// depthMax bounds how deep values may nest, in both directions: without it hostile
// input, or a list built as nested values, would exhaust the Go stack, which is fatal.
const depthMax = 10_000

// MsgDepth is the fault of encoding a value that nests too deeply.
const MsgDepth = "value nested too deeply"

// Encoder appends values to a message. Use NewEncoder, or Reset an old one.
type Encoder struct {
	buf   []byte
	depth int

	canonical *canonical // nil: the form that Decoder reads

	// Visitor is shown the references of what is encoded, by package runtime; nil: nothing is. VisitWith sets it where the message is of no use.
	Visitor any
}

// NewEncoder returns an Encoder that appends to buf, with the version written.
func NewEncoder(buf []byte) *Encoder {
	return &Encoder{buf: append(buf, Version)}
}

// Reset starts a new message in the same memory.
func (e *Encoder) Reset() { *e = Encoder{buf: append(e.buf[:0], Version)} }

// Append makes the encoder append to buf, without a version: to a part of something that
// has one.
func (e *Encoder) Append(buf []byte) { *e = Encoder{buf: buf} }

// VisitWith makes the encoder visit the parts of what is encoded next, for v. The message is of no use.
func (e *Encoder) VisitWith(v any) { *e = Encoder{buf: e.buf[:0], Visitor: v} }

// Data returns the message so far. It is valid until the next call.
func (e *Encoder) Data() []byte { return e.buf }

// Uint appends an unsigned integer.
func (e *Encoder) Uint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

// Int appends a signed integer.
func (e *Encoder) Int(n int64) { e.buf = binary.AppendVarint(e.buf, n) }

// Bool appends a truth value.
func (e *Encoder) Bool(b bool) {
	var c byte
	if b {
		c = 1
	}
	e.buf = append(e.buf, c)
}

// Float appends a number; every NaN is written as the same one.
func (e *Encoder) Float(f float64) {
	if f != f {
		f = math.NaN()
	}
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(f))
}

// String appends a string.
func (e *Encoder) String(s string) {
	e.Uint(uint64(len(s)))
	e.buf = append(e.buf, s...)
}

// Blob appends bytes that are no value of a program, in the form of Bytes.
func (e *Encoder) Blob(b []byte) {
	e.Uint(uint64(len(b)))
	e.buf = append(e.buf, b...)
}

// Bytes appends bytes.
func (e *Encoder) Bytes(b value.Bytes) {
	e.Uint(uint64(b.Size()))
	e.buf = append(e.buf, b.Data()...)
}

// Record starts a record of n fields. End it with EndRecord.
func (e *Encoder) Record(n int) {
	e.depth++
	if e.depth > depthMax {
		value.Fail(MsgDepth)
	}
	if e.canonical != nil {
		e.canonical.begin()
		return
	}
	e.Uint(uint64(n))
}

// EndRecord ends the record begun last.
func (e *Encoder) EndRecord() {
	e.depth--
	if e.canonical != nil {
		e.canonical.end(e)
	}
}

// Field starts the field of the given name. Its value follows; then EndField must be
// called with the result.
func (e *Encoder) Field(name string) (mark int) {
	if e.canonical != nil {
		e.canonical.field(len(e.buf))
	}
	e.String(name)
	e.buf = append(e.buf, 0) // room for the length of a short value
	return len(e.buf)
}

// EndField ends the field that Field began.
func (e *Encoder) EndField(mark int) {
	if e.canonical != nil && e.canonical.endField(e, mark) {
		return
	}
	size := len(e.buf) - mark
	if size < 0x80 {
		e.buf[mark-1] = byte(size)
		return
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(size))
	e.buf = append(e.buf, head[:n-1]...) // grow by the missing bytes of the length
	copy(e.buf[mark+n-1:], e.buf[mark:mark+size])
	copy(e.buf[mark-1:], head[:n])
}

// PutVector appends a vector whose elements put writes.
func PutVector[T any](e *Encoder, v value.Vector[T], put func(*Encoder, T)) {
	e.Uint(uint64(v.Size()))
	for _, x := range v.Items() {
		put(e, x)
	}
}

// PutSet appends a set in key order.
func PutSet[K comparable](e *Encoder, s value.Set[K], put func(*Encoder, K)) {
	PutVector(e, s.Keys(), put)
}

// PutMap appends a map in key order.
func PutMap[K comparable, V any](e *Encoder, m value.Map[K, V], putKey func(*Encoder, K), putValue func(*Encoder, V)) {
	e.Uint(uint64(m.Size()))
	for _, k := range m.Keys().Items() {
		putKey(e, k)
		putValue(e, m.Lookup(k))
	}
}

// PutOpt appends an optional value.
func PutOpt[T any](e *Encoder, o value.Opt[T], put func(*Encoder, T)) {
	v, ok := o.Get()
	e.Bool(ok)
	if ok {
		put(e, v)
	}
}

// PutBox appends an optional value of a recursive class.
func PutBox[T any](e *Encoder, b value.Box[T], put func(*Encoder, T)) {
	v, ok := b.Get()
	e.Bool(ok)
	if ok {
		put(e, v)
	}
}

// PutInt appends a signed integer of any width: the form that PutVector and its
// siblings take.
func PutInt[T value.Signed](e *Encoder, n T) { e.Int(int64(n)) }

// PutUint appends an unsigned integer of any width.
func PutUint[T value.Unsigned](e *Encoder, n T) { e.Uint(uint64(n)) }

// PutBytesKey appends bytes in their form as a key.
func PutBytesKey(e *Encoder, k value.BytesKey) { e.String(string(k)) }
