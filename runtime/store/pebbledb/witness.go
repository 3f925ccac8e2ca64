package pebbledb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The witness is a file beside the manifests that says up to where the current one is durable.
// It is written after each sync of a manifest, before pebble removes what the manifest no
// longer names: a manifest that ends before is damaged, and not cut short by a crash. It
// has two entries, which are written in turn, so that a crash spoils at most the newer one.
//
// Behind them are entries of logs, one each, written when a log is first durable, and when the store is closed: one that the
// manifest has in use, and that is not there, or ends before, was removed or emptied. Nothing else tells, as the numbers of logs have gaps.
//
// A store has a witness before its directory says that it is ready, and at most one entry is being written when a process
// ends: without an entry of a manifest the witness itself is damaged. It has its whole length before an entry says so (witnessWhole),
// and a crash shortens no file that was synced: one that is shorter then was cut, whichever entries are lost.
const witnessName = "WITNESS"

const (
	witnessEntryBytes = 8 + 8 + 8 + 4
	// witnessStride keeps the entries in different sectors.
	witnessStride = 4096

	manifestSlots = 2
	// logSlots is well above the number of logs in use: one for each memtable, the first ones of which are small.
	logSlots = 32

	// witnessBytes is up to the end of the last entry. Were it to become more, entries would need another mark than witnessWhole.
	witnessBytes = (manifestSlots+logSlots-1)*witnessStride + witnessEntryBytes
	// witnessWhole is set in the turn of each entry since the file has its whole length, which older versions have not given
	// it. They keep the mark, as they count on from the largest turn.
	witnessWhole = 1 << 63
)

// witness writes the file. The mutex guards the rest; it comes behind logQueue.work.
type witness struct {
	sync.Mutex
	fs   vfs.FS
	path string
	turn uint64
	last int              // the entry of a manifest that is the newer one
	logs [logSlots]uint64 // which log has which entry; 0: none
	file vfs.File
}

// manifest notes up to where a manifest is durable.
func (w *witness) manifest(number, durable uint64) error {
	w.Lock()
	defer w.Unlock()
	if err := w.open(); err != nil {
		return err
	}
	slot := (w.last + 1) % manifestSlots
	if err := w.write(slot, number, durable); err != nil {
		return err
	}
	w.last = slot
	return nil
}

// log notes up to where a log is durable, if that was not noted yet, or again. The entry of the oldest log makes room for it.
func (w *witness) log(number, durable uint64, again bool) error {
	w.Lock()
	defer w.Unlock()
	if err := w.open(); err != nil {
		return err
	}
	slot := slices.Index(w.logs[:], number)
	if slot >= 0 && !again {
		return nil
	}
	if slot < 0 {
		slot = slices.Index(w.logs[:], slices.Min(w.logs[:]))
	}
	if err := w.write(manifestSlots+slot, number, durable); err != nil {
		return err
	}
	w.logs[slot] = number
	return nil
}

func (w *witness) write(slot int, number, durable uint64) error {
	w.turn++
	b := binary.BigEndian.AppendUint64(nil, w.turn)
	b = binary.BigEndian.AppendUint64(b, number)
	b = binary.BigEndian.AppendUint64(b, durable)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := w.file.WriteAt(b, int64(slot)*witnessStride); err != nil {
		return err
	}
	return w.file.SyncData()
}

// open opens the file, or makes it, and goes on behind its newest entry.
func (w *witness) open() (err error) {
	if w.file != nil {
		return nil
	}
	dir := w.fs.PathDir(w.path)
	_, missing := w.fs.Stat(w.path)
	f, err := w.fs.OpenReadWrite(w.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // the first error counts
		} else {
			w.file = f
		}
	}()
	data, err := readFile(w.fs, w.path)
	if err != nil {
		return err
	}
	newest := uint64(0)
	for _, e := range witnessEntries(data) {
		w.turn = max(w.turn, e.turn)
		if e.slot < manifestSlots && e.turn > newest {
			newest, w.last = e.turn, e.slot
		}
		if at := e.slot - manifestSlots; at >= 0 && at < logSlots {
			w.logs[at] = e.number
		}
	}
	w.turn |= witnessWhole
	if len(data) < witnessBytes {
		if _, err := f.WriteAt([]byte{0}, witnessBytes-1); err != nil {
			return err
		}
		if err := f.SyncData(); err != nil {
			return err
		}
	}
	if os.IsNotExist(missing) {
		return syncDir(w.fs, dir)
	}
	return nil
}

func (w *witness) close() error {
	w.Lock()
	defer w.Unlock()
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}

type witnessEntry struct {
	slot                  int
	turn, number, durable uint64
}

func witnessEntries(data []byte) (list []witnessEntry) {
	for slot := 0; slot*witnessStride+witnessEntryBytes <= len(data); slot++ {
		b := data[slot*witnessStride:][:witnessEntryBytes]
		body := b[:witnessEntryBytes-4]
		if crc32.Checksum(body, castagnoli) == binary.BigEndian.Uint32(b[len(body):]) {
			list = append(list, witnessEntry{slot, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])})
		}
	}
	return list
}

// witnessed returns up to where a manifest is known to have been durable, and the same of logs. Older versions have
// noted 0 for these.
func witnessed(data []byte, manifest uint64) (durable uint64, logs []witnessEntry, err error) {
	err = errors.New("it says nothing of any manifest")
	for _, e := range witnessEntries(data) {
		if e.turn&witnessWhole != 0 && len(data) < witnessBytes {
			return 0, nil, fmt.Errorf("it was cut at byte %d, and had %d", len(data), witnessBytes)
		}
		if e.slot >= manifestSlots {
			logs = append(logs, e)
			continue
		}
		err = nil
		if e.number == manifest {
			durable = max(durable, e.durable)
		}
	}
	return durable, logs, err
}
