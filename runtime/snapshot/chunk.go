package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// chunkHead begins every chunk: what it is, and in which version.
const chunkHead = "aeon rows 1\n"

const (
	chunkBytesMin = 256 << 10
	chunkBytesMax = 8 << 20
	// contentBytesMax is more than any chunk has: a last row, with parts as large as can be, stands behind a chunk that
	// is not full.
	contentBytesMax = chunkBytesMax + 2*(math.MaxInt32+binary.MaxVarintLen64)
	// A chunk ends behind a key whose hash says so, about every 1 024th.
	cutMask = 1<<10 - 1
	// A chunk that begins where a chunk of the snapshot before began ends where that one ended, if it has such a size:
	// a chunk that grows or shrinks stays the same chunk.
	sameBytesMin, sameBytesMax = chunkBytesMin / 2, 4 * chunkBytesMin
	// lastBytesMax bounds what a manifest says of the last key of a chunk.
	lastBytesMax = 1 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunker cuts rows into chunks.
type chunker struct {
	buf  []byte
	rows int
	last []byte
	ends [][]byte // of the chunks of the snapshot before: their last keys
	from int      // place of the chunk that holds the first row, or would
	at   int      // place of the chunk that holds the last row
	same bool     // this chunk begins where that at from does
}

// begin finds the chunk of the snapshot before that holds the first row.
func (c *chunker) begin(key []byte) {
	for c.at < len(c.ends) && bytes.Compare(key, c.ends[c.at]) > 0 {
		c.at++
	}
	c.from = c.at
}

// endsBefore reports whether the chunk ends before a row because one of the snapshot before did.
func (c *chunker) endsBefore(key []byte) bool {
	for ; c.rows > 0 && c.at < len(c.ends) && bytes.Compare(key, c.ends[c.at]) > 0; c.at++ {
		if len(c.buf) >= sameBytesMin {
			return true
		}
	}
	return false
}

// add appends a row and reports whether the chunk ends behind it.
func (c *chunker) add(key, value []byte) (full bool, err error) {
	if c.rows > 0 && bytes.Compare(key, c.last) <= 0 {
		return false, fmt.Errorf("row %x does not come after %x", key, c.last)
	}
	if len(key) > math.MaxInt32 || len(value) > math.MaxInt32 {
		return false, fmt.Errorf("row %.20x… is too large", key)
	}
	if len(c.buf) == 0 {
		c.begin(key)
		c.buf = append(c.buf, chunkHead...)
	}
	c.buf = appendPart(appendPart(c.buf, key), value)
	c.rows++
	c.last = append(c.last[:0], key...)
	n, least := len(c.buf), chunkBytesMin
	if c.same {
		least = sameBytesMax
	}
	return n >= chunkBytesMax || n >= least && crc32.Checksum(key, castagnoli)&cutMask == 0, nil
}

// reset begins the next chunk, which begins with one of the snapshot before if same says so.
func (c *chunker) reset(same bool) { c.buf, c.rows, c.same = c.buf[:0], 0, same }

// eachRow calls f for the rows of a chunk.
func eachRow(chunk []byte, f func(key, value []byte) error) (rows int, err error) {
	c := chunkRows(chunk)
	for ; c.ok; c.next() {
		if err := f(c.key, c.value); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, c.err
}
