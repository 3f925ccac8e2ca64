package pebbledb

import (
	"encoding/binary"
	"hash/crc32"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The witness is a file beside the manifests that says up to where the current one is durable.
// It is written after each sync of a manifest, before pebble removes what the manifest no
// longer names: a manifest that ends before is damaged, and not cut short by a crash. It
// has two entries, which are written in turn, so that a crash spoils at most the newer one.
const witnessName = "WITNESS"

const (
	witnessEntryBytes = 8 + 8 + 8 + 4
	// witnessStride keeps the entries in different sectors.
	witnessStride = 4096
)

// witness writes the file.
type witness struct {
	fs   vfs.FS
	path string
	turn uint64
	file vfs.File
}

func (w *witness) write(manifest, durable uint64) error {
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	w.turn++
	b := binary.BigEndian.AppendUint64(nil, w.turn)
	b = binary.BigEndian.AppendUint64(b, manifest)
	b = binary.BigEndian.AppendUint64(b, durable)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := w.file.WriteAt(b, int64(w.turn%2)*witnessStride); err != nil {
		return err
	}
	return w.file.SyncData()
}

// open opens the file, or makes it, and goes on behind its newest entry.
func (w *witness) open() error {
	dir := w.fs.PathDir(w.path)
	_, missing := w.fs.Stat(w.path)
	f, err := w.fs.OpenReadWrite(w.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w.file = f
	if os.IsNotExist(missing) {
		return syncDir(w.fs, dir)
	}
	data, err := readFile(w.fs, w.path)
	for _, e := range witnessEntries(data) {
		w.turn = max(w.turn, e.turn)
	}
	return err
}

func (w *witness) close() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}

type witnessEntry struct{ turn, manifest, durable uint64 }

func witnessEntries(data []byte) (list []witnessEntry) {
	for at := 0; at+witnessEntryBytes <= len(data); at += witnessStride {
		b := data[at : at+witnessEntryBytes]
		body := b[:witnessEntryBytes-4]
		if crc32.Checksum(body, castagnoli) == binary.BigEndian.Uint32(b[len(body):]) {
			list = append(list, witnessEntry{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])})
		}
	}
	return list
}

// witnessed returns up to where a manifest is known to have been durable.
func witnessed(data []byte, manifest uint64) (durable uint64) {
	for _, e := range witnessEntries(data) {
		if e.manifest == manifest {
			durable = max(durable, e.durable)
		}
	}
	return durable
}
