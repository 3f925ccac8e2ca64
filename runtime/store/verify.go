package store

import (
	"encoding/binary"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Verify reads all rows of a store, in the order of their keys, without opening it. It calls row for
// every row that is whole, with its key and payload, which are valid during the call, and damaged
// for the others. An error is one of the engine, which could not read on.
func Verify(r Reader, row func(key, payload []byte), damaged func(*CorruptError)) error {
	return verify(r, []byte{}, []byte{0xff}, row, damaged)
}

// VerifySection is Verify for a section of a partition.
func VerifySection(r Reader, p event.PartitionID, s Section, row func(key, payload []byte), damaged func(*CorruptError)) error {
	from, to := SectionRange(p, s)
	return verify(r, from, to, row, damaged)
}

func verify(r Reader, from, to []byte, row func(key, payload []byte), damaged func(*CorruptError)) error {
	it := r.Scan(from, to)
	for it.Next() {
		payload, err := Payload(it.Key(), it.Value())
		if bad := new(CorruptError); errors.As(err, &bad) {
			damaged(&CorruptError{append([]byte(nil), bad.Key...), bad.Reason})
			continue
		}
		row(it.Key(), payload)
	}
	return it.Close()
}

// SectionOf returns the section of a key and its partition; ok is false for the rows that belong to none.
func SectionOf(key []byte) (p event.PartitionID, s Section, ok bool) {
	if len(key) < SectionSize || key[0] != partitionSpace {
		return 0, 0, false
	}
	return event.PartitionID(binary.BigEndian.Uint16(key[1:])), Section(key[3]), true
}

// SignatureOf returns the number of the signature with which the row of a waiting call begins. has is false for rows that
// have none: those of other sections, and a timer that calls a client. whole is false for a call that is too short.
func SignatureOf(s Section, payload []byte) (number uint32, has, whole bool) {
	if s != Continuations && s != Outbox && s != Timers {
		return 0, false, true
	}
	n, size := binary.Uvarint(payload)
	whole = size > 0
	return uint32(n), whole && (n > 0 || s != Timers), whole
}

// String names what the rows of a section are.
func (s Section) String() string {
	if name, ok := sectionNames[s]; ok {
		return name
	}
	return "unknown row"
}
