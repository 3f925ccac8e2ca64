package row

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// EndOfKeys lies behind all keys.
var EndOfKeys = []byte{0xff}

// sectionPrefix is how long the common part of the keys of a section is.
const sectionPrefix = 4

// Each checks the checksums of the rows of a range, and calls f for each, in the order of their keys. An error of f ends
// it.
func Each(view store.Reader, from, to []byte, f func(key, row, payload []byte) error) error {
	it := view.Scan(from, to)
	var err error
	for err == nil && it.Next() {
		var payload []byte
		if payload, err = store.Payload(it.Key(), it.Value()); err == nil {
			err = f(it.Key(), it.Value(), payload)
		}
	}
	if closed := it.Close(); err == nil {
		err = closed
	}
	return err
}

// Section is Each for the rows of a section of partition p. rest is the part of the key behind the section, at least
// keyMin bytes: a shorter one is a *store.CorruptError.
func Section(view store.Reader, p event.PartitionID, s store.Section, keyMin int, f func(key, rest, row, payload []byte) error) error {
	from, to := store.SectionRange(p, s)
	return Each(view, from, to, func(key, row, payload []byte) error {
		if len(key) < sectionPrefix+keyMin {
			return Damage(key, errors.New("its key is too short"))
		}
		return f(key, key[sectionPrefix:], row, payload)
	})
}

// Damage returns a *store.CorruptError that names the row under a key and what is wrong with it, nil if err is nil.
func Damage(key []byte, err error) error {
	if err == nil {
		return nil
	}
	return &store.CorruptError{Key: bytes.Clone(key), Reason: err.Error()}
}

// SplitKey returns the section of a key, the part behind it, and behind the generation of an outcome, and the actor that the
// row belongs to. ok is false for a row that is in no partition. A name or a session has no actor.
func SplitKey(key []byte) (s store.Section, rest []byte, id event.ActorID, ok bool) {
	if len(key) < sectionPrefix || key[0] != store.HeaderKey(event.ActorID{})[0] {
		return 0, nil, id, false
	}
	s, rest = store.Section(key[3]), key[sectionPrefix:]
	if s == store.Keyed && len(rest) >= 8 {
		rest = rest[8:] // behind the generation
	}
	if len(rest) >= 8 {
		id = event.ActorID{Birth: event.PartitionID(binary.BigEndian.Uint16(key[1:])), Serial: binary.BigEndian.Uint64(rest)}
	}
	return s, rest, id, true
}
