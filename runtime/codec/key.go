package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/aeon-lang/aeon/runtime/value"
)

// The functions of this file write values so that the bytes of two of them compare as the
// values do. They are for keys of rows. No encoding is the beginning of another one of its
// type, so that several stand one behind the other and compare as a tuple. An integer
// takes a byte more than it needs, so that its type may become wider.

// signedBase is the first byte of 0; a positive number has its size added, a negative one
// has one and its size taken away.
const signedBase = 0x80

// keyWidth is how many bytes u needs.
func keyWidth(u uint64) int { return (bits.Len64(u) + 7) / 8 }

func (e *Encoder) keyBytes(u uint64, width int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], u)
	e.buf = append(e.buf, b[8-width:]...)
}

// PutKeyUint appends an unsigned integer.
func PutKeyUint[T value.Unsigned](e *Encoder, n T) {
	u := uint64(n)
	width := keyWidth(u)
	e.buf = append(e.buf, byte(width))
	e.keyBytes(u, width)
}

// PutKeyInt appends a signed integer.
func PutKeyInt[T value.Signed](e *Encoder, n T) {
	u := uint64(int64(n))
	if n >= 0 {
		width := keyWidth(u)
		e.buf = append(e.buf, byte(signedBase+width))
		e.keyBytes(u, width)
		return
	}
	width := keyWidth(^u)
	e.buf = append(e.buf, byte(signedBase-1-width))
	e.keyBytes(u, width)
}

// PutKeyBool appends a truth value.
func PutKeyBool(e *Encoder, b bool) { e.Bool(b) }

// A zero byte of a string is followed by zeroGoesOn, and the string ended by a zero byte
// and zeroEnds.
const (
	zeroEnds   = 0x01
	zeroGoesOn = 0xff
)

// PutKeyString appends a string.
func PutKeyString[T ~string](e *Encoder, s T) {
	for i := range len(s) {
		e.buf = append(e.buf, s[i])
		if s[i] == 0 {
			e.buf = append(e.buf, zeroGoesOn)
		}
	}
	e.buf = append(e.buf, 0, zeroEnds)
}

// keyInt reads width bytes behind lead bits, which are those above.
func (d *Decoder) keyInt(width int, lead uint64) uint64 {
	if len(d.buf)-d.pos < width {
		d.fail("unexpected end")
		return 0
	}
	u := lead
	for range width {
		u = u<<8 | uint64(d.buf[d.pos])
		d.pos++
	}
	return u
}

// GetKeyUint reads what PutKeyUint wrote.
func GetKeyUint[T value.Unsigned](d *Decoder) T {
	width := int(d.byte())
	if width > 8 {
		d.fail("bad integer")
		return 0
	}
	u := d.keyInt(width, 0)
	if keyWidth(u) != width && d.err == nil {
		d.fail("bad integer")
	}
	if uint64(T(u)) != u {
		d.fail("%d does not fit", u)
		return 0
	}
	return T(u)
}

// GetKeyInt reads what PutKeyInt wrote.
func GetKeyInt[T value.Signed](d *Decoder) T {
	width, lead := int(d.byte())-signedBase, uint64(0)
	if width < 0 {
		width, lead = -width-1, ^uint64(0)
	}
	if width > 8 {
		d.fail("bad integer")
		return 0
	}
	u := d.keyInt(width, lead)
	n := int64(u)
	if (keyWidth(u^lead) != width || n < 0 != (lead != 0)) && d.err == nil {
		d.fail("bad integer")
	}
	if int64(T(n)) != n {
		d.fail("%d does not fit", n)
		return 0
	}
	return T(n)
}

// GetKeyEnum reads an enumeration constant, of n, that PutKeyUint wrote.
func (d *Decoder) GetKeyEnum(n uint64) uint64 {
	u := GetKeyUint[uint64](d)
	if u >= n && d.err == nil {
		d.fail("enumeration constant %d of %d", u, n)
		return 0
	}
	return u
}

// GetKeyBool reads what PutKeyBool wrote.
func GetKeyBool(d *Decoder) bool { return d.Bool() }

// GetKeyString reads what PutKeyString wrote.
func GetKeyString[T ~string](d *Decoder) T {
	var s []byte
	for {
		c := d.byte()
		if d.err != nil {
			return ""
		}
		if c == 0 {
			switch d.byte() {
			case zeroEnds:
				return T(s)
			case zeroGoesOn:
			default:
				d.fail("bad string")
				return ""
			}
		}
		s = append(s, c)
	}
}
