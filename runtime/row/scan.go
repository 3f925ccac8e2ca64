package row

import (
	"bytes"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// EndOfKeys lies behind all keys.
var EndOfKeys = []byte{0xff}

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
		if len(key) < store.SectionSize+keyMin {
			return Damage(key, errors.New("its key is too short"))
		}
		return f(key, key[store.SectionSize:], row, payload)
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
// row belongs to. ok is false for a row that is in no partition. A name, a session or a dead letter has no actor.
func SplitKey(key []byte) (s store.Section, rest []byte, id event.ActorID, ok bool) {
	if _, s, ok = store.SectionOf(key); !ok {
		return 0, nil, id, false
	}
	rest = key[store.SectionSize:]
	if s == store.Keyed && len(rest) >= 8 {
		rest = rest[8:] // behind the generation
	}
	switch of := rest; s {
	case store.Names, store.Sessions, store.DeadLetters:
	case store.Timers:
		of = of[min(8, len(of)):] // behind the time
		fallthrough
	default:
		if len(of) >= store.ActorSize {
			id = store.ActorInKey(of)
		}
	}
	return s, rest, id, true
}
