package pebbledb

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Of rows that come in the order of their keys and are deleted soon, as those of a log are, few are written again into tables.
func TestShortLivedRowsAreInFewTables(t *testing.T) {
	var written [2]uint64 // bytes of tables
	for i, short := range []bool{false, true} {
		fs := vfs.NewMem()
		d, err := OpenFS(fs, "d", store.EngineOptions{Program: "test", ShortLived: short})
		if err != nil {
			t.Fatal(err)
		}
		key := func(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("log"), n) }
		value := make([]byte, 16<<10)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(value) // it never fails, and cannot be made smaller
		const rows, kept = 6000, 100                    // 94 MiB, of which two or three are there at a time
		for n := range uint64(rows) {
			b := d.NewBatch()
			b.Set(key(n), value)
			if n%kept == 0 && n > kept {
				b.DeleteRange(key(0), key(n-kept))
			}
			if err := d.Apply(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Sync(); err != nil {
			t.Fatal(err)
		}
		for _, l := range d.db.Metrics().Levels {
			written[i] += l.TableBytesFlushed
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if written[0] == 0 || written[1] > written[0]/2 {
		t.Errorf("%d bytes are in tables, and %d if the rows are short-lived", written[0], written[1])
	}
}
