package pebbledb

import "encoding/binary"

// A seal is what Sync writes into the log: up to where the log was durable before. Anything
// invalid in front of a place that a seal names is damage, and not the end of a log which a crash
// has cut short. (Pebble's own chunks carry such an offset, which leaves out what was
// written in full blocks, and its reader looks for them in later blocks only.)
const sealMagic = "aeon seal "

const sealBytes = len(sealMagic) + 4 + 8

func (m mark) seal() []byte {
	b := append(make([]byte, 0, sealBytes), sealMagic...)
	b = binary.BigEndian.AppendUint32(b, m.log)
	return binary.BigEndian.AppendUint64(b, m.offset)
}

func parseSeal(b []byte) (m mark, ok bool) {
	if len(b) != sealBytes || string(b[:len(sealMagic)]) != sealMagic {
		return mark{}, false
	}
	b = b[len(sealMagic):]
	return mark{binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:])}, true
}
