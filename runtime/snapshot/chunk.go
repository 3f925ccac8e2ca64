package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// chunkHead begins every chunk: what it is, and in which version.
const chunkHead = "aeon rows 1\n"

const (
	chunkBytesMin = 256 << 10
	chunkBytesMax = 8 << 20
	// contentBytesMax is more than any chunk has: a last row whose parts are as large as can be stands behind what is not full.
	contentBytesMax = chunkBytesMax + 2*(math.MaxInt32+binary.MaxVarintLen64)
	// A chunk ends behind a key whose hash says so, about every 1 024th.
	cutMask = 1<<10 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunker cuts rows into chunks.
type chunker struct {
	buf  []byte
	rows int
	last []byte
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
		c.buf = append(c.buf, chunkHead...)
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(len(key)))
	c.buf = append(c.buf, key...)
	c.buf = binary.AppendUvarint(c.buf, uint64(len(value)))
	c.buf = append(c.buf, value...)
	c.rows++
	c.last = append(c.last[:0], key...)
	n := len(c.buf)
	return n >= chunkBytesMax || n >= chunkBytesMin && crc32.Checksum(key, castagnoli)&cutMask == 0, nil
}

// reset begins the next chunk.
func (c *chunker) reset() { c.buf, c.rows = c.buf[:0], 0 }

var errChunk = errors.New("it is no chunk of rows")

// eachRow calls f for the rows of a chunk.
func eachRow(chunk []byte, f func(key, value []byte) error) (rows int, err error) {
	rest, ok := bytes.CutPrefix(chunk, []byte(chunkHead))
	if !ok {
		return 0, errChunk
	}
	part := func() []byte {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			err = io.ErrUnexpectedEOF
			return nil
		}
		p := rest[size : size+int(n)]
		rest = rest[size+int(n):]
		return p
	}
	for len(rest) > 0 {
		key, value := part(), part()
		if err != nil {
			return rows, errChunk
		}
		if err := f(key, value); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, nil
}
