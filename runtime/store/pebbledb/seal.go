package pebbledb

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/cockroachdb/pebble/v2"
)

// A seal is what each record of a log begins with: the store of the log, and up to where the log was durable before.
// Anything invalid in front of a place that a seal names is damage, and not the end of a log which a crash has cut
// short. (Pebble's own chunks carry such an offset, which leaves out what was written in full blocks, and its reader
// looks for them in later blocks only.) A log of another store in its place is damage, too. Older versions have written
// seals that name no store, and none in front of large batches.
const sealMagic = "aeon seal "

const (
	sealBytesUnowned = len(sealMagic) + 4 + 8
	sealBytes        = sealBytesUnowned + len(storeID{})

	// A batch begins with its sequence number (8 bytes) and the number of its rows (4); data for the log with its
	// kind and its length.
	batchHeaderBytes = 8 + 4
	kindLogData      = byte(pebble.InternalKeyKindLogData)
	sealAt           = batchHeaderBytes + 2
)

// storeID is the id of a store as its files contain it.
type storeID [16]byte

// idOf returns the id that is written in hexadecimal digits.
func idOf(store string) (id storeID) {
	hex.Decode(id[:], []byte(store)[:min(len(store), 2*len(id))]) // an id with other characters is of no store that NewStoreID has named
	return id
}

// seal is what a record begins with.
type seal struct {
	mark
	owner storeID // zero: it names none
}

func (s seal) bytes() []byte {
	b := append(make([]byte, 0, sealBytes), sealMagic...)
	b = binary.BigEndian.AppendUint32(b, s.log)
	b = binary.BigEndian.AppendUint64(b, s.offset)
	return append(b, s.owner[:]...)
}

// sealGroup puts the seal where newGroup has left room for it.
func (d *DB) sealGroup(b *pebble.Batch) {
	copy(b.Repr()[sealAt:], seal{d.logs.q.durable(), d.id}.bytes())
}

// sealOf returns the seal that a record begins with.
func sealOf(record []byte) (s seal, ok bool) {
	if len(record) < sealAt || record[batchHeaderBytes] != kindLogData {
		return s, false
	}
	size := int(record[batchHeaderBytes+1])
	if size != sealBytes && size != sealBytesUnowned || len(record) < sealAt+size || string(record[sealAt:sealAt+len(sealMagic)]) != sealMagic {
		return s, false
	}
	b := record[sealAt+len(sealMagic) : sealAt+size]
	s.mark = mark{binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:])}
	copy(s.owner[:], b[4+8:])
	return s, true
}
