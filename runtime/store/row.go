package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// RowVersion is the form of rows that this package writes, and the newest that it reads.
const RowVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const rowOverhead = 1 + 4

// BeginRow appends the head of a row to buf. The caller appends the payload to the result, and
// EndRow ends the row.
func BeginRow(buf []byte) []byte { return append(buf, RowVersion) }

// EndRow appends the checksum of a row that begins at start in buf and is stored under key.
func EndRow(buf []byte, start int, key []byte) []byte {
	return binary.LittleEndian.AppendUint32(buf, rowSum(key, buf[start:]))
}

// AppendRow appends the row with this payload.
func AppendRow(buf, key, payload []byte) []byte {
	start := len(buf)
	return EndRow(append(BeginRow(buf), payload...), start, key)
}

// rowSum covers the key, too, so that a row under a wrong key is noticed.
func rowSum(key, row []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, row)
}

// Payload returns the payload of the row under key, which is a part of row, or a *CorruptError.
func Payload(key, row []byte) ([]byte, error) {
	if len(row) < rowOverhead {
		return nil, &CorruptError{key, fmt.Sprintf("%d bytes are no row", len(row))}
	}
	body, sum := row[:len(row)-4], binary.LittleEndian.Uint32(row[len(row)-4:])
	if rowSum(key, body) != sum {
		return nil, &CorruptError{key, "its checksum does not match"}
	}
	if body[0] != RowVersion {
		return nil, &CorruptError{key, fmt.Sprintf("its version %d is unknown", body[0])}
	}
	return body[1:], nil
}
