package protocodec

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/jsoncodec"
)

// The types of values on the wire.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// numberMax is the greatest number of a field.
const numberMax = 1<<29 - 1

// nestingMax bounds how deep values may nest, as in JSON.
const nestingMax = 1000

// raw is a value on the wire.
type raw struct {
	wire  uint8
	num   uint64 // of wireVarint and the fixed types
	bytes []byte // of wireBytes
}

// reader reads messages. Its methods panic with a *jsoncodec.Error, which catch recovers.
type reader struct {
	path  []string // of the value that is being read
	names jsoncodec.Names
}

// fail ends the reading.
func (r *reader) fail(format string, args ...any) { r.failFor(nil, fmt.Sprintf(format, args...)) }

// failFor is fail for a reason that has a type of its own.
func (r *reader) failFor(err error, msg string) {
	panic(&jsoncodec.Error{Path: strings.TrimPrefix(strings.Join(r.path, ""), "."), Msg: msg, Err: err})
}

// catch recovers what fail panics with.
func catch(err *error) {
	if r := recover(); r != nil {
		e, ok := r.(*jsoncodec.Error)
		if !ok {
			panic(r)
		}
		*err = e
	}
}

func (r *reader) enter(step string) {
	r.path = append(r.path, step)
	if len(r.path) > nestingMax {
		r.path = nil
		r.fail("it nests deeper than %d", nestingMax)
	}
}

func (r *reader) leave() { r.path = r.path[:len(r.path)-1] }

// varint takes a number from the front of b.
func (r *reader) varint(b []byte) (uint64, []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		r.fail("the message is no protobuf: a number does not end")
	}
	return n, b[size:]
}

// value takes a value from the front of b.
func (r *reader) value(wire uint8, b []byte) (v raw, rest []byte) {
	v.wire = wire
	size := uint64(0)
	switch wire {
	case wireVarint:
		v.num, b = r.varint(b)
		return v, b
	case wireFixed64:
		size = 8
	case wireFixed32:
		size = 4
	case wireBytes:
		size, b = r.varint(b)
	default:
		r.fail("the message is no protobuf: a value has type %d", wire)
	}
	if size > uint64(len(b)) {
		r.fail("the message is no protobuf: a value of %d bytes does not end", size)
	}
	v.bytes, rest = b[:size:size], b[size:]
	switch wire {
	case wireFixed64:
		v.num = binary.LittleEndian.Uint64(v.bytes)
	case wireFixed32:
		v.num = uint64(binary.LittleEndian.Uint32(v.bytes))
	}
	return v, rest
}

// split separates the fields of a message: the values of each, in the order in which they stand there.
func (r *reader) split(of *Message, b []byte) [][]raw {
	list := make([][]raw, len(of.fields))
	for len(b) > 0 {
		var tag uint64
		tag, b = r.varint(b)
		number := tag >> 3
		if number == 0 || number > numberMax {
			r.fail("the message is no protobuf: a field has number %d", number)
		}
		var v raw
		v, b = r.value(uint8(tag&7), b)
		i, known := of.byNum[number]
		if !known {
			r.fail("message %s has no field %d; compile the client with the program's present .proto file", of.full, number)
		}
		list[i] = append(list[i], v)
	}
	return list
}

// appendTag appends the beginning of a field.
func appendTag(b []byte, number uint64, wire uint8) []byte {
	return binary.AppendUvarint(b, number<<3|uint64(wire))
}

// appendText appends a field that is a string.
func appendText(b []byte, number uint64, s string) []byte {
	b = binary.AppendUvarint(appendTag(b, number, wireBytes), uint64(len(s)))
	return append(b, s...)
}

// appendNumber appends a field that is a number.
func appendNumber(b []byte, number, n uint64) []byte {
	return binary.AppendUvarint(appendTag(b, number, wireVarint), n)
}

// appendSized appends a field whose bytes put appends.
func appendSized(b []byte, number uint64, put func(b []byte) []byte) []byte {
	b = append(appendTag(b, number, wireBytes), 0) // room for the length of a short value
	from := len(b)
	b = put(b)
	size := len(b) - from
	if size < 0x80 {
		b[from-1] = byte(size)
		return b
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(size))
	b = append(b, head[:n-1]...) // grow by the missing bytes of the length
	copy(b[from+n-1:], b[from:from+size])
	copy(b[from-1:], head[:n])
	return b
}
