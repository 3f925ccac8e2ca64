package pebbledb

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Of the two entries of manifests the older one is overwritten, whatever is noted of logs in between, and whichever
// process writes. If a crash tears that entry, the other one says up to where the manifest was durable before.
func TestTornWitnessEntryLeavesTheOneBefore(t *testing.T) {
	fs := vfs.NewMem()
	const number = 7
	w := &witness{fs: fs, path: witnessName}
	for n := uint64(1); n <= 40; n++ {
		var err error
		for log := range n % 3 {
			err = w.log(100*n+log, 1, false)
		}
		if err == nil {
			err = w.manifest(number, n, 0)
		}
		if n%5 == 0 && err == nil {
			err = w.close()
			w = &witness{fs: fs, path: witnessName}
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := readFile(fs, witnessName)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range witnessEntries(data) {
			if e.slot < manifestSlots && e.durable == n {
				data[e.slot*witnessStride]++ // torn
			}
		}
		if found, _, err := witnessed(data, number, aeonFile{}); n > 1 && (found.durable != n-1 || err != nil) {
			t.Errorf("without what was noted as number %d, %d is known, %v", n, found.durable, err)
		}
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}
