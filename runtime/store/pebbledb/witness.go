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

// The witness is a file beside the manifests that says up to where the current one is durable. It is written after each
// sync of a manifest, before pebble removes what the manifest no longer names. So a manifest that ends before is
// damaged, and not cut short by a crash. The witness has two entries, which are written in turn, so that a crash spoils
// at most the newer one.
//
// Behind them are entries of logs, one each, written when a log is first durable, and when the store is closed. A log
// that the manifest has in use was removed or emptied if it is missing or ends before. Nothing else shows that, as the
// numbers of logs have gaps.
//
// A store has a witness before its directory says that it is ready, and at most one entry is being written when a
// process ends: without an entry of a manifest the witness itself is damaged. Each entry names its store, and that of a
// manifest has the sum of what the manifest has said up to there: files of another store are damage. The file has its
// whole length before an entry says so (witnessWhole), and a crash shortens no file that was synced: one that is
// shorter then was cut, whichever entries are lost.
const witnessName = "WITNESS"

const (
	// An entry is its turn, the number of the file, and up to where that is durable (8 bytes each); the sum of a manifest up to
	// there (4), the id of the store (16), and a checksum (4). Older versions have written neither sum nor id.
	witnessEntryBytes   = 8 + 8 + 8 + 4 + len(storeID{}) + 4
	witnessUnownedBytes = 8 + 8 + 8 + 4
	// witnessStride keeps the entries in different sectors.
	witnessStride = 4096

	manifestSlots = 2
	// logSlots is well above the number of logs in use: one for each memtable, the first ones of which are small.
	logSlots = 31

	// witnessBytes is up to the end of the last entry, which was that of one more log in older versions. Were it to become more, entries
	// would need another mark than witnessWhole.
	witnessBytes = (manifestSlots+logSlots)*witnessStride + witnessUnownedBytes
	// witnessWhole is set in the turn of each entry since the file has its whole length, which older versions have not given
	// it. They keep the mark, as they count on from the largest turn.
	witnessWhole = 1 << 63
)

// witness writes the file. The mutex guards the rest; it comes behind logQueue.work.
type witness struct {
	sync.Mutex
	fs   vfs.FS
	path string
	id   storeID // of the store
	turn uint64
	last int              // the entry of a manifest that is the newer one
	logs [logSlots]uint64 // which log has which entry; 0: none
	file vfs.File

	named bool // a manifest was noted since the file was opened
}

// manifest notes up to where a manifest is durable, and its sum up to there.
func (w *witness) manifest(number, durable uint64, sum uint32) error {
	w.Lock()
	defer w.Unlock()
	return w.noteManifest(number, durable, sum)
}

func (w *witness) noteManifest(number, durable uint64, sum uint32) error {
	if err := w.open(); err != nil {
		return err
	}
	slot := (w.last + 1) % manifestSlots
	if err := w.write(slot, number, durable, sum); err != nil {
		return err
	}
	w.last, w.named = slot, true
	return nil
}

// adopt notes the manifest of a store of an older version, unless there is a newer one by now.
func (w *witness) adopt(manifest witnessEntry) error {
	w.Lock()
	defer w.Unlock()
	if w.named {
		return nil
	}
	return w.noteManifest(manifest.number, manifest.durable, manifest.sum)
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
	if err := w.write(manifestSlots+slot, number, durable, 0); err != nil {
		return err
	}
	w.logs[slot] = number
	return nil
}

func (w *witness) write(slot int, number, durable uint64, sum uint32) error {
	w.turn++
	b := binary.BigEndian.AppendUint64(nil, w.turn)
	b = binary.BigEndian.AppendUint64(b, number)
	b = binary.BigEndian.AppendUint64(b, durable)
	b = binary.BigEndian.AppendUint32(b, sum)
	b = append(b, w.id[:]...)
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
	if isFault(missing) {
		return missing
	}
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
	if errors.Is(missing, os.ErrNotExist) {
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

	owned bool // what follows is there
	sum   uint32
	owner storeID
}

func witnessEntries(data []byte) (list []witnessEntry) {
	for slot := 0; slot*witnessStride < len(data); slot++ {
		b := data[slot*witnessStride:]
		owned := hasSum(b, witnessEntryBytes)
		if !owned && !hasSum(b, witnessUnownedBytes) {
			continue
		}
		e := witnessEntry{slot: slot, turn: binary.BigEndian.Uint64(b), number: binary.BigEndian.Uint64(b[8:]), durable: binary.BigEndian.Uint64(b[16:])}
		if owned {
			e.owned, e.sum = true, binary.BigEndian.Uint32(b[24:])
			copy(e.owner[:], b[28:])
		}
		list = append(list, e)
	}
	return list
}

// hasSum reports whether b begins with so many bytes, of which the last are the checksum of those before.
func hasSum(b []byte, size int) bool {
	return len(b) >= size && crc32.Checksum(b[:size-4], castagnoli) == binary.BigEndian.Uint32(b[size-4:])
}

// witnessed returns what is known of a manifest, and of logs. Older versions have noted 0 for the end of these. In a
// store that has an id in each entry, entries without one belong to logs that are not in use any more, or to another
// store.
func witnessed(data []byte, manifest uint64, f aeonFile) (current witnessEntry, logs []witnessEntry, err error) {
	err = errors.New("it says nothing of any manifest")
	for _, e := range witnessEntries(data) {
		switch {
		case e.owned && e.owner != idOf(f.store):
			return current, nil, errors.New(ofAnother(e.owner))
		case e.turn&witnessWhole != 0 && len(data) < witnessBytes:
			return current, nil, fmt.Errorf("it was cut at byte %d, and had %d", len(data), witnessBytes)
		case !e.owned && f.format > aeonFormatUnowned:
		case e.slot >= manifestSlots:
			logs = append(logs, e)
		default:
			err = nil
			if e.number == manifest && e.durable >= current.durable {
				current = e
			}
		}
	}
	return current, logs, err
}

// unowned is what is wrong with a file that should name its store.
const unowned = "it does not name its store"

// ofAnother names the store that a file belongs to.
func ofAnother(owner storeID) string { return fmt.Sprintf("it is that of store %x", owner) }
