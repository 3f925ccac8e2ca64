package store

import "bytes"

// PartitionsOf returns how many partitions the rows of r were written with.
func PartitionsOf(r Reader) (int, error) {
	n, err := needNumber(r, metaPartitions)
	return int(n), err
}

// MetaRange returns the range of the node's own rows.
func MetaRange() (from, to []byte) { return []byte{metaSpace}, []byte{metaSpace + 1} }

// Copy puts a row of another store into a batch for a store with this identity: the row
// that says whose the rows are becomes its own, all others stay as they are. A row that is
// damaged is refused.
func Copy(b Batch, id Identity, key, row []byte) error {
	if _, err := Payload(key, row); err != nil {
		return err
	}
	if bytes.Equal(key, MetaKey(metaStore)) {
		setMeta(b, metaStore, []byte(id.Store+" "+id.Program))
		return nil
	}
	b.Set(key, row)
	return nil
}

// SnapshotNumberOf returns the number of the last snapshot that the rows of r know of.
func SnapshotNumberOf(r Reader) (uint64, error) {
	n, _, err := getNumber(r, metaSnapshot)
	return n, err
}
