package protocodec

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Append appends the answer with the result that msg holds; without a result msg is nil. The error says why protobuf cannot
// have the value, or that msg is corrupt.
func (m *RPC) Append(b, msg []byte, names jsoncodec.Names) ([]byte, error) {
	if msg == nil {
		return b, nil
	}
	w := writer{Decoder: codec.NewDecoder(msg), names: names}
	b = w.fields(b, m.answer)
	if w.err != nil {
		return b, w.err
	}
	return b, w.Close()
}

// writer writes what a message of package codec holds.
type writer struct {
	*codec.Decoder
	names jsoncodec.Names
	err   error // the first one
}

// fields appends the fields of a message.
func (w *writer) fields(b []byte, m *Message) []byte {
	for _, f := range m.fields {
		b = w.field(b, f)
	}
	return b
}

// field appends a field; zeros are left out.
func (w *writer) field(b []byte, f *Field) []byte {
	switch t := f.is; t.kind {
	case typetext.Vector, typetext.Set:
		return w.elements(b, f)
	case typetext.Map:
		for n := w.Uint(); n > 0 && w.Err() == nil; n-- {
			b = appendSized(b, f.number, func(b []byte) []byte {
				return w.field(w.field(b, t.entry.fields[0]), t.entry.fields[1])
			})
		}
		return b
	case typetext.Optional:
		if !w.Bool() {
			return b
		}
		return w.one(b, f.number, t.elem, true)
	default:
		return w.one(b, f.number, t, false)
	}
}

// elements appends a vector or a set.
func (w *writer) elements(b []byte, f *Field) []byte {
	t, n := f.is, w.Uint()
	if _, packs := t.elem.packs(); packs && n > 0 {
		return appendSized(b, f.number, func(b []byte) []byte {
			for ; n > 0 && w.Err() == nil; n-- {
				b = w.number(b, t.elem)
			}
			return b
		})
	}
	for ; n > 0 && w.Err() == nil; n-- {
		b = w.one(b, f.number, t.elem, true)
	}
	return b
}

// number appends a number, without its tag.
func (w *writer) number(b []byte, t *Type) []byte {
	switch t.kind {
	case typetext.Signed:
		return binary.AppendUvarint(b, uint64(w.Int()))
	case typetext.Unsigned:
		return binary.AppendUvarint(b, w.Uint())
	case typetext.Bool:
		if w.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case typetext.Enum:
		return binary.AppendUvarint(b, w.Enum(uint64(len(t.enum.aeon)))+1)
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(w.Float()))
}

// one appends one value. Zeros are left out unless they are to be there.
func (w *writer) one(b []byte, number uint64, t *Type, zero bool) []byte {
	if wire, packs := t.packs(); packs {
		head := len(b)
		b = appendTag(b, number, wire)
		from := len(b)
		if b = w.number(b, t); !zero && isZero(b[from:]) {
			return b[:head]
		}
		return b
	}
	switch t.kind {
	case holder:
		return appendSized(b, number, func(b []byte) []byte { return w.field(b, t.message.fields[0]) })
	case typetext.Class:
		return appendSized(b, number, func(b []byte) []byte { return w.record(b, t.message) })
	case typetext.Time, typetext.Duration:
		return w.nanos(b, number, t)
	}
	text, null := w.text(t)
	if null || text == "" && !zero {
		return b
	}
	if t.kind != typetext.Bytes && !utf8.ValidString(text) {
		w.fail("a string of protobuf is UTF-8, and %.100q is not", text)
	}
	return appendText(b, number, text)
}

// isZero reports whether all bytes are 0. -0 is a number of its own.
func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// text reads a value that is a string in protobuf, or bytes.
func (w *writer) text(t *Type) (text string, null bool) {
	switch t.kind {
	case typetext.Actor:
		id := event.ActorID{Birth: event.PartitionID(w.Uint()), Serial: w.Uint()}
		if id.IsNull() {
			return "", true
		}
		return w.names.ActorText(t.of.Name, id), false
	case typetext.Client:
		number := w.Uint()
		return jsoncodec.ClientText(t.of.Name, number), number == 0
	}
	return w.String(), false
}

// nanos appends a time or a duration.
func (w *writer) nanos(b []byte, number uint64, t *Type) []byte {
	at := w.Int()
	s, n := at/nanosPerSecond, at%nanosPerSecond
	if t.kind == typetext.Time && n < 0 {
		s, n = s-1, n+nanosPerSecond
	}
	return appendSized(b, number, func(b []byte) []byte {
		if s != 0 {
			b = appendNumber(b, 1, uint64(s))
		}
		if n != 0 {
			b = appendNumber(b, 2, uint64(n))
		}
		return b
	})
}

// record appends a value class.
func (w *writer) record(b []byte, m *Message) []byte {
	for n := w.Record(); n > 0 && w.Err() == nil; n-- {
		if i, known := m.number[string(w.Field())]; known {
			b = w.field(b, m.fields[i])
		}
		w.EndField()
	}
	w.EndRecord()
	return b
}
