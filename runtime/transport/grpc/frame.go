package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/aeon-lang/aeon/runtime/transport"
)

// A frame is one message of gRPC on the stream of a session. Its first byte is its kind.
//
//	hello     version: byte, incarnation: 8 bytes, number: 8 bytes, clock: 8 bytes
//	beat      progress: byte, 0 or 1, clock: 8 bytes, sent: 8 bytes, echo: 8 bytes, held: 8 bytes
//	messages  of each message its length and its bytes, up to the end of the frame; at least one
//	first     length of a message, and its first bytes, not all of them
//	next      the next bytes of that message
//
// A clock is what the hybrid clock of the node says, in nanoseconds since 1970. Lengths are unsigned varints in their shortest form; 8 bytes are a number, the highest byte first. Between the first and the last
// part of a message there are heartbeats and nothing else. Anything else ends the session. A frame does not name its sender: the connection does.
const (
	kindHello byte = iota + 1
	kindBeat
	kindMessages
	kindFirst
	kindNext
)

const version = 2

// frameMax bounds the bytes of a frame, so that a heartbeat does not wait behind a large message. A message that is too large for one travels in
// parts. It is a size of gRPC's pool of buffers.
const frameMax = 32 << 10

// sessionID names a session: the start of the node that has opened it, and how many it has opened since.
type sessionID struct{ incarnation, number uint64 }

const idLen = 16

func (id sessionID) append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, id.incarnation), id.number)
}

// cutID reads an id and returns what is behind it.
func cutID(b []byte) (id sessionID, rest []byte, err error) {
	if len(b) < idLen {
		return id, nil, errFrame
	}
	return sessionID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, b[idLen:], nil
}

// hello returns the first frame of either end.
func hello(id sessionID, clock time.Time) []byte {
	return binary.BigEndian.AppendUint64(id.append([]byte{kindHello, version}), uint64(clock.UnixNano()))
}

// readHello reads the first frame.
func readHello(frame []byte) (id sessionID, clock time.Time, err error) {
	if len(frame) < 2 || frame[0] != kindHello {
		return id, clock, errFrame
	}
	if frame[1] != version {
		return id, clock, fmt.Errorf("the other node speaks version %d of the transport, this one %d", frame[1], version)
	}
	id, rest, err := cutID(frame[2:])
	if err != nil || len(rest) != 8 {
		return id, clock, errFrame
	}
	return id, time.Unix(0, int64(binary.BigEndian.Uint64(rest))), nil
}

// beat is a heartbeat. Times but the first are nanoseconds since the end that has made them began.
type beat struct {
	progress bool
	clock    uint64 // nanoseconds since 1970
	sent     uint64 // now
	echo     uint64 // sent of the last heartbeat of the other end; 0: there was none
	held     uint64 // how long ago it has come
}

const beatLen = 1 + 1 + 4*8

func (h beat) append(b []byte) []byte {
	b = append(b, kindBeat, 0)
	if h.progress {
		b[len(b)-1] = 1
	}
	b = binary.BigEndian.AppendUint64(b, h.clock)
	b = binary.BigEndian.AppendUint64(b, h.sent)
	b = binary.BigEndian.AppendUint64(b, h.echo)
	return binary.BigEndian.AppendUint64(b, h.held)
}

// packer makes frames of messages.
type packer struct {
	list    [][]byte
	offset  int // of list[0], how much is under way
	started bool
}

// size returns how large the next frame is, and how many messages it has whole: the frame is a part of one if these are none.
func (p *packer) size() (size, whole int) {
	size = 1
	for _, m := range p.list {
		n := uvarintLen(len(m)) + len(m)
		if p.started || size+n > frameMax {
			break
		}
		size, whole = size+n, whole+1
	}
	if whole > 0 {
		return size, whole
	}
	if !p.started {
		size += uvarintLen(len(p.list[0]))
	}
	return min(frameMax, size+len(p.list[0])-p.offset), 0
}

// append appends the next frame, of a size and with so many whole messages as size has said, to b, and returns how many messages, and how
// many of their bytes, have ended with it.
func (p *packer) append(b []byte, size, whole int) (frame []byte, messages, bytes int) {
	if whole == 0 {
		m := p.list[0]
		if p.started {
			b = append(b, kindNext)
		} else {
			b = binary.AppendUvarint(append(b, kindFirst), uint64(len(m)))
			p.started = true
		}
		n := size - len(b)
		b = append(b, m[p.offset:p.offset+n]...)
		if p.offset += n; p.offset < len(m) {
			return b, 0, 0
		}
		p.started, p.offset = false, 0
		p.pop(1)
		return b, 1, len(m)
	}
	b = append(b, kindMessages)
	for _, m := range p.list[:whole] {
		b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
		bytes += len(m)
	}
	p.pop(whole)
	return b, whole, bytes
}

// pop forgets the first n messages, so that they can be collected.
func (p *packer) pop(n int) {
	clear(p.list[:n])
	p.list = p.list[n:]
}

func uvarintLen(n int) (size int) {
	for size = 1; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// unpacker reads frames behind the first one.
type unpacker struct {
	part  []byte // a message of which the first part has come
	parts int    // its length; 0: there is none
}

// partsMin is how much memory a message in parts has at first, if it is not smaller.
const partsMin = 1 << 20

var errFrame = errors.New("a frame that no node sends")

// take reads a frame, whose memory it owns, and hands over what it has, until message returns false. It hands over nothing of a frame
// that is wrong. The frame may be hostile: what is allocated is bounded by the longest message.
func (u *unpacker) take(frame []byte, heartbeat func(beat), message func([]byte) bool) error {
	if len(frame) == 0 {
		return errFrame
	}
	kind, b := frame[0], frame[1:]
	switch {
	case kind == kindBeat && len(frame) == beatLen && b[0] <= 1:
		heartbeat(beat{b[0] == 1, binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:]), binary.BigEndian.Uint64(b[17:]), binary.BigEndian.Uint64(b[25:])})
		return nil
	case kind == kindMessages && u.parts == 0 && len(b) > 0:
		return takeAll(b, message)
	case kind == kindFirst && u.parts == 0:
		n, rest, err := cutLength(b)
		if err != nil || len(rest) == 0 || len(rest) >= n {
			return errFrame
		}
		u.parts, u.part = n, append(make([]byte, 0, min(n, partsMin)), rest...) // the rest may never come
		return nil
	case kind == kindNext && u.parts > 0 && len(b) > 0 && len(b) <= u.parts-len(u.part):
		u.part = append(u.part, b...)
		if len(u.part) == u.parts {
			m := u.part
			u.part, u.parts = nil, 0
			message(m)
		}
		return nil
	}
	return errFrame
}

// takeAll hands over the messages of a frame, if all of them can be read.
func takeAll(b []byte, message func([]byte) bool) error {
	for rest := b; len(rest) > 0; {
		n, r, err := cutLength(rest)
		if err != nil || n > len(r) {
			return errFrame
		}
		rest = r[n:]
	}
	for len(b) > 0 {
		n, rest, _ := cutLength(b) // it was read before
		if !message(rest[:n:n]) {
			return nil
		}
		b = rest[n:]
	}
	return nil
}

func cutLength(b []byte) (n int, rest []byte, err error) {
	v, k := binary.Uvarint(b)
	if k <= 0 || v > transport.MessageMax || k != uvarintLen(int(v)) {
		return 0, nil, errFrame
	}
	return int(v), b[k:], nil
}
