package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
)

// The rows that this package keeps; docs/rfc/durability.md lists them. Numbers in payloads
// are varints.

// Flags of a header.
const (
	headerUnborn = 1 << iota // a named actor whose constructor has not run
	headerNamed
)

// headerRow is what is stored of an actor besides its fields.
type headerRow struct {
	flags       byte
	layout      uint32
	incarnation uint32
	name        string
	parent      event.ActorID // T-parent, which may have been deleted; a virtual one has serial 0
	top         bool          // the T-parent is TOP
	units       uint32        // of the edge from the T-parent
}

// flag of a header's parent: TOP; a partition; an actor.
const (
	parentTop = iota
	parentPartition
	parentActor
)

func (r *headerRow) append(b []byte) []byte {
	b = append(b, r.flags)
	b = binary.AppendUvarint(b, uint64(r.layout))
	if r.flags&headerNamed != 0 {
		b = binary.AppendUvarint(b, uint64(r.incarnation))
		b = appendText(b, r.name)
	}
	switch {
	case r.top:
		b = append(b, parentTop)
	case r.parent.Serial == 0:
		b = binary.AppendUvarint(append(b, parentPartition), uint64(r.parent.Birth))
	default:
		b = binary.AppendUvarint(append(b, parentActor), uint64(r.parent.Birth))
		b = binary.BigEndian.AppendUint64(b, r.parent.Serial)
	}
	return binary.AppendUvarint(b, uint64(r.units))
}

func (r *headerRow) read(payload []byte) error {
	p := payloadReader{rest: payload}
	r.flags = p.byte()
	r.layout = uint32(p.uint())
	r.incarnation, r.name = 0, ""
	if r.flags&headerNamed != 0 {
		r.incarnation = uint32(p.uint())
		r.name = p.text()
	}
	r.parent, r.top = event.ActorID{}, false
	switch p.byte() {
	case parentTop:
		r.top = true
	case parentPartition:
		r.parent.Birth = event.PartitionID(p.uint())
	case parentActor:
		r.parent.Birth = event.PartitionID(p.uint())
		r.parent.Serial = p.fixed()
	default:
		p.bad = true
	}
	r.units = uint32(p.uint())
	return p.end()
}

// payloadReader reads the payload of a row. Its sum has been checked, so that errors are
// those of its writer.
type payloadReader struct {
	rest []byte
	bad  bool
}

func (p *payloadReader) byte() byte {
	if len(p.rest) == 0 {
		p.bad = true
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

func (p *payloadReader) uint() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.bad, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

func (p *payloadReader) fixed() uint64 {
	if len(p.rest) < 8 {
		p.bad, p.rest = true, nil
		return 0
	}
	n := binary.BigEndian.Uint64(p.rest)
	p.rest = p.rest[8:]
	return n
}

// bytes reads a length and so many bytes, which are part of the payload.
func (p *payloadReader) bytes() []byte {
	n := p.uint()
	if n > uint64(len(p.rest)) {
		p.bad, p.rest = true, nil
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *payloadReader) text() string { return string(p.bytes()) }

func (p *payloadReader) actor() event.ActorID {
	return event.ActorID{Birth: event.PartitionID(p.uint()), Serial: p.fixed()}
}

func (p *payloadReader) event() event.EventID {
	return event.EventID{Origin: p.fixed(), Seq: p.fixed()}
}

func (p *payloadReader) end() error {
	switch {
	case p.bad:
		return fmt.Errorf("it ends too early")
	case len(p.rest) > 0:
		return fmt.Errorf("%d bytes too many", len(p.rest))
	}
	return nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendActor(b []byte, id event.ActorID) []byte {
	return binary.BigEndian.AppendUint64(binary.AppendUvarint(b, uint64(id.Birth)), id.Serial)
}

func appendEvent(b []byte, id event.EventID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, id.Origin), id.Seq)
}

// appendHeaderKey appends the key of an actor's header.
func appendHeaderKey(k []byte, id event.ActorID) []byte {
	return store.AppendSerial(store.AppendSection(k, id.Birth, store.Headers), id.Serial)
}

// appendEdgesKey appends what the keys of the edges to an actor begin with.
func appendEdgesKey(k []byte, child event.ActorID) []byte {
	return store.AppendSerial(store.AppendSection(k, child.Birth, store.Edges), child.Serial)
}

func appendEdgeKey(k []byte, owner, child event.ActorID) []byte {
	return store.AppendActor(appendEdgesKey(k, child), owner)
}

// appendOutboxKey appends the key of a sub-event.
func appendOutboxKey(k []byte, issuer, target event.ActorID, seq uint64) []byte {
	k = store.AppendSerial(store.AppendSection(k, issuer.Birth, store.Outbox), issuer.Serial)
	return store.AppendSerial(store.AppendActor(k, target), seq)
}

// appendContinuationKey appends the key of the next step of a chain that keeps its actor.
func appendContinuationKey(k []byte, target event.ActorID, seq uint64) []byte {
	k = store.AppendSerial(store.AppendSection(k, target.Birth, store.Continuations), target.Serial)
	return store.AppendSerial(k, seq)
}

// appendTimerKey appends the key of a timer. Times before 1970 sort first.
func appendTimerKey(k []byte, issuer event.ActorID, due int64, seq uint64) []byte {
	k = store.AppendSection(k, issuer.Birth, store.Timers)
	return store.AppendSerial(store.AppendSerial(k, uint64(due)^1<<63), seq)
}

// appendNameKey appends the key of a name.
func appendNameKey(k []byte, p event.PartitionID, c *order.Shape, name string) []byte {
	k = store.AppendSection(k, p, store.Names)
	k = append(append(append(k, c.Package...), '.'), c.Name...)
	return append(append(k, 0), name...)
}
