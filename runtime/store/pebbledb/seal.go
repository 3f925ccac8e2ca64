package pebbledb

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// A seal is what a group in the log begins with: up to where the log was durable before. Anything
// invalid in front of a place that a seal names is damage, and not the end of a log which a crash
// has cut short. (Pebble's own chunks carry such an offset, which leaves out what was
// written in full blocks, and its reader looks for them in later blocks only.)
const sealMagic = "aeon seal "

const (
	sealBytes = len(sealMagic) + 4 + 8

	// A batch begins with its sequence number (8 bytes) and the number of its rows (4); data for the log with its
	// kind and its length.
	batchHeaderBytes = 8 + 4
	kindLogData      = byte(pebble.InternalKeyKindLogData)
	sealAt           = batchHeaderBytes + 2
)

func (m mark) seal() []byte {
	b := append(make([]byte, 0, sealBytes), sealMagic...)
	b = binary.BigEndian.AppendUint32(b, m.log)
	return binary.BigEndian.AppendUint64(b, m.offset)
}

// sealGroup puts the seal where newGroup has left room for it.
func (m mark) sealGroup(b *pebble.Batch) { copy(b.Repr()[sealAt:], m.seal()) }

// sealOf returns the seal that a record begins with.
func sealOf(record []byte) (mark, bool) {
	if len(record) < sealAt+sealBytes || record[batchHeaderBytes] != kindLogData || record[batchHeaderBytes+1] != byte(sealBytes) {
		return mark{}, false
	}
	return parseSeal(record[sealAt : sealAt+sealBytes])
}

func parseSeal(b []byte) (m mark, ok bool) {
	if string(b[:len(sealMagic)]) != sealMagic {
		return mark{}, false
	}
	b = b[len(sealMagic):]
	return mark{binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:])}, true
}
