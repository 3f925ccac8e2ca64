package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
)

// PartitionsOf returns how many partitions the rows of r were written with, from 1 to PartitionsMax.
func PartitionsOf(r Reader) (int, error) {
	n, err := needNumber(r, metaPartitions)
	if err == nil && (n == 0 || n > PartitionsMax) {
		err = &CorruptError{MetaKey(metaPartitions), fmt.Sprintf("%d are not from 1 to %d", n, PartitionsMax)}
	}
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// MetaRange returns the range of the node's own rows.
func MetaRange() (from, to []byte) { return []byte{metaSpace}, []byte{metaSpace + 1} }

// Copy puts a row of another store into a batch for a store with this identity, and this number in its cluster; 0: it is in none. The rows of
// both become those of this store; all others stay as they are. A damaged row is refused, and so is a format row of another format.
func Copy(b Batch, id Identity, number event.StoreID, key, row []byte) error {
	payload, err := Payload(key, row)
	if err != nil {
		return err
	}
	if err := CheckFormat(key, payload); err != nil {
		return err
	}
	if bytes.Equal(key, MetaKey(metaStore)) {
		setMeta(b, metaStore, []byte(id.Store+" "+id.Program))
		return nil
	}
	if bytes.Equal(key, MetaKey(metaNumber)) {
		setNumber(b, metaNumber, uint64(number))
		return nil
	}
	b.Set(key, row)
	return nil
}

// CountOn takes a row of a snapshot of the store that r reads. If the row counts the ids or the starts that were given, and further than the store has
// counted, the batch has the store count on from there. Any other row changes nothing.
func CountOn(b Batch, r Reader, key, payload []byte) error {
	for _, name := range []string{metaIDs, metaStarts} {
		if !bytes.Equal(key, MetaKey(name)) {
			continue
		}
		then, err := numberOf(name, payload)
		if err != nil {
			return err
		}
		now, _, err := getNumber(r, name)
		if err == nil && then > now {
			setNumber(b, name, then)
		}
		return err
	}
	return nil
}

// FormatKey returns the key of the format row, which says what form all rows have.
func FormatKey() []byte { return MetaKey(metaFormat) }

// StartsKey returns the key of the row with the number of the last start, NumberKey that of the row with the number of the store.
func StartsKey() []byte { return MetaKey(metaStarts) }

// NumberKey is described at StartsKey.
func NumberKey() []byte { return MetaKey(metaNumber) }

// CheckFormat returns an error if this is the format row of a snapshot and names another format than that of this
// version.
func CheckFormat(key, payload []byte) error {
	if !bytes.Equal(key, FormatKey()) {
		return nil
	}
	n, _ := binary.Uvarint(payload)
	return formatError("the snapshot", int(n))
}

// SnapshotNumberOf returns the number of the last snapshot that the rows of r name.
func SnapshotNumberOf(r Reader) (uint64, error) {
	n, _, err := getNumber(r, metaSnapshot)
	return n, err
}
