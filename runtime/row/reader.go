package row

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Reader reads a payload, value by value. The checksum of the row has been checked, so an error is one of its writer. A
// missing value is read as zero, and End returns the error.
type Reader struct {
	rest []byte
	bad  bool
}

// Read returns a reader of a payload.
func Read(payload []byte) Reader { return Reader{rest: payload} }

// get returns a reader of the payload of a row.
func get(view store.Reader, key []byte) (in Reader, found bool, err error) {
	value, found, err := view.Get(key, nil)
	if err != nil || !found {
		return in, false, err
	}
	payload, err := store.Payload(key, value)
	return Read(payload), err == nil, err
}

func (p *Reader) fail() {
	p.bad, p.rest = true, nil
}

// Byte reads a byte.
func (p *Reader) Byte() byte {
	if len(p.rest) == 0 {
		p.fail()
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

// Bool reads what AppendBool has written.
func (p *Reader) Bool() bool { return p.Byte() != 0 }

// Uint reads a varint.
func (p *Reader) Uint() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.fail()
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

// Int reads a signed varint.
func (p *Reader) Int() int64 {
	n, size := binary.Varint(p.rest)
	if size <= 0 {
		p.fail()
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

// Fixed reads eight bytes, the most significant first.
func (p *Reader) Fixed() uint64 {
	if len(p.rest) < 8 {
		p.fail()
		return 0
	}
	n := binary.BigEndian.Uint64(p.rest)
	p.rest = p.rest[8:]
	return n
}

// Text reads what AppendText has written.
func (p *Reader) Text() string {
	return string(p.Bytes(p.Uint()))
}

// Actor reads what AppendActor has written.
func (p *Reader) Actor() event.ActorID {
	return event.ActorID{Birth: event.PartitionID(p.Uint()), Serial: p.Fixed()}
}

// Event reads what AppendEvent has written.
func (p *Reader) Event() event.EventID {
	return event.EventID{Origin: p.Fixed(), Seq: p.Fixed()}
}

// Bytes reads n bytes, which are part of the payload.
func (p *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(p.rest)) {
		p.fail()
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

// More reports whether something is left.
func (p *Reader) More() bool { return len(p.rest) > 0 }

// Rest reads all that is left, which is part of the payload.
func (p *Reader) Rest() []byte {
	rest := p.rest
	p.rest = nil
	return rest
}

// End returns an error unless the payload was as long as what was read of it.
func (p *Reader) End() error {
	switch {
	case p.bad:
		return errors.New("it ends too early")
	case len(p.rest) > 0:
		return fmt.Errorf("%d bytes too many", len(p.rest))
	}
	return nil
}

// AppendBool appends a byte, 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendText appends a text with its length.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendActor appends an actor's id.
func AppendActor(b []byte, id event.ActorID) []byte {
	return binary.BigEndian.AppendUint64(binary.AppendUvarint(b, uint64(id.Birth)), id.Serial)
}

// AppendEvent appends an event's id.
func AppendEvent(b []byte, id event.EventID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, id.Origin), id.Seq)
}
