package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/aeon-lang/aeon/runtime/value"
)

// ErrCorrupt is wrapped by every error of a Decoder.
var ErrCorrupt = errors.New("corrupt encoding")

// Decoder reads values from a message. After the first error it returns zero values
// only; ask Err at the end. The input may be hostile: nothing is allocated that the input
// does not pay for.
type Decoder struct {
	// Context is what the values of the message need to be read, such as the system that references
	// to actors are resolved in. The decoder only carries it.
	Context any

	buf   []byte // the message up to the end of the innermost open field
	pos   int
	outer []int // ends of the fields around the innermost one
	depth int
	err   error
}

// NewDecoder returns a Decoder for one message.
func NewDecoder(msg []byte) *Decoder {
	d := &Decoder{buf: msg}
	d.version()
	return d
}

// version reads what a message begins with.
func (d *Decoder) version() {
	if v := d.byte(); d.err == nil && v != Version {
		d.fail("format version %d, this program reads %d", v, Version)
	}
}

// Part makes the decoder read buf, which has no version: what an Encoder has appended there.
func (d *Decoder) Part(buf []byte, context any) {
	*d = Decoder{Context: context, buf: buf, outer: d.outer[:0]}
}

// More reports whether the message goes on.
func (d *Decoder) More() bool { return d.err == nil && d.pos < len(d.buf) }

// Err returns the first error, if any.
func (d *Decoder) Err() error { return d.err }

// Close returns the first error, or one if the message goes on.
func (d *Decoder) Close() error {
	if d.err == nil && d.pos != len(d.buf) {
		d.fail("%d bytes too many", len(d.buf)-d.pos)
	}
	return d.err
}

// Fail makes the decoder fail unless it has failed already.
func (d *Decoder) Fail(format string, args ...any) { d.fail(format, args...) }

func (d *Decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s at byte %d", ErrCorrupt, fmt.Sprintf(format, args...), d.pos)
	}
	d.pos = len(d.buf)
}

func (d *Decoder) byte() byte {
	if d.pos >= len(d.buf) {
		d.fail("unexpected end")
		return 0
	}
	d.pos++
	return d.buf[d.pos-1]
}

// Uint reads an unsigned integer.
func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.buf[d.pos:])
	if size == 0 {
		d.fail("unexpected end")
		return 0
	}
	if size < 0 || size > 1 && d.buf[d.pos+size-1] == 0 { // the latter: not the shortest form
		d.fail("bad integer")
		return 0
	}
	d.pos += size
	return n
}

// Int reads a signed integer.
func (d *Decoder) Int() int64 {
	u := d.Uint()
	return int64(u>>1) ^ -int64(u&1)
}

// Bool reads a truth value.
func (d *Decoder) Bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail("bad bool %d", b)
	}
	return b == 1
}

// Float reads a number.
func (d *Decoder) Float() float64 {
	if len(d.buf)-d.pos < 8 {
		d.fail("unexpected end")
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.buf[d.pos:]))
	d.pos += 8
	return f
}

// Enum reads an enumeration constant of a type that has n of them.
func (d *Decoder) Enum(n uint64) uint64 {
	u := d.Uint()
	if u >= n && d.err == nil {
		d.fail("enumeration constant %d of %d", u, n)
		return 0
	}
	return u
}

// size reads a length and checks it against the input that is left: every element takes
// at least one byte.
func (d *Decoder) size() int {
	n := d.Uint()
	if n > uint64(len(d.buf)-d.pos) {
		d.fail("length %d exceeds the input", n)
		return 0
	}
	return int(n)
}

func (d *Decoder) raw() []byte {
	n := d.size()
	d.pos += n
	return d.buf[d.pos-n : d.pos]
}

// String reads a string.
func (d *Decoder) String() string { return string(d.raw()) }

// Blob reads what Encoder.Blob has appended, into memory of its own; nil if that is empty.
func (d *Decoder) Blob() []byte { return append([]byte(nil), d.raw()...) }

// Bytes reads bytes.
func (d *Decoder) Bytes() value.Bytes { return value.BytesOf(append([]byte(nil), d.raw()...)) }

// Record starts a record and returns the number of its fields. Read each with Field and
// EndField, then call EndRecord.
func (d *Decoder) Record() (fields int) {
	d.depth++
	if d.depth > depthMax {
		d.fail("nested deeper than %d", depthMax)
	}
	return d.size()
}

// EndRecord ends the record begun last.
func (d *Decoder) EndRecord() { d.depth-- }

// Field starts the next field and returns its name. The name is valid until the decoder's
// input is changed.
func (d *Decoder) Field() (name []byte) {
	name = d.raw()
	n := d.size()
	d.outer = append(d.outer, len(d.buf))
	d.buf = d.buf[:d.pos+n]
	return name
}

// EndField ends the field; what was not read of it is skipped.
func (d *Decoder) EndField() {
	end := len(d.buf)
	last := len(d.outer) - 1
	d.buf = d.buf[:d.outer[last]]
	d.outer = d.outer[:last]
	d.pos = end
	if d.err != nil {
		d.pos = len(d.buf)
	}
}

// reserve caps what is allocated before the elements have been seen.
const reserve = 64

// GetVector reads a vector whose elements get reads.
func GetVector[T any](d *Decoder, get func(*Decoder) T) value.Vector[T] {
	n := d.size()
	elems := make([]T, 0, min(n, reserve))
	for ; n > 0 && d.err == nil; n-- {
		elems = append(elems, get(d))
	}
	return value.VectorOf(elems...)
}

// GetSet reads a set.
func GetSet[K comparable](d *Decoder, get func(*Decoder) K) (s value.Set[K]) {
	for n := d.size(); n > 0 && d.err == nil; n-- {
		if !value.AddMember(&s, get(d)) && d.err == nil {
			d.fail("element twice")
		}
	}
	return s
}

// GetMap reads a map.
func GetMap[K comparable, V any](d *Decoder, getKey func(*Decoder) K, getValue func(*Decoder) V) (m value.Map[K, V]) {
	for n := d.size(); n > 0 && d.err == nil; n-- {
		k := getKey(d)
		if _, had := value.SetEntry(&m, k, getValue(d)); had && d.err == nil {
			d.fail("key twice")
		}
	}
	return m
}

// GetOpt reads an optional value.
func GetOpt[T any](d *Decoder, get func(*Decoder) T) (o value.Opt[T]) {
	if d.Bool() {
		o = value.Some(get(d))
	}
	return o
}

// GetBox reads an optional value of a recursive class.
func GetBox[T any](d *Decoder, get func(*Decoder) T) (b value.Box[T]) {
	if d.Bool() && d.err == nil {
		b = value.BoxOf(get(d))
	}
	return b
}

// GetInt reads a signed integer of any width.
func GetInt[T value.Signed](d *Decoder) T {
	n := d.Int()
	if int64(T(n)) != n {
		d.fail("%d does not fit", n)
		return 0
	}
	return T(n)
}

// GetUint reads an unsigned integer of any width.
func GetUint[T value.Unsigned](d *Decoder) T {
	n := d.Uint()
	if uint64(T(n)) != n {
		d.fail("%d does not fit", n)
		return 0
	}
	return T(n)
}

// GetBytesKey reads bytes in their form as a key.
func GetBytesKey(d *Decoder) value.BytesKey { return value.BytesKey(d.raw()) }
