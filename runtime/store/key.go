package store

import (
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Section is a kind of row within a partition. Sections are contiguous: recovery reads
// the small ones and skips the fields of actors.
type Section byte

// The sections of a partition; docs/rfc/durability.md lists what is in them.
const (
	Continuations Section = 'c'
	Outcomes      Section = 'd'
	Edges         Section = 'e'
	Headers       Section = 'h'
	InDoubt       Section = 'i'
	Keyed         Section = 'k'
	Names         Section = 'n'
	Outbox        Section = 'o'
	Timers        Section = 't'
	Fields        Section = 'v'
	Sessions      Section = 'w'
	DeadLetters   Section = 'x'
)

const (
	metaSpace      = 'm'
	schemaSpace    = 's'
	partitionSpace = 'p'
)

// PartitionsMax is how many partitions keys can tell apart.
const PartitionsMax = 1 << 16

// MetaKey returns the key of one of the node's own rows.
func MetaKey(name string) []byte { return append([]byte{metaSpace}, name...) }

// SchemaKey returns the key of the schema of a class.
func SchemaKey(class string) []byte { return append([]byte{schemaSpace}, class...) }

// SchemaRange returns the range of all schema rows.
func SchemaRange() (from, to []byte) { return []byte{schemaSpace}, []byte{schemaSpace + 1} }

// IsSchemaKey reports whether a key is that of the schema of a class.
func IsSchemaKey(key []byte) bool { return len(key) > 0 && key[0] == schemaSpace }

// SectionSize is how many bytes of a key AppendSection appends.
const SectionSize = 4

// AppendSection appends the prefix of a section of partition p.
func AppendSection(key []byte, p event.PartitionID, s Section) []byte {
	return append(key, partitionSpace, byte(p>>8), byte(p), byte(s))
}

// SectionRange returns the range of a section of partition p.
func SectionRange(p event.PartitionID, s Section) (from, to []byte) {
	return AppendSection(nil, p, s), AppendSection(nil, p, s+1)
}

// AppendSerial appends a number so that keys sort by it.
func AppendSerial(key []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(key, n) }

// ActorSize is how many bytes of a key an actor's id takes.
const ActorSize = 2 + 8

// AppendActor appends an actor's id in full.
func AppendActor(key []byte, id event.ActorID) []byte {
	return binary.BigEndian.AppendUint64(append(key, byte(id.Birth>>8), byte(id.Birth)), id.Serial)
}

// ActorInKey reads what AppendActor has written.
func ActorInKey(key []byte) event.ActorID {
	return event.ActorID{Birth: event.PartitionID(binary.BigEndian.Uint16(key)), Serial: binary.BigEndian.Uint64(key[2:])}
}

// AppendOf appends the beginning that the keys of an actor's rows have in a section. The rows are in the partition that stores
// the actor. That is the one of its birth; the key has the id in full all the same, as the partition alone does not tell it.
func AppendOf(key []byte, s Section, id event.ActorID) []byte {
	return AppendActor(AppendSection(key, id.Birth, s), id)
}

// HeaderKey returns the key of an actor's header.
func HeaderKey(id event.ActorID) []byte {
	return AppendOf(make([]byte, 0, SectionSize+ActorSize), Headers, id)
}

// AppendField appends the prefix of the rows of one field of an actor.
func AppendField(key []byte, id event.ActorID, field uint16) []byte {
	return append(AppendOf(key, Fields, id), byte(field>>8), byte(field))
}

// FieldsRange returns the range of all rows of all fields of an actor.
func FieldsRange(id event.ActorID) (from, to []byte) {
	from = AppendOf(nil, Fields, id)
	return from, After(from)
}

// After returns the first key behind all that begin with prefix, nil if there is none.
func After(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

var sectionNames = map[Section]string{
	Continuations: "continuation", Outcomes: "outcome", Edges: "ownership edge", Headers: "actor", InDoubt: "event over several stores",
	Keyed: "outcome of a request with a key",
	Names: "name", Outbox: "sub-event", Timers: "timer", Fields: "field", Sessions: "session", DeadLetters: "dead letter",
}

// DescribeKey tells the user what row a key belongs to.
func DescribeKey(key []byte) string {
	switch {
	case len(key) > 0 && key[0] == metaSpace:
		return fmt.Sprintf("row %q of the store itself", key[1:])
	case len(key) > 0 && key[0] == schemaSpace:
		return fmt.Sprintf("schema of class %q", key[1:])
	case len(key) < SectionSize || key[0] != partitionSpace:
		return fmt.Sprintf("row %x", key)
	}
	what, ok := sectionNames[Section(key[3])]
	if !ok {
		return fmt.Sprintf("row %x", key)
	}
	p, rest := binary.BigEndian.Uint16(key[1:]), key[SectionSize:]
	switch s := Section(key[3]); {
	case s == Names, s == Sessions:
		return fmt.Sprintf("%s %q of partition %d", what, rest, p)
	case s == DeadLetters && len(rest) >= 8:
		return fmt.Sprintf("%s %x of partition %d", what, binary.BigEndian.Uint64(rest), p)
	case s == Keyed && len(rest) >= 8+ActorSize:
		return fmt.Sprintf("%s %q of %v", what, rest[8+ActorSize:], ActorInKey(rest[8:]))
	case s == Timers && len(rest) >= 8+ActorSize:
		return fmt.Sprintf("%s of %v", what, ActorInKey(rest[8:]))
	case s == InDoubt:
		return fmt.Sprintf("row of an %s, in partition %d", what, p)
	case s == Fields && len(rest) >= ActorSize+2:
		return fmt.Sprintf("field %d of actor %v", binary.BigEndian.Uint16(rest[ActorSize:]), ActorInKey(rest))
	case s != DeadLetters && s != Keyed && s != Timers && len(rest) >= ActorSize:
		return fmt.Sprintf("%s of %v", what, ActorInKey(rest))
	}
	return fmt.Sprintf("row %x", key)
}
