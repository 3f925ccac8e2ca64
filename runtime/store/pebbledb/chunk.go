package pebbledb

import (
	"encoding/binary"
	"hash/crc32"
)

// Pebble's logs and manifests are sequences of chunks in blocks of 32 KiB. A chunk begins
// with a checksum (4 bytes), the length of the payload (2) and the kind (1); in logs also the
// low half of the log's number (4) and the offset up to which the log was synced (8). Pebble
// reads them. What follows tells damage from the end of a file that a crash has cut short,
// which pebble's reader often takes for each other.

const (
	blockBytes          = 32 << 10
	manifestHeaderBytes = 4 + 2 + 1
	trailerBytes        = manifestHeaderBytes + 4
	logHeaderBytes      = trailerBytes + 8

	kindManifestFull = 1
	kindManifestLast = 4
	kindTrailer      = 5 // a log's last chunk, empty and with the number of the next log
	kindLogFull      = 9
	kindLogLast      = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunkSum is the checksum of what begins with the kind of a chunk.
func chunkSum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// chunk is a chunk whose checksum is right.
type chunk struct {
	full, first, last bool
	header, payload   []byte
}

func (c chunk) size() int { return len(c.header) + len(c.payload) }

// logChunk returns the chunk of log number at the start of b, which ends with the block.
func logChunk(b []byte, number uint32) (c chunk, ok bool) {
	if len(b) < logHeaderBytes || binary.LittleEndian.Uint32(b[7:]) != number {
		return chunk{}, false
	}
	return anyChunk(b, logHeaderBytes, kindLogFull, kindLogLast)
}

// manifestChunk returns the chunk of a manifest at the start of b.
func manifestChunk(b []byte) (c chunk, ok bool) {
	return anyChunk(b, manifestHeaderBytes, kindManifestFull, kindManifestLast)
}

func anyChunk(b []byte, headerBytes int, full, last byte) (c chunk, ok bool) {
	if len(b) < headerBytes || b[6] < full || b[6] > last {
		return chunk{}, false
	}
	end := headerBytes + int(binary.LittleEndian.Uint16(b[4:]))
	if end > len(b) || chunkSum(b[6:end]) != binary.LittleEndian.Uint32(b) {
		return chunk{}, false
	}
	kind := b[6] - full // full, first, middle, last
	return chunk{full: kind == 0, first: kind <= 1, last: kind == 0 || kind == 3, header: b[:headerBytes], payload: b[headerBytes:end]}, true
}

// recordsIn returns how many records end in what pebble writes into a log at an offset: whole chunks, and
// what fills blocks up.
func recordsIn(p []byte, offset int64) (n int) {
	for len(p) > 0 {
		room := min(blockBytes-int(offset%blockBytes), len(p))
		size := room
		if room >= logHeaderBytes { // else the block is full, or the log
			size = logHeaderBytes + int(binary.LittleEndian.Uint16(p[4:]))
			if p[6] == kindLogFull || p[6] == kindLogLast {
				n++
			}
		}
		p, offset = p[size:], offset+int64(size)
	}
	return n
}

// record puts chunks together as far as the beginning of the record counts.
type record struct {
	data []byte
	open bool
}

// recordHead is as much of a record as is kept.
const recordHead = 256

// add takes the next chunk and reports whether it has completed a record.
func (r *record) add(c chunk) bool {
	if c.first {
		r.data, r.open = r.data[:0], true
	}
	if room := recordHead - len(r.data); room > 0 {
		r.data = append(r.data, c.payload[:min(room, len(c.payload))]...)
	}
	done := r.open && c.last
	r.open = r.open && !c.last
	return done
}

// walk calls visit for each chunk from offset from, which is where a chunk or a block begins.
// It returns the offset of the first place where no chunk is, the ends of blocks apart.
func walk(data []byte, from int, parse func([]byte) (chunk, bool), headerBytes int, visit func(at int, c chunk)) int {
	for at := from; ; {
		block := data[at:min(len(data), at-at%blockBytes+blockBytes)]
		c, ok := parse(block)
		switch {
		case ok:
			visit(at, c)
			at += c.size()
		case len(block) < headerBytes && at+len(block) < len(data) && allZero(block):
			at += len(block) // no chunk fits into the rest of the block
		default:
			return at
		}
	}
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
