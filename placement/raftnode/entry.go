package raftnode

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/runtime/store"
)

// entryFormat is that of entries of the log. An engine has checksums of its own.
const entryFormat = 1

// encodeEntry returns an entry as bytes: format, type, term, time in nanoseconds, data, extensions.
func encodeEntry(l *raft.Log) []byte {
	b := make([]byte, 0, 32+len(l.Data)+len(l.Extensions))
	b = append(b, entryFormat, byte(l.Type))
	b = binary.AppendUvarint(b, l.Term)
	appended := int64(0)
	if !l.AppendedAt.IsZero() {
		appended = l.AppendedAt.UnixNano()
	}
	b = binary.AppendVarint(b, appended)
	b = binary.AppendUvarint(b, uint64(len(l.Data)))
	b = append(b, l.Data...)
	return append(b, l.Extensions...)
}

// decodeEntry reads what encodeEntry has written.
func decodeEntry(key, b []byte, index uint64) (l raft.Log, err error) {
	broken := func(why string) (raft.Log, error) { return raft.Log{}, &store.CorruptError{Key: key, Reason: why} }
	if len(b) < 2 || b[0] != entryFormat {
		return broken("it is no entry of a log, of this version at least")
	}
	l.Index, l.Type, b = index, raft.LogType(b[1]), b[2:]
	var n int
	if l.Term, n = binary.Uvarint(b); n <= 0 {
		return broken("its term is missing")
	}
	b = b[n:]
	appended, n := binary.Varint(b)
	if n <= 0 {
		return broken("its time is missing")
	}
	b = b[n:]
	if appended != 0 {
		l.AppendedAt = time.Unix(0, appended)
	}
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return broken(fmt.Sprintf("its data has %d bytes, and %d are there", size, len(b)-max(n, 0)))
	}
	b = b[n:]
	if size > 0 {
		l.Data = append([]byte(nil), b[:size]...)
	}
	if b = b[size:]; len(b) > 0 {
		l.Extensions = append([]byte(nil), b...)
	}
	return l, nil
}
