package store

import (
	"encoding/binary"
	"errors"
)

// Recording is a Batch that is kept as bytes, to be played back into a batch of an engine later, perhaps by another start of the store.
type Recording struct{ changes []byte }

// The changes of a recording: a byte, then keys and values with their lengths.
const (
	recordedSet = iota
	recordedDelete
	recordedRange
)

// Set implements Batch.
func (r *Recording) Set(key, value []byte) { r.change(recordedSet, key, value, true) }

// Delete implements Batch.
func (r *Recording) Delete(key []byte) { r.change(recordedDelete, key, nil, false) }

// DeleteRange implements Batch.
func (r *Recording) DeleteRange(from, to []byte) { r.change(recordedRange, from, to, true) }

// Size implements Batch.
func (r *Recording) Size() int { return len(r.changes) }

// Discard implements Batch.
func (r *Recording) Discard() {}

// Reset makes the recording empty. It uses the memory of Bytes again, unless that is large.
func (r *Recording) Reset() {
	const keptMax = 4096
	if r.changes = r.changes[:0]; cap(r.changes) > keptMax {
		r.changes = nil
	}
}

// Bytes returns the changes, for PlayBack.
func (r *Recording) Bytes() []byte { return r.changes }

func (r *Recording) change(kind byte, first, second []byte, both bool) {
	b := append(binary.AppendUvarint(append(r.changes, kind), uint64(len(first))), first...)
	if both {
		b = append(binary.AppendUvarint(b, uint64(len(second))), second...)
	}
	r.changes = b
}

// PlayBack puts the changes of a recording into a batch. If they cannot be read the batch has only some of them.
func PlayBack(changes []byte, to Batch) error {
	text := func() (t []byte, ok bool) {
		n, size := binary.Uvarint(changes)
		if size <= 0 || n > uint64(len(changes)-size) {
			return nil, false
		}
		t, changes = changes[size:size+int(n)], changes[size+int(n):]
		return t, true
	}
	for len(changes) > 0 {
		kind := changes[0]
		changes = changes[1:]
		first, ok := text()
		var second []byte
		if ok && kind != recordedDelete {
			second, ok = text()
		}
		switch {
		case !ok || kind > recordedRange:
			return errors.New("a recording of changes cannot be read")
		case kind == recordedSet:
			to.Set(first, second)
		case kind == recordedDelete:
			to.Delete(first)
		default:
			to.DeleteRange(first, second)
		}
	}
	return nil
}
